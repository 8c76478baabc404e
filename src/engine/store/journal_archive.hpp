// Reads archived segments: when the sequence numbers are reset, segments move to archive/ of the session's folder. Each
// is read individually.
// Thread: any; also while a process works with the session, which may archive further segments and remove the oldest.
// Cost: listing reads a page of each file; a scan reads the file in pieces. Errors: damage is a value; a file that
// cannot be read at all, or was removed meanwhile, is a StoreError.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "store/disk.hpp"
#include "store/journal_format.hpp"
#include "store/journal_reader.hpp"

namespace nfx {

struct ArchivedSegment {
  std::filesystem::path path;
  std::uint64_t ordinal = 0;  // from its name
  UtcTime put_away{};         // ... also
  std::uint64_t size = 0;     // size of the file
  // None if it cannot be read.
  std::optional<SegmentHeader> header;
  // The header of the next segment, if that still exists: it has the end of this segment, and the sequence numbers
  // there.
  std::optional<SegmentHeader> next;
};

// In the order of writing; empty if nothing was archived. Throws StoreError.
[[nodiscard]] std::vector<ArchivedSegment> list_archive(Disk& disk, const std::filesystem::path& folder);

// Like scan_journal, for this segment only. It was fully synced before it was archived, so every unreadable place is
// damage, and nothing is torn.
[[nodiscard]] JournalScan scan_archived(Disk& disk, const ArchivedSegment& segment,
                                        const std::function<bool(const JournalRecord&)>& visit = {});

}  // namespace nfx
