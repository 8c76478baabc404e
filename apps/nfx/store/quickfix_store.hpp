// Reads the file stores of QuickFIX (C++, .NET), QuickFIX/J and QuickFIX/Go.
//
//   NAME.body                  the messages, one after the other
//   NAME.header                sequence number, offset and size of each: text "3,26,120 ", or with QuickFIX/J
//                              4, 8 and 4 bytes, the highest first
//   NAME.seqnums               "0000000004 : 0000000008": next to send, next expected; with QuickFIX/J and QuickFIX/Go
//                              two files, NAME.senderseqnums and NAME.targetseqnums
//   NAME.session               when the sequence numbers were last reset
//
// NAME is BeginString-SenderCompID-TargetCompID, optionally with a hyphen and a qualifier. QuickFIX/J and QuickFIX/Go
// put "_SubID" and "_LocationID" after a CompID; QuickFIX/J also replaces characters that it avoids in file names by
// '_'.
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
  std::string name;  // name of its files
  QuickfixKind kind = QuickfixKind::quickfix;
  std::uint64_t next_out = 1;
  std::uint64_t next_in = 1;
  std::optional<UtcTime> created;
  std::map<std::uint64_t, Message> messages;  // by sequence number; the later one if stored twice
  std::vector<std::string> notes;             // unusual findings, for the user

  [[nodiscard]] std::filesystem::path file(std::string_view extension) const;
};

// All stores in the folder, by name. Throws ConfigError if there is none.
[[nodiscard]] std::vector<QuickfixStore> find_quickfix_stores(const std::filesystem::path& folder);

// The messages of one store.
class QuickfixBody {
 public:
  explicit QuickfixBody(const QuickfixStore& store);
  // The bytes of this message, valid until the next call; empty if the file ends before their end.
  [[nodiscard]] std::string_view read(const QuickfixStore::Message& message);

 private:
  std::ifstream in_;
  std::uint64_t file_size_ = 0;
  std::string bytes_;
};

struct CompIds {
  std::string_view begin_string, sender, target;
};

// The qualifier in the store's name, if the store can belong to a session with these CompIDs. Empty if it has none;
// nothing if the name is another session's.
[[nodiscard]] std::optional<std::string> qualifier_in_name(const QuickfixStore& store, const CompIds& ids);

// The identity of the store's session, as in "FIX.4.4:DESK->VENUE": from its messages if there are any, otherwise from
// its name. Throws ConfigError if both are ambiguous, for example because of hyphens in CompIDs; the text lists the
// possibilities.
[[nodiscard]] std::string identity_of(const QuickfixStore& store);

// Whether the store can belong to the session with this identity.
[[nodiscard]] bool may_be(const QuickfixStore& store, std::string_view identity);

}  // namespace nfx::app::store
