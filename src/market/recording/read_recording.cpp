// Visits the records of a recording: first in its files, then the records that only a killed recorder's shared memory
// has.
#include "nexusfix/recording/recording.hpp"
#include "recording/format.hpp"

#include <algorithm>
#include <cstring>

#include "nexusfix/base/assert.hpp"
#include "store/journal_reader.hpp"
#include "store/left_rings.hpp"

namespace nfx::market {

namespace fs = std::filesystem;

namespace {

// The journal's folder: in the recording's, or that itself.
fs::path journal_folder(Disk& disk, const fs::path& folder) {
  const fs::path within = session_folder(folder, recording_identity);
  return disk.exists(within) ? within : folder;
}

bool is_known(RecordingKind kind) noexcept { return kind >= RecordingKind::datagram && kind <= RecordingKind::closed; }

class Reader {
 public:
  Reader(Disk& disk, const ReadRecordingOptions& options, const RecordVisitor& visit)
      : disk_(disk), options_(options), visit_(visit), folder_(journal_folder(disk, options.folder)) {}

  RecordingScan run() {
    const auto take = [this](const JournalRecord& record) { return see(record); };
    const JournalScan scan = scan_journal_in_use(disk_, folder_, take, options_.from);
    if (!scan.identity.empty() && scan.identity != recording_identity) {
      throw StoreError(folder_.string() + " is the journal of " + scan.identity + ", not a recording" +
                       (scan.identity.starts_with("market data recording ") ? " of this version" : ""));
    }
    found_.position = scan.end;
    if (stopped_) {
      end_with(RecordingEnd::stopped, "reading was stopped");
    } else if (scan.damage && !scan.torn) {
      end_with(RecordingEnd::damaged, place_of(*scan.damage) + "; `nfx store repair " + options_.folder.string() +
                                          " --gap-fill` leaves unreadable records out");
    } else {
      end_where_files_end(scan);
    }
    return std::move(found_);
  }

 private:
  bool see(const JournalRecord& record) {
    switch (record.header.kind) {
      case RecordKind::opened:
        ++found_.recorders;
        found_.killed += open_ ? 1 : 0;
        open_ = true;
        return true;
      case RecordKind::closed: open_ = false; return true;
      case RecordKind::message: break;
      case RecordKind::next_inbound:
      case RecordKind::next_outbound:
      case RecordKind::reset:
      case RecordKind::none: return true;
    }
    RecordingHeader header;
    if (!has_flag(record.header, RecordFlag::recorded) || record.body.size() < sizeof header) {
      throw StoreError(place_of(record) + " is not a record of a recording");
    }
    std::memcpy(&header, record.body.data(), sizeof header);
    if (!is_known(header.kind)) throw StoreError(place_of(record) + " has a kind that this version does not know");
    count(record.header.seq);
    if (!visit_) return true;
    stopped_ =
        !visit_({.number = record.header.seq,
                 .kind = header.kind,
                 .from = {UtcTime{Duration{record.header.time_ns}}, header.stamp, header.line, header.connection},
                 .bytes = record.body.substr(sizeof header)});
    return !stopped_;
  }

  static std::string place_of(const JournalRecord& record) {
    return *record.file + ", offset " + std::to_string(record.offset);
  }
  static std::string place_of(const JournalDamage& damage) {
    return damage.file + ", offset " + std::to_string(damage.offset) + ": " + damage.reason;
  }

  void count(std::uint64_t number) noexcept {
    if (found_.records == 0) found_.first_number = number;
    if (found_.records != 0 && number > found_.last_number) found_.missing += number - found_.last_number - 1;
    found_.last_number = number;
    ++found_.records;
  }

  void end_with(RecordingEnd end, std::string reason) {
    found_.end = end;
    found_.reason = std::move(reason);
  }

  void end_where_files_end(const JournalScan& scan) {
    if (scan.closed) return end_with(RecordingEnd::closed, "the recorder ended in order");
    if (const auto pid = holder(disk_, folder_)) {
      return end_with(RecordingEnd::being_written, "process " + std::to_string(*pid) + " is recording");
    }
    const fs::path ring = ring_path(options_.ring_directory, folder_);
    const bool in_memory = disk_.exists(ring);
    found_.position = scan_left_ring(disk_, ring, scan.identity, scan.end,
                                     [this](const JournalRecord& record) { return see(record); });
    found_.bytes_from_memory = found_.position - scan.end;
    if (stopped_) return end_with(RecordingEnd::stopped, "reading was stopped");
    // A kill leaves an incomplete record in the file too, which the memory has whole.
    if (scan.damage && found_.bytes_from_memory == 0) {
      return end_with(RecordingEnd::torn,
                      place_of(*scan.damage) + "; this is after the last sync, as a power loss leaves it");
    }
    if (!open_ && found_.recorders != 0) return end_with(RecordingEnd::closed, "the recorder ended in order");
    ++found_.killed;
    std::string reason = "the recorder was killed, or the machine crashed; ";
    if (!in_memory) {
      reason += "its shared memory is gone, so the last records may be missing";
    } else if (found_.bytes_from_memory == 0) {
      reason += "its shared memory has no more than the files";
    } else {
      reason += "the last " + std::to_string(found_.bytes_from_memory) + " bytes were read from its shared memory";
    }
    end_with(RecordingEnd::killed, std::move(reason));
  }

  Disk& disk_;
  const ReadRecordingOptions& options_;
  const RecordVisitor& visit_;
  const fs::path folder_;
  RecordingScan found_;
  bool open_ = false;
  bool stopped_ = false;
};

}  // namespace

RecordingScan read_recording(const ReadRecordingOptions& options, const RecordVisitor& visit) {
  return read_recording(posix_disk(), options, visit);
}

RecordingScan read_recording(Disk& disk, const ReadRecordingOptions& options, const RecordVisitor& visit) {
  return Reader(disk, options, visit).run();
}

RecordingDrops drops_in(const RecordedPacket& packet) noexcept {
  RecordingDrops drops{};
  NFX_ASSERT(packet.kind == RecordingKind::dropped || packet.kind == RecordingKind::kernel_dropped);
  if (packet.bytes.size() >= sizeof drops) std::memcpy(&drops, packet.bytes.data(), sizeof drops);
  return drops;
}

}  // namespace nfx::market
