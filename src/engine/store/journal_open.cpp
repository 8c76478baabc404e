// Opens a journal: creates missing files, and repairs the effects of a killed process or a power loss.
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <new>

#include "base/error_text.hpp"
#include "nexusfix/base/assert.hpp"
#include "store/journal_bytes.hpp"
#include "store/journal_writer.hpp"
#include "store/template_stores.hpp"

namespace nfx::detail {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t size_min = 64 * 1024;
constexpr std::uint64_t size_max = 1024 * 1024 * 1024;

std::string damage_text(const JournalDamage& damage, const fs::path& folder) {
  return damage.file + ", offset " + std::to_string(damage.offset) + ": " + damage.reason +
         ", before the last synced position. Repair it with `nfx store repair " + folder.string() +
         " --from COPY` (a copy of this folder provides the records) or `nfx store repair " + folder.string() +
         " --gap-fill` (the records are lost, and resent as gap fills)";
}

}  // namespace

JournalWriter::JournalWriter(Disk& disk, const JournalOptions& options, std::string_view identity)
    : disk_(disk),
      options_(options),
      identity_(identity),
      folder_(find_session_folder(disk, options.directory, identity)),
      ring_file_(ring_path(options.ring_directory, folder_)) {}

void JournalWriter::check_options() const {
  const auto refuse = [](const std::string& key, std::uint64_t value, const std::string& wanted) {
    throw StoreError(out_of_range("the journal's " + key, value, wanted));
  };
  const std::string sizes = "of 64 KiB to 1 GiB";
  if (options_.directory.empty()) throw StoreError("the journal's directory is not set; give it a folder");
  if (options_.segment_size < size_min || options_.segment_size > size_max || options_.segment_size % 4096 != 0) {
    refuse("segment_size", options_.segment_size, "a multiple of 4096 " + sizes);
  }
  if (options_.ring_size < size_min || options_.ring_size > size_max || !std::has_single_bit(options_.ring_size)) {
    refuse("ring_size", options_.ring_size, "a power of two " + sizes);
  }
  if (options_.sync_interval <= Duration::zero()) refuse("sync_interval", 0, "more than 0 ns");
  if (is_replicated(options_.durability) != (options_.replica != nullptr)) {
    throw StoreError("the journal of " + identity_ + " with durability \"" +
                     std::string{to_string(options_.durability)} +
                     "\" can be opened only by a gateway of a cluster: see docs/cluster.md");
  }
  if (options_.retain_messages > std::size_t{1} << 32)
    refuse("retain_messages", options_.retain_messages, "at most 2^32");
  if (identity_.empty() || identity_.size() > SegmentHeader::max_identity) {
    refuse("session identity's length", identity_.size(), "1 to " + std::to_string(SegmentHeader::max_identity));
  }
}

void JournalWriter::make_folders(std::vector<std::string>& corrected) {
  value_or_throw(disk_.make_folder(options_.directory), "make it, or choose another directory for the store");
  value_or_throw(disk_.secure_folder(options_.directory, FolderKind::configured));
  value_or_throw(disk_.make_folder(folder_), "make the store's directory writable");
  corrected = value_or_throw(disk_.secure_folder(folder_, FolderKind::own));
  std::ranges::move(value_or_throw(disk_.secure_folder(folder_ / archive_folder, FolderKind::own)),
                    std::back_inserter(corrected));
  auto lock = disk_.lock(folder_ / lock_name);
  if (!lock && lock.error().code == EWOULDBLOCK) {
    throw StoreError("the session " + identity_ + " is in use: cannot " + lock.error().operation +
                     "; end that process, or give this one another store directory");
  }
  lock_ = value_or_throw(std::move(lock));
  // Marks the journal for TemplateStores.
  if (options_.lean && !disk_.exists(folder_ / template_mark))
    (void)value_or_throw(disk_.open(folder_ / template_mark, OpenMode::create));
}

// Syncs nothing; establish() does before the first record is written. After an earlier power loss there is no file, or
// one without records, and the next opening starts again.
void JournalWriter::begin_journal(UtcTime now) {
  const SegmentCut start{0, 1, 1, to_ns(now), to_ns(now)};
  if (spare_ != nullptr) return value_or_throw(begin_segment(start));
  const std::uint64_t capacity = options_.segment_size - segment_header_size;
  SegmentHeader header = make_header(1, capacity, identity_);
  header.base = 0;
  header.begun_ns = start.time_ns;
  header.creation_time_ns = start.creation_time_ns;
  header.crc = header_crc(header);
  file_ = value_or_throw(disk_.open(segment_path(1), OpenMode::create));
  table_.push_back({1, 0, capacity, start.time_ns});
  reserve_at_start(0);
  value_or_throw(file_->write(0, {reinterpret_cast<const char*>(&header), sizeof header}));
}

// Space for a Logon exchange after the head. If the disk is full, an existing journal tries again later.
void JournalWriter::reserve_at_start(JournalPosition head) {
  const Space file = file_space();
  const std::uint64_t used = head - base_;
  const bool at_once = options_.segment_size <= whole_at_once;
  if (!at_once && used + start_size / 2 <= reserved_) return;
  const auto done = grow_file(at_once ? file.end : file.up_to(used + start_size));
  if (done) return;
  if (begun_here_) throw_disk_error(done.error(), "free space");
  say(done.error());
  lacks_space_ = true;
}

// Uses a complete spare segment, and removes an incomplete one.
void JournalWriter::find_spare(const std::vector<fs::path>& spares) {
  const std::uint64_t wanted = table_.empty() ? 1 : table_.back().ordinal + 1;
  for (const fs::path& path : spares) {
    auto file = value_or_throw(disk_.open(path, OpenMode::write));
    SegmentHeader header{};
    const std::size_t size = value_or_throw(file->read(0, {reinterpret_cast<char*>(&header), sizeof header}));
    const bool usable = size == sizeof header && header_is_whole(header) && header.ordinal == wanted &&
                        path == segment_path(wanted) && identity_of(header) == identity_;
    const std::uint64_t length = value_or_throw(file->size());
    if (usable && length > segment_header_size && spare_ == nullptr) {
      spare_ = std::move(file);
      spare_capacity_ = header.capacity;
      spare_reserved_ = std::min(length - segment_header_size, header.capacity);
      // Earlier versions have written all of it.
      spare_zeroed_ = spare_reserved_ == header.capacity ? spare_reserved_ : 0;
    } else {
      value_or_throw(disk_.remove(path));
    }
  }
}

void JournalWriter::continue_journal(const JournalScan& scan) {
  for (const SegmentInfo& segment : scan.segments) {
    NFX_REQUIRE(table_.empty() || table_.back().ordinal + 1 == segment.header.ordinal);
    NFX_REQUIRE(table_.empty() || table_.back().base <= segment.header.base);
    table_.push_back({segment.header.ordinal, segment.header.base, segment.header.capacity, segment.header.begun_ns});
  }
  const SegmentInfo& last = scan.segments.back();
  file_ = value_or_throw(disk_.open(last.path, OpenMode::write), "make the files writable");
  base_ = last.header.base;
  std::string page(segment_header_size, '\0');
  value_or_throw(file_->read(0, page));
  if (const auto mark = last_mark(page)) mark_count_ = mark->count;
  const std::uint64_t size = value_or_throw(file_->size());
  reserved_ = size < segment_header_size ? 0 : std::min(size - segment_header_size, last.header.capacity);
  zeroed_ = reserved_;
  established_ = scan.records > 0;
}

// Rewrites the readable part: after a failed sync the kernel may hold it only in memory, marked as written.
void JournalWriter::write_back(JournalPosition from, JournalPosition to) {
  NFX_REQUIRE(base_ <= from && base_ <= to && to - base_ <= table_.back().capacity);
  std::vector<char> piece(static_cast<std::size_t>(std::min<std::uint64_t>(scan_piece, to - from)));
  while (from < to) {
    const std::span<char> part(piece.data(), static_cast<std::size_t>(std::min<std::uint64_t>(scan_piece, to - from)));
    const std::uint64_t offset = segment_header_size + (from - base_);
    value_or_throw(file_->read(offset, part));
    value_or_throw(file_->write(offset, part));
    from += part.size();
  }
}

// Clears everything after the last whole record, because such bytes could later look like following records. Returns
// how many bytes it cleared.
std::uint64_t JournalWriter::clear_after(JournalPosition end) {
  NFX_REQUIRE(base_ <= end && end - base_ <= table_.back().capacity);
  std::uint64_t offset = segment_header_size + (end - base_);
  const std::uint64_t limit = value_or_throw(end_of_bytes(*file_, offset));
  const std::uint64_t cut = limit - offset;
  while (offset < limit) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(scan_piece, limit - offset));
    value_or_throw(file_->write(offset, zeros().first(size)));
    offset += size;
  }
  return cut;
}

// The ring of a process that was killed since this boot of the machine, if there is one.
std::unique_ptr<SharedMemory> JournalWriter::map_left_ring() {
  if (!disk_.exists(ring_file_)) return nullptr;
  const auto file = value_or_throw(disk_.open(ring_file_, OpenMode::read));
  const std::uint64_t size = value_or_throw(file->size());
  const std::uint64_t ring_size =
      size - ring_header_size;  // the size of the process that created it, whatever size this process uses
  if (size <= ring_header_size || !std::has_single_bit(ring_size) || ring_size < size_min || ring_size > size_max) {
    return nullptr;
  }
  auto memory = value_or_throw(disk_.map_shared(ring_file_, size));
  NFX_REQUIRE(memory->bytes().size() == size);
  const auto& ring = *reinterpret_cast<const RingHeader*>(memory->bytes().data());
  if (!belongs_to(ring, ring_size, identity_, disk_.boot_id())) return nullptr;
  return memory;
}

// Writes the records that only the ring has to the files, across the end of a segment if necessary.
void JournalWriter::take_from_ring(SharedMemory& memory, OpenedJournal& opened, const Visitor& visit) {
  const auto& ring = *reinterpret_cast<const RingHeader*>(memory.bytes().data());
  const char* const bytes = memory.bytes().data() + ring_header_size;
  const JournalPosition head = ring.head.load(std::memory_order_acquire);
  const bool was_cut = ring.cuts.load(std::memory_order_acquire) != ring.begun.load(std::memory_order_acquire) &&
                       ring.cut.position > base_ && ring.cut.position <= head;
  JournalPosition at = opened.head;
  // If the files are ahead of the ring, the files win: the ring belongs to an earlier journal in this folder.
  if (head < at) return;
  const auto require_continued = [&](bool continued, JournalPosition position) {
    if (continued) return;
    throw StoreError(
        ring_file_.string() + " does not continue where the files of " + folder_.string() + " end (position " +
        std::to_string(position) +
        "): they were replaced since the last process was killed. Remove it to continue with the files as they are");
  };
  const auto take_until = [&](JournalPosition limit) {
    JournalPosition unwritten = at;
    while (at < limit) {
      const char* const record = bytes + ring_offset(ring, at);
      const auto header = head - at <= ring_span(ring)
                              ? record_in_ring(record, at, std::min(limit, at + ring_run(ring, at)))
                              : std::nullopt;
      require_continued(header.has_value(), at);
      visit(*header, at);
      opened.numbers.apply(*header);
      at += padded(header->size);
    }
    NFX_REQUIRE(base_ <= unwritten);
    require_continued(at - base_ <= table_.back().capacity, unwritten);  // smaller if the last files are missing
    while (unwritten < at) {
      const char* const from = bytes + ring_offset(ring, unwritten);
      // Whole records, see piece().
      const std::uint64_t most = std::min<std::uint64_t>(scan_piece, ring_span(ring) - ring_offset(ring, unwritten));
      std::size_t size = 0;
      while (size < most && unwritten + size < at) {
        RecordHeader header;
        std::memcpy(&header, from + size, sizeof header);
        size += padded(header.size);
      }
      value_or_throw(file_->write(segment_header_size + (unwritten - base_), {from, size}));
      unwritten += size;
    }
    reserved_ = std::max(reserved_, at - base_);
  };
  if (was_cut) {
    require_continued(at <= ring.cut.position, at);
    take_until(ring.cut.position);
    value_or_throw(file_->sync());
    if (spare_ == nullptr)
      value_or_throw(make_spare(std::min(first_step_of(options_.lean), options_.segment_size - segment_header_size)));
    value_or_throw(begin_segment(ring.cut));
  }
  take_until(head);
  opened.recovery.taken_from_ring = at - opened.head;
  opened.head = at;
}

void JournalWriter::make_ring(JournalPosition head) {
  if (disk_.exists(ring_file_)) value_or_throw(disk_.remove(ring_file_));
  value_or_throw(disk_.make_folder(options_.ring_directory));
  memory_ = value_or_throw(disk_.map_shared(ring_file_, ring_header_size + options_.ring_size));
  if (!memory_->fresh()) throw StoreError(ring_file_.string() + " was made by another process just now; try again");
  if (const auto first = memory_->provide(0, ring_header_size); !first) {
    (void)disk_.remove(ring_file_);
    throw_disk_error(first.error(), "free space there");
  }
  NFX_REQUIRE(memory_->bytes().size() == ring_header_size + options_.ring_size);
  NFX_REQUIRE(head % record_alignment == 0 && table_.front().base <= head);
  ring_ = new (memory_->bytes().data()) RingHeader{};
  ring_bytes_ = memory_->bytes().data() + ring_header_size;
  ring_->ring_size = options_.ring_size;
  ring_->identity_hash = stable_hash(identity_);
  const std::string boot = disk_.boot_id();
  std::memcpy(ring_->boot_id, boot.data(), std::min(boot.size(), sizeof ring_->boot_id));
  ring_->pid = static_cast<std::uint64_t>(::getpid());
  if (const std::string folder = whole_path(folder_); folder.size() <= RingHeader::max_folder) {
    std::memcpy(ring_->folder, folder.data(), folder.size());
    ring_->folder_size = folder.size();
  }
  ring_->head = head;
  ring_->written = head;
  ring_->durable = head;
  ring_->oldest = table_.front().base;
  ring_->reserved = base_ + reserved_;
  ring_->disk_full = lacks_space_;
  ring_->origin = head;
  ring_->span = first_span();
  const std::uint64_t begin = options_.ring_size <= whole_at_once ? options_.ring_size : ring_start_size;
  if (const auto more = provide(begin, [] { return true; }); !more) {
    (void)disk_.remove(ring_file_);
    throw_disk_error(more.error(), "free space there");
  }
  if (spare_ != nullptr) publish_spare();
  // Written last: a process that is killed earlier leaves a ring that is never used.
  std::memcpy(ring_->magic, ring_magic, sizeof ring_magic);
}

OpenedJournal JournalWriter::open(const Visitor& visit, UtcTime now) {
  check_options();
  try {
    return open_files(visit, now);
  } catch (...) {
    discard();  // removes partly created files, for example on a full disk
    throw;
  }
}

OpenedJournal JournalWriter::open_files(const Visitor& visit, UtcTime now) {
  OpenedJournal opened;
  make_folders(opened.recovery.corrected);
  bool has_segments = false;
  for (const std::string& name : value_or_throw(disk_.list(folder_))) {
    if (name.ends_with(unfinished_suffix)) value_or_throw(disk_.remove(folder_ / name));
    has_segments = has_segments || segment_ordinal(name).has_value();
  }
  const bool has_archive = disk_.exists(folder_ / archive_folder);
  begun_here_ = !has_segments && !has_archive;
  opened.numbers.creation_time_ns = to_ns(now);
  JournalScan scan;
  JournalPosition last_reset = 0;
  bool stored = false;
  const Visitor see = [&](const RecordHeader& header, JournalPosition position) {
    stored = stored || (header.kind != RecordKind::opened && header.kind != RecordKind::closed);
    const bool both = header.kind == RecordKind::reset;
    JournalRecovery& found = opened.recovery;
    found.has_inbound = found.has_inbound || both || header.kind == RecordKind::next_inbound;
    found.has_outbound =
        found.has_outbound || both || header.kind == RecordKind::next_outbound || header.kind == RecordKind::message;
    if (header.kind == RecordKind::reset) last_reset = position;
    visit(header, position);
  };
  if (has_segments) {
    scan = scan_journal(disk_, folder_, [&](const JournalRecord& record) {
      see(record.header, record.position);
      return true;
    });
  }
  if (scan.damage && !scan.torn) throw StoreError(damage_text(*scan.damage, folder_));
  if (has_segments && !scan.identity.empty() && scan.identity != identity_) {
    throw StoreError(folder_.string() + " is the journal of " + scan.identity + ", not of " + identity_);
  }
  if (scan.segments.empty()) {
    find_spare(scan.spare);
    begin_journal(now);
  } else {
    continue_journal(scan);
    find_spare(scan.spare);
    opened.numbers = {value(scan.next_inbound), value(scan.next_outbound), to_ns(scan.creation_time), scan.closed};
    opened.head = scan.end;
    opened.recovery.clean = scan.closed || (scan.records == 0 && !scan.damage);
  }
  // A ring exists only if a process did not close, even if the files say that their last writer did: later records may
  // be only in the ring.
  const bool in_order = opened.recovery.clean && scan.committed >= scan.end && !disk_.exists(ring_file_);
  if (!in_order) {
    value_or_throw(establish());
    const auto left = map_left_ring();
    write_back(std::max(scan.committed, base_), opened.head);
    const std::uint64_t cut_offset = segment_header_size + (opened.head - base_);
    const std::uint64_t cut = clear_after(opened.head);
    if (left != nullptr) take_from_ring(*left, opened, see);
    if (opened.recovery.taken_from_ring != 0) opened.recovery.clean = false;
    if (cut > 0 && opened.recovery.taken_from_ring == 0) {
      opened.recovery.cut_bytes = cut;
      opened.recovery.cut_file = scan.segments.back().path.string();
      opened.recovery.cut_offset = cut_offset;
    }
    value_or_throw(file_->sync());
    value_or_throw(disk_.sync_folder(folder_));
  }
  // A segment's header has the sequence numbers at its beginning; earlier segments may have been archived.
  opened.recovery.has_inbound = opened.recovery.has_inbound || opened.numbers.next_inbound != 1;
  opened.recovery.has_outbound = opened.recovery.has_outbound || opened.numbers.next_outbound != 1;
  // True for files of a process that ended before it stored anything.
  const bool is_new = scan.segments.empty() || (scan.segments.front().header.base == 0 && opened.numbers.is_first());
  begun_here_ = !stored && !has_archive && is_new;
  NFX_REQUIRE(scan.segments.empty() || scan.committed <= opened.head);  // no synced byte is given up
  NFX_REQUIRE(base_ <= opened.head && opened.head - base_ <= table_.back().capacity);
  written_ = opened.head;
  durable_ = opened.head;
  reserve_at_start(opened.head);
  make_ring(opened.head);
  ring_->last_reset = last_reset;
  idle_head_ = opened.head + sizeof(RecordHeader);
  quiet_ = in_order;
  opened.file = file_space();
  return opened;
}

}  // namespace nfx::detail
