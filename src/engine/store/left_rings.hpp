// The rings in shared memory: which session each belongs to, whether it is still needed, and removing those that are
// not. A process that ends in order removes its ring. One that is killed leaves it for the next opening of the session,
// and without one the memory stays allocated until the machine boots. Thread: any; for tools. Cost: reads the journals
// that the rings belong to. Errors: StoreError when the folder cannot be listed, or a ring may not be removed; a ring
// that cannot be read is unknown, with the reason.
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
  held,      // a process works with it, or with its session
  needed,    // it has what the journal's files lack: the next opening of the session takes it from here
  written,   // everything in it is in the files
  orphaned,  // the folder of its session is gone
  useless,   // of another boot of the machine, or never finished: no opening would take anything from it
  unknown,   // does not state its session, or that cannot be determined
};

[[nodiscard]] std::string_view to_string(RingState state) noexcept;

struct LeftRing {
  std::filesystem::path path;
  std::uint64_t size = 0;  // bytes of memory
  RingState state = RingState::unknown;
  std::string folder;         // of the session; empty: not known
  std::uint64_t pid = 0;      // of the process that made it; 0: not known
  std::uint64_t lacking = 0;  // bytes that the files lack, of a needed one
  std::string why;            // of an unknown one
};

[[nodiscard]] constexpr bool may_be_removed(RingState state) noexcept {
  return state == RingState::written || state == RingState::orphaned || state == RingState::useless;
}

// Those in this folder, by name. A session whose folder is on a disk that is not mounted, or that only another
// container sees, looks as if its folder were gone: run this where the engine runs.
[[nodiscard]] std::vector<LeftRing> list_rings(Disk& disk, const std::filesystem::path& ring_directory);

// Visits the records from position `from` on that only a killed process's ring has: what its session's files lack, as
// the next opening takes it. Changes nothing. Returns the position after the last record; `from` when there are none.
// `identity` is that of the journal. Cost: memory for what is read. Throws StoreError when the ring cannot be read.
[[nodiscard]] JournalPosition scan_left_ring(Disk& disk, const std::filesystem::path& ring, std::string_view identity,
                                             JournalPosition from,
                                             const std::function<bool(const JournalRecord&)>& visit);

// The same after a scan of the files: visits these records, and `scan` has the numbers and the end after them. Returns
// how many there were.
std::uint64_t add_left_ring(Disk& disk, const std::filesystem::path& ring, JournalScan& scan,
                            const std::function<bool(const JournalRecord&)>& visit);

// Checks once more, now with the session's lock, and removes it. Throws StoreError when it may not be removed any more.
void remove_ring(Disk& disk, const LeftRing& ring);

}  // namespace nfx
