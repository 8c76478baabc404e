// Bounds what sessions of templates leave in a store folder: anybody who may log on with a CompID of their choice makes
// such a journal. How many there may be, how many bytes they may take, and how long one stays that is not used.
// Thread: any, one at a time. Cost: a look at every such folder, every look_every at most. Errors: admit() throws
// StoreRefusal; a folder that cannot be read counts as nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "nexusfix/base/time.hpp"
#include "store/disk.hpp"
#include "store/journal_store.hpp"

namespace nfx {

// In the folder of a journal that a template's session began.
inline constexpr std::string_view template_mark = "template";

struct TemplateStoreLimits {
  std::uint64_t stores = 0;  // 0 of any: no limit
  std::uint64_t bytes = 0;
  std::chrono::seconds age{0};
};

// A session that has no journal yet does not get one.
class StoreRefusal : public StoreError {
 public:
  StoreRefusal(const std::string& text, bool is_first) : StoreError(text), first(is_first) {}
  bool first;  // since a session was last admitted: to be reported, where others are only counted
};

class TemplateStores {
 public:
  TemplateStores(Disk& disk, TemplateStoreLimits limits) : disk_(disk), limits_(limits) {}

  // Before the journal of a template's session is opened. Throws StoreRefusal: it has none, and a limit is reached.
  void admit(const JournalOptions& journal, std::string_view identity, UtcTime now);

  static constexpr std::chrono::seconds look_every{10};

 private:
  struct Folder {
    std::uint64_t stores = 0;
    std::uint64_t bytes = 0;
    UtcTime looked{};
    bool refusing = false;
  };
  void look(const JournalOptions& journal, Folder& folder, UtcTime now);

  Disk& disk_;
  const TemplateStoreLimits limits_;
  std::mutex mutex_;
  std::map<std::string, Folder> folders_;
};

// Removes the journal in `folder` and the ring that a killed process left of it, where no process uses it. False: it
// stays.
bool remove_journal(Disk& disk, const std::filesystem::path& folder, const std::filesystem::path& ring_directory);

}  // namespace nfx
