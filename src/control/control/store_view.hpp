// Shows a session's journal while the engine runs. Reads files, changes nothing.
// Thread: the control plane's for files. Cost: a request reads a bounded part of the journal: verify_store() one
// segment, and further ones up to verified_bytes; store_tail() the segments of the last tail_bytes. Errors: StoreError
// if a file cannot be read; damage is a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/journal_check.hpp"
#include "engine/journal_status.hpp"
#include "engine/recent_messages.hpp"
#include "store/disk.hpp"
#include "store/journal_reader.hpp"

namespace nfx::control {

inline constexpr std::uint64_t verified_bytes = std::uint64_t{16} * 1024 * 1024;
inline constexpr std::uint64_t tail_bytes = std::uint64_t{4} * 1024 * 1024;
inline constexpr std::size_t most_tail_messages = 64;

struct FileSum {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

struct StoreView {
  JournalStatus journal{};
  FileSum segments{};
  FileSum archived{};  // archived when the sequence numbers were reset
};

// Result for the records from a position on, in whole segments.
struct StoreVerification {
  JournalPosition from = 0;
  JournalPosition to = 0;  // start of the next request
  bool complete = false;   // nothing follows
  std::uint64_t segments = 0;
  std::uint64_t records = 0;
  std::uint64_t messages = 0;
  std::optional<JournalDamage> damage{};
  bool torn = false;        // `damage` is after the last commit
  std::uint64_t found = 0;  // wrong records with right checksums
  std::vector<JournalCheck::Finding> findings{};
};

[[nodiscard]] StoreView store_view(Disk& disk, JournalStatus journal);
[[nodiscard]] StoreVerification verify_store(Disk& disk, const JournalStatus& journal, JournalPosition from);
// The last messages that were sent and stored, oldest first, with their sequence numbers.
[[nodiscard]] std::vector<RecentMessage> store_tail(Disk& disk, const JournalStatus& journal, std::size_t most);

}  // namespace nfx::control
