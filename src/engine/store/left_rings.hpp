// The rings in shared memory: the session of each, whether it is still needed, and the removal of unneeded ones. A
// process that ends in order removes its ring. A killed process leaves it for the next opening of the session; without
// one, the memory stays allocated until the machine reboots.
// Thread: any; for tools. Cost: reads the journals that the rings belong to. Errors: StoreError if the folder cannot be
// listed, or if a ring may not be removed; a ring that cannot be read is unknown, with the reason.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "store/disk.hpp"
#include "store/journal_reader.hpp"

namespace nfx {

enum class RingState : std::uint8_t {
  held,      // a process uses it, or its session
  needed,    // it has records that the files lack; the next opening of the session takes them
  written,   // all its records are in the files
  orphaned,  // the folder of its session does not exist
  useless,   // from another boot of the machine, or incomplete: no opening would use it
  unknown,   // does not name its session, or the session cannot be determined
};

[[nodiscard]] std::string_view to_string(RingState state) noexcept;

struct LeftRing {
  std::filesystem::path path;
  std::uint64_t size = 0;  // size in memory
  RingState state = RingState::unknown;
  std::string folder;         // the session's folder; empty: unknown
  std::uint64_t pid = 0;      // of the process that created it; 0: unknown
  std::uint64_t lacking = 0;  // for a needed ring: bytes that the files lack
  std::string why;            // for an unknown ring: the reason
};

[[nodiscard]] constexpr bool may_be_removed(RingState state) noexcept {
  return state == RingState::written || state == RingState::orphaned || state == RingState::useless;
}

// The rings in this folder, by name. A session's folder seems missing if its disk is not mounted, or if only another
// container sees it; so run this where the engine runs.
[[nodiscard]] std::vector<LeftRing> list_rings(Disk& disk, const std::filesystem::path& ring_directory);

// Visits the records from position `from` on that only a killed process's ring has, as the next opening would take
// them. Changes nothing. Returns the position after the last record, or `from` if there are none. `identity` is the
// journal's. Cost: memory for the bytes read. Throws StoreError if the ring cannot be read.
[[nodiscard]] JournalPosition scan_left_ring(Disk& disk, const std::filesystem::path& ring, std::string_view identity,
                                             JournalPosition from,
                                             const std::function<bool(const JournalRecord&)>& visit);

// The same after a scan of the files: visits these records, and updates numbers and end in `scan`. Returns how many
// there were.
std::uint64_t add_left_ring(Disk& disk, const std::filesystem::path& ring, JournalScan& scan,
                            const std::function<bool(const JournalRecord&)>& visit);

// Checks again while holding the session's lock, and removes the ring. Throws StoreError if it may no longer be
// removed.
void remove_ring(Disk& disk, const LeftRing& ring);

}  // namespace nfx
