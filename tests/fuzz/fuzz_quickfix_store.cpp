// Whatever the files of a QuickFIX store contain, importing finds a store with possible sequence numbers and with
// messages inside its body, or names the wrong file in one error. The input is the files, one after the other, each
// after a line "%% EXTENSION" ("%% name STEM" changes the name for the later ones); '|' means SOH, '~' a zero byte.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "fuzz_target.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "store/quickfix_store.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 5000};

namespace {

namespace fs = std::filesystem;
using nfx::app::store::QuickfixStore;
using nfx::fuzz::require;

constexpr std::string_view extensions[] = {"body", "header", "seqnums", "senderseqnums", "targetseqnums", "session"};

// A folder in memory, created once; each input replaces its files.
class StoreFolder {
 public:
  StoreFolder() {
    char name[] = "/dev/shm/nfx-fuzz-XXXXXX";
    require(::mkdtemp(name) != nullptr, "a folder is made", name);
    path_ = name;
  }
  StoreFolder(const StoreFolder&) = delete;
  StoreFolder& operator=(const StoreFolder&) = delete;
  ~StoreFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  void fill(const std::map<std::string, std::string>& files) {
    for (const std::string& name : names_) fs::remove(path_ / name);
    names_.clear();
    for (const auto& [name, bytes] : files) {
      std::ofstream{path_ / name, std::ios::binary} << bytes;
      names_.push_back(name);
    }
  }
  [[nodiscard]] const fs::path& path() const noexcept { return path_; }

 private:
  fs::path path_;
  std::vector<std::string> names_;
};

bool is_file_name(std::string_view stem) {
  return !stem.empty() && stem.size() < 100 && !stem.contains('/') && !stem.contains('\0');
}

std::map<std::string, std::string> files_of(std::string_view input) {
  std::map<std::string, std::string> files;
  std::string stem = "FIX.4.4-DESK-VENUE", extension;
  while (!input.empty()) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const std::string_view line = input.substr(0, end);
    if (line.starts_with("%% name ")) {
      if (is_file_name(line.substr(8))) stem = line.substr(8);
      extension.clear();
    } else if (line.starts_with("%% ")) {
      const bool known = std::ranges::find(extensions, line.substr(3)) != std::end(extensions);
      extension = known ? line.substr(3) : "";
      if (known) files[stem + '.' + extension].clear();
    } else if (!extension.empty()) {
      std::string bytes{input.substr(0, std::min(end + 1, input.size()))};
      std::ranges::replace(bytes, '|', '\x01');
      std::ranges::replace(bytes, '~', '\0');
      files[stem + '.' + extension] += bytes;
    }
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  return files;
}

void check_store(const QuickfixStore& store, const std::map<std::string, std::string>& files) {
  require(store.next_out > 0 && store.next_in > 0, "sequence numbers begin with 1", store.name);
  const auto body_file = files.find(store.name + ".body");
  const std::string_view body = body_file == files.end() ? std::string_view{} : body_file->second;
  nfx::app::store::QuickfixBody reader{store};
  for (const auto& [seq, message] : store.messages) {
    require(seq > 0 && message.size > 0 && message.size <= QuickfixStore::max_message_size, "a message has a size",
            store.name);
    const bool inside = message.offset <= body.size() && message.size <= body.size() - message.offset;
    const std::string_view expected = inside ? body.substr(message.offset, message.size) : std::string_view{};
    require(reader.read(message) == expected, "a message is the bytes that the header names", expected);
  }
  const std::string identity = nfx::app::store::identity_of(store);
  // QuickFIX/J uses few characters in file names, so it did not write a name with other ones.
  const bool java = store.kind == nfx::app::store::QuickfixKind::quickfixj;
  require(java || nfx::app::store::may_be(store, identity), "the store may be that of its own identity", identity);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static StoreFolder folder;
  const auto files = files_of(nfx::fuzz::text_of(data, size));
  folder.fill(files);
  std::vector<QuickfixStore> stores;
  try {
    stores = nfx::app::store::find_quickfix_stores(folder.path());
    require(!stores.empty(), "a folder without a store is an error", "");
  } catch (const nfx::ConfigError& error) {
    require(std::string_view{error.what()}.contains(folder.path().string()), "an error names its file", error.what());
  }
  for (const QuickfixStore& store : stores) {
    try {
      check_store(store, files);
    } catch (const nfx::ConfigError& error) {
      require(std::string_view{error.what()}.contains((folder.path() / store.name).string()), "an error names its file",
              error.what());
    }
  }
  return 0;
}
