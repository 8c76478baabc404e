// Starts, archives and removes the segments of a journal.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "nexusfix/base/assert.hpp"
#include "store/journal_bytes.hpp"
#include "store/journal_writer.hpp"
#include "store/template_stores.hpp"

namespace nfx::detail {

namespace fs = std::filesystem;

namespace {
constexpr Duration tidy_every = std::chrono::seconds{1};
constexpr Duration archive_check_every = std::chrono::hours{1};
// The minimum size that an archived file counts for, so that archive_bytes bounds the number of files too.
constexpr std::uint64_t least_archived_size = 64 * 1024;
}  // namespace

// The spare becomes the last segment. Its header is durable before its first record is written, so a torn header has no
// record after it.
DiskResult<void> JournalWriter::begin_segment(const SegmentCut& cut) {
  NFX_REQUIRE(spare_ != nullptr);
  // The segment begins within the previous segment's range.
  NFX_REQUIRE(table_.empty() ||
              (table_.back().base <= cut.position && cut.position - table_.back().base <= table_.back().capacity));
  NFX_ASSERT(cut.position % record_alignment == 0);
  const std::uint64_t ordinal = table_.empty() ? 1 : table_.back().ordinal + 1;
  SegmentHeader header = make_header(ordinal, spare_capacity_, identity_);
  header.base = cut.position;
  header.begun_ns = cut.time_ns;
  header.next_inbound = cut.next_inbound;
  header.next_outbound = cut.next_outbound;
  header.creation_time_ns = cut.creation_time_ns;
  header.crc = header_crc(header);
  if (auto done = spare_->write(0, {reinterpret_cast<const char*>(&header), sizeof header}); !done) return done;
  if (auto done = spare_->sync(); !done) return done;
  file_ = std::move(spare_);
  base_ = cut.position;
  reserved_ = spare_reserved_;
  zeroed_ = spare_zeroed_;
  if (ring_ != nullptr) ring_->reserved.store(base_ + reserved_, std::memory_order_release);
  file_dirty_ = false;
  mark_unsynced_ = false;
  const std::lock_guard lock(table_mutex_);
  table_.push_back({ordinal, cut.position, spare_capacity_, cut.time_ns});
  return {};
}

// Housekeeping cannot fail: a file that cannot be moved or removed stays, and is tried again.
void JournalWriter::tidy(Instant now) noexcept {
  next_tidy_ = now.monotonic + tidy_every;
  archive_front(now.utc);
  const bool too_large = options_.archive_bytes != 0 && archived_bytes_ > options_.archive_bytes;
  if (too_large || now.monotonic >= next_archive_check_) bound_archive(now);
  if (options_.retain_bytes != 0 || options_.retain_age.count() != 0) remove_surplus(now.utc);
}

// Removes the first segment from the table; its file was already moved or removed.
bool JournalWriter::drop_front() {
  NFX_REQUIRE(table_.size() > 1);  // the current segment stays
  NFX_ASSERT(table_.front().base <= table_[1].base && table_.front().ordinal + 1 == table_[1].ordinal);
  NFX_ASSERT(ring_->oldest.load(std::memory_order_relaxed) <= table_[1].base && table_[1].base <= written_);
  {
    const std::lock_guard lock(table_mutex_);
    table_.erase(table_.begin());
  }
  ring_->oldest.store(table_.front().base, std::memory_order_release);
  return disk_.sync_folder(folder_).has_value();
}

void JournalWriter::archive_front(UtcTime now) {
  const JournalPosition reset = ring_->last_reset.load(std::memory_order_acquire);
  while (table_.size() > 1 && table_[1].base <= reset && reset < durable_) {
    const fs::path path = segment_path(table_.front().ordinal);
    const fs::path archive = folder_ / archive_folder;
    if (options_.archive == Archive::remove) {
      if (!disk_.remove(path)) return;
    } else {
      const std::string name = archived_segment_name({table_.front().ordinal, now});
      if (!disk_.make_folder(archive) || !disk_.rename(path, archive / name) || !disk_.sync_folder(archive)) return;
      shorten_archived(archive / name, segment_header_size + (table_[1].base - table_.front().base));
    }
    if (!drop_front()) return;
  }
}

// An archived segment takes no more records, so its unused space is returned to the disk. If that fails, the file is
// larger than needed, but intact.
void JournalWriter::shorten_archived(const fs::path& path, std::uint64_t size) {
  NFX_ASSERT(size <= segment_header_size + table_.front().capacity);
  const auto file = disk_.open(path, OpenMode::write);
  const bool shortened = file && (*file)->truncate(size) && (*file)->sync();
  archived_bytes_ += std::max(shortened ? size : size_of(path), least_archived_size);
}

// Deletes the oldest archived segments, a sixteenth more than necessary. Otherwise a peer that resets often would cause
// a listing of the folder each time.
void JournalWriter::bound_archive(Instant now) {
  next_archive_check_ = now.monotonic + archive_check_every;
  archived_bytes_ = 0;
  if (options_.archive_bytes == 0 && options_.archive_age.count() == 0) return;
  const fs::path archive = folder_ / archive_folder;
  struct Archived {
    UtcTime put_away;
    std::uint64_t ordinal;
    std::uint64_t size;
    std::string name;
  };
  std::vector<Archived> archived;
  for (std::string& name : disk_.list(archive).value_or(std::vector<std::string>{})) {
    const auto parsed = read_archived_name(name);
    if (!parsed) continue;
    const std::uint64_t size = size_of(archive / name);
    archived.push_back({parsed->put_away, parsed->ordinal, std::max(size, least_archived_size), std::move(name)});
    archived_bytes_ += archived.back().size;
  }
  std::ranges::sort(archived, {}, [](const Archived& each) { return std::pair{each.put_away, each.ordinal}; });
  const bool too_large = options_.archive_bytes != 0 && archived_bytes_ > options_.archive_bytes;
  const std::uint64_t wanted = too_large ? options_.archive_bytes / 16 * 15 : archived_bytes_;
  for (const Archived& file : archived) {
    const bool too_old = options_.archive_age.count() != 0 && now.utc - file.put_away > options_.archive_age;
    if (archived_bytes_ <= wanted && !too_old) return;
    if (!disk_.remove(archive / file.name)) return;
    archived_bytes_ -= file.size;
  }
}

// A segment counts with its reserved space.
std::uint64_t JournalWriter::size_of(const fs::path& path) {
  const auto file = disk_.open(path, OpenMode::read);
  return file ? (*file)->size().value_or(0) : 0;
}

void JournalWriter::remove_surplus(UtcTime now) {
  const fs::path archive = folder_ / archive_folder;
  struct Archived {
    std::string name;
    UtcTime put_away;
    std::uint64_t size;
  };
  std::vector<Archived> archived;
  std::uint64_t total = 0;
  for (const std::string& name : disk_.list(archive).value_or(std::vector<std::string>{})) {
    const auto parsed = read_archived_name(name);
    if (!parsed) continue;
    const std::uint64_t size = size_of(archive / name);
    archived.push_back({name, parsed->put_away, size});
    total += size;
  }
  for (const SegmentPlace& place : table_) total += size_of(segment_path(place.ordinal));
  const auto too_old = [&](UtcTime ended) {
    return options_.retain_age.count() != 0 && now - ended > options_.retain_age;
  };
  const auto too_many = [&] { return options_.retain_bytes != 0 && total > options_.retain_bytes; };
  for (const Archived& file : archived) {
    if (!too_many() && !too_old(file.put_away)) return;
    if (!disk_.remove(archive / file.name)) return;
    total -= file.size;
  }
  while (table_.size() > 1 && (too_many() || too_old(from_ns(table_[1].begun_ns)))) {
    const fs::path path = segment_path(table_.front().ordinal);
    const std::uint64_t size = size_of(path);
    if (!disk_.remove(path)) return;
    total -= size;
    if (!drop_front()) return;
  }
}

// Removes the last segment first: without its first segments, a journal would be damaged. The folder and its lock are
// removed if nothing else is in it. After a crash, the next open() treats the rest as new.
void JournalWriter::discard() noexcept {
  if (!begun_here_) return;
  file_.reset();
  spare_.reset();
  const fs::path archive = folder_ / archive_folder;
  for (const fs::path& each : {archive, folder_}) {
    if (!disk_.exists(each)) continue;
    const auto names = disk_.list(each);
    if (!names) return;
    for (const std::string& name : std::views::reverse(*names)) {
      const bool is_segment = segment_ordinal(name) || read_archived_name(name);
      if (!is_segment && !name.ends_with(unfinished_suffix)) continue;
      if (!disk_.remove(each / name) || (established_ && !disk_.sync_folder(each))) return;
    }
  }
  if (disk_.exists(archive) && !disk_.remove_folder(archive)) return;
  if (disk_.exists(folder_ / template_mark) && !disk_.remove(folder_ / template_mark)) return;
  const auto left = disk_.list(folder_);
  if (!left || *left != std::vector<std::string>{std::string{lock_name}}) return;
  if (!disk_.remove(folder_ / lock_name) || !disk_.remove_folder(folder_)) return;
  if (established_) (void)disk_.sync_folder(options_.directory);
}

}  // namespace nfx::detail
