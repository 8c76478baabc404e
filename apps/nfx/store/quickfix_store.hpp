// Reads QuickFIX's file stores: of QuickFIX (C++, .NET), QuickFIX/J and QuickFIX/Go.
//
//   NAME.body                  the messages, one after the other
//   NAME.header                sequence number, offset and size of each: text "3,26,120 ", or with QuickFIX/J 4, 8 and
//   4 bytes,
//                              the highest first
//   NAME.seqnums               "0000000004 : 0000000008": sent next, expected next; with QuickFIX/J and QuickFIX/Go
//                              two files, NAME.senderseqnums and NAME.targetseqnums
//   NAME.session               when the sequence numbers were last reset
//
// NAME is BeginString-SenderCompID-TargetCompID, and perhaps a hyphen and a qualifier; QuickFIX/J and QuickFIX/Go put
// "_SubID" and "_LocationID" after a CompID, QuickFIX/J also '_' for characters that it avoids in file names.
// Thread: any one. Cost: 24 bytes of memory per message. Errors: ConfigError names the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/time.hpp"

namespace nfx::app::store {

enum class QuickfixKind : std::uint8_t { quickfix, quickfixj, quickfixgo };

[[nodiscard]] std::string_view to_string(QuickfixKind kind) noexcept;

struct QuickfixStore {
  struct Message {
    std::uint64_t offset = 0;
    std::uint32_t size = 0;
  };
  static constexpr std::uint32_t max_message_size = 64 * 1024 * 1024;

  std::filesystem::path folder;
  std::string name;  // of its files
  QuickfixKind kind = QuickfixKind::quickfix;
  std::uint64_t next_out = 1;
  std::uint64_t next_in = 1;
  std::optional<UtcTime> created;
  std::map<std::uint64_t, Message> messages;  // by sequence number; of one stored twice the later
  std::vector<std::string> notes;             // what was unusual, for the user

  [[nodiscard]] std::filesystem::path file(std::string_view extension) const;
};

// All stores in the folder, by name. Throws ConfigError when there is none.
[[nodiscard]] std::vector<QuickfixStore> find_quickfix_stores(const std::filesystem::path& folder);

// The messages of one store.
class QuickfixBody {
 public:
  explicit QuickfixBody(const QuickfixStore& store);
  // The bytes of this message, good until the next call; empty when the file ends before their end.
  [[nodiscard]] std::string_view read(const QuickfixStore::Message& message);

 private:
  std::ifstream in_;
  std::uint64_t file_size_ = 0;
  std::string bytes_;
};

struct CompIds {
  std::string_view begin_string, sender, target;
};

// The qualifier in the store's name when it can be of a session with these CompIDs; empty when it has none, nothing
// when the name is another session's.
[[nodiscard]] std::optional<std::string> qualifier_in_name(const QuickfixStore& store, const CompIds& ids);

// The identity, as in "FIX.4.4:DESK->VENUE", of the session that the store is of: by its messages if there are any,
// else by its name. Throws ConfigError when both are ambiguous, as with hyphens in CompIDs; the text lists the
// possibilities.
[[nodiscard]] std::string identity_of(const QuickfixStore& store);

// Whether the store can be that of the session with this identity.
[[nodiscard]] bool may_be(const QuickfixStore& store, std::string_view identity);

}  // namespace nfx::app::store
