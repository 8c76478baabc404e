// Reads a recording in order, also one that is being written or whose recorder was killed, and states where it ends and
// why.
// Thread: any. Cost: reads the files in pieces; a file descriptor for each segment. Changes nothing. Errors: StoreError
// for what is not a recording or cannot be read; where it ends early is a value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "nexusfix/recording/format.hpp"

namespace nfx {
class Disk;
}

namespace nfx::market {

enum class RecordingEnd : std::uint8_t {
  closed,         // the recorder ended in order
  being_written,  // a process records; this is what had reached the files
  killed,         // the recorder was killed; what it had recorded is read, as far as its shared memory is there
  torn,           // a power loss tore the last records, after the last sync
  damaged,        // bytes that had been written cannot be read; what follows them was not read
  stopped,        // the visitor has seen enough
};

struct RecordingScan {
  RecordingEnd end = RecordingEnd::closed;
  std::string reason;              // the end in a sentence, with file and offset where bytes cannot be read
  std::uint64_t records = 0;       // visited
  std::uint64_t first_number = 0;  // 0: none
  std::uint64_t last_number = 0;
  std::uint64_t missing = 0;            // numbers between the two that no record has
  std::uint64_t bytes_from_memory = 0;  // that only the shared memory of a killed recorder had
  std::uint64_t recorders = 0;          // processes that wrote it
  std::uint64_t killed = 0;             // of these, those that did not end in order
  std::uint64_t position = 0;           // after the last record: reading can continue from here
};

struct ReadRecordingOptions {
  std::filesystem::path folder;  // as the recorder was given it, or a copy of the journal's folder in it
  std::filesystem::path ring_directory = "/dev/shm";
  std::uint64_t from = 0;  // `position` of an earlier scan
};

// The visitor returns false to end it.
using RecordVisitor = std::function<bool(const RecordedPacket&)>;
[[nodiscard]] RecordingScan read_recording(const ReadRecordingOptions& options, const RecordVisitor& visit = {});
[[nodiscard]] RecordingScan read_recording(Disk& disk, const ReadRecordingOptions& options,
                                           const RecordVisitor& visit = {});

// Of a record of kind dropped or kernel_dropped.
[[nodiscard]] RecordingDrops drops_in(const RecordedPacket& packet) noexcept;

}  // namespace nfx::market
