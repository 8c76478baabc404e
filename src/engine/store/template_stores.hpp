// Bounds the journals of template sessions in a store folder, because anybody who may log on with a CompID of their
// choice creates one. The limits are their number, their total size, and the time that an unused one is kept.
// Thread: any, one at a time. Cost: a scan of all such folders, at most every look_every. Errors: admit() throws
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

// A file in the folder of a journal created by a template's session.
inline constexpr std::string_view template_mark = "template";

struct TemplateStoreLimits {
  std::uint64_t stores = 0;  // 0 in any of them: no limit
  std::uint64_t bytes = 0;
  std::chrono::seconds age{0};
};

// A session without a journal does not get one.
class StoreRefusal : public StoreError {
 public:
  StoreRefusal(const std::string& text, bool is_first) : StoreError(text), first(is_first) {}
  bool first;  // the first since a session was last admitted: it is reported, others are only counted
};

class TemplateStores {
 public:
  TemplateStores(Disk& disk, TemplateStoreLimits limits) : disk_(disk), limits_(limits) {}

  // Called before the journal of a template's session is opened. Throws StoreRefusal if the session has no journal and
  // a limit is reached.
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

// Removes the journal in `folder` and a ring left by a killed process, if no process uses it. False if it stays.
bool remove_journal(Disk& disk, const std::filesystem::path& folder, const std::filesystem::path& ring_directory);

}  // namespace nfx
