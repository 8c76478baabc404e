// What a reset of the sequence numbers has archived: the segments in archive/ of a session's folder, read individually.
// Thread: any; also while a process works with the session, which may archive further ones and remove the oldest.
// Cost: listing reads a page of each file; a scan reads the file in pieces. Errors: damage is a value; what cannot be
// read at all, or went meanwhile, is a StoreError.
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
  std::uint64_t ordinal = 0;  // by its name
  UtcTime put_away{};         // ... too
  std::uint64_t size = 0;     // of the file
  // None when it cannot be read.
  std::optional<SegmentHeader> header;
  // That of the segment that followed, when it still exists: it has the end of this one, and the sequence numbers
  // there.
  std::optional<SegmentHeader> next;
};

// In the order in which they were written; none when nothing was archived. Throws StoreError.
[[nodiscard]] std::vector<ArchivedSegment> list_archive(Disk& disk, const std::filesystem::path& folder);

// As scan_journal, of this segment alone. All of it was on the medium when it was archived, so that whatever cannot be
// read is damage, and nothing is torn.
[[nodiscard]] JournalScan scan_archived(Disk& disk, const ArchivedSegment& segment,
                                        const std::function<bool(const JournalRecord&)>& visit = {});

}  // namespace nfx
