// Finds rings that killed processes left in shared memory, and decides which of them may be removed.
#include "store/left_rings.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/error_text.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_scan.hpp"
#include "store/journal_store.hpp"
#include "store/ring_header.hpp"

namespace nfx {

namespace fs = std::filesystem;
using namespace detail;

namespace {

// A copy of the first page of a ring.
class RingPage {
 public:
  explicit RingPage(DiskFile& file) : bytes_(new(std::align_val_t{cache_line}) char[ring_header_size]) {
    const auto got = file.read(0, {bytes_.get(), ring_header_size});
    whole_ = got && *got == ring_header_size;
  }
  [[nodiscard]] bool whole() const noexcept { return whole_; }
  [[nodiscard]] const RingHeader& header() const noexcept { return *reinterpret_cast<const RingHeader*>(bytes_.get()); }

 private:
  struct Free {
    void operator()(char* bytes) const noexcept { ::operator delete[](bytes, std::align_val_t{cache_line}); }
  };
  std::unique_ptr<char[], Free> bytes_;
  bool whole_ = false;
};

class Look {
 public:
  // `locked`: this process holds the session's lock, so no other process can.
  Look(Disk& disk, const fs::path& path, bool locked) : disk_(disk), locked_(locked) { ring_.path = path; }

  LeftRing run() {
    const auto file = disk_.open(ring_.path, OpenMode::read);
    if (!file) return unknown(file.error().text());
    ring_.size = (*file)->size().value_or(0);
    const RingPage page(**file);
    if (!page.whole()) return unknown("it is shorter than a ring's first page");
    const RingHeader& header = page.header();
    const auto mapped = disk_.is_mapped(ring_.path);
    if (!mapped) return unknown(mapped.error().text());
    read_owner(header);
    if (*mapped) return as(RingState::held);
    if (ring_.folder.empty()) {
      return unknown("its session is not recorded; remove it by hand if no engine of this user was killed lately");
    }
    if (ring_path(ring_.path.parent_path(), ring_.folder).filename() != ring_.path.filename()) {
      return unknown("its name is not the name of a ring of " + ring_.folder);
    }
    if (!disk_.exists(ring_.folder)) return as(RingState::orphaned);
    if (const auto pid = locked_ ? std::nullopt : holder(disk_, ring_.folder)) {
      ring_.pid = static_cast<std::uint64_t>(*pid);
      return as(RingState::held);
    }
    return compare(header);
  }

 private:
  LeftRing unknown(std::string why) {
    ring_.why = std::move(why);
    return as(RingState::unknown);
  }
  LeftRing as(RingState state) {
    ring_.state = state;
    return std::move(ring_);
  }

  void read_owner(const RingHeader& header) {
    ring_.pid = header.pid;
    if (header.folder_size == 0 || header.folder_size > RingHeader::max_folder) return;
    ring_.folder.assign(header.folder, static_cast<std::size_t>(header.folder_size));
    if (ring_.folder.front() != '/' || ring_.folder.find('\0') != std::string::npos) ring_.folder.clear();
  }

  // Compares the ring with the files, as an opening of the session would.
  LeftRing compare(const RingHeader& header) {
    JournalScan scan;
    try {
      scan = scan_journal(disk_, ring_.folder);
    } catch (const StoreError& error) {
      return unknown(error.what());
    }
    if (!belongs_to(header, ring_.size - ring_header_size, scan.identity, disk_.boot_id())) {
      return as(RingState::useless);
    }
    const JournalPosition head = header.head.load(std::memory_order_acquire);
    if (scan.damage && !scan.torn) return unknown("the journal in " + ring_.folder + " is damaged: repair that first");
    if (head <= scan.end) return as(RingState::written);
    ring_.lacking = head - scan.end;
    return as(RingState::needed);
  }

  Disk& disk_;
  bool locked_;
  LeftRing ring_;
};

}  // namespace

std::string_view to_string(RingState state) noexcept {
  switch (state) {
    case RingState::held: return "held";
    case RingState::needed: return "needed";
    case RingState::written: return "written";
    case RingState::orphaned: return "orphaned";
    case RingState::useless: return "useless";
    case RingState::unknown: return "unknown";
  }
  return "unknown";
}

std::vector<LeftRing> list_rings(Disk& disk, const fs::path& ring_directory) {
  std::vector<LeftRing> rings;
  for (const std::string& name : value_or_throw(disk.list(ring_directory))) {
    if (!name.starts_with(ring_prefix) || !name.ends_with(ring_suffix)) continue;
    LeftRing ring = Look(disk, ring_directory / name, false).run();
    if (disk.exists(ring.path)) rings.push_back(std::move(ring));  // omits rings that their process removed meanwhile
  }
  return rings;
}

JournalPosition scan_left_ring(Disk& disk, const fs::path& path, std::string_view identity, JournalPosition from,
                               const std::function<bool(const JournalRecord&)>& visit) {
  if (!disk.exists(path)) return from;
  const auto file = value_or_throw(disk.open(path, OpenMode::read));
  const std::uint64_t size = value_or_throw(file->size());
  const RingPage page(*file);
  if (!page.whole() || size <= ring_header_size) return from;
  const std::uint64_t ring_size = size - ring_header_size;
  const RingHeader& header = page.header();
  const JournalPosition head = header.head.load(std::memory_order_acquire);
  if (!belongs_to(header, ring_size, identity, disk.boot_id()) || head <= from || head - from > ring_span(header))
    return from;
  // The whole part in use, or the wanted range of the whole ring, which continues at its beginning after its end.
  const bool whole_ring = ring_span(header) == ring_size;
  std::vector<char> bytes(static_cast<std::size_t>(whole_ring ? head - from : ring_step(ring_span(header), ring_size)));
  const std::uint64_t begin = whole_ring ? ring_offset(header, from) : 0;
  const auto first = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), ring_size - begin));
  const std::span<char> all(bytes);
  const std::size_t got = value_or_throw(file->read(ring_header_size + begin, all.first(first))) +
                          value_or_throw(file->read(ring_header_size, all.subspan(first)));
  if (got != bytes.size()) return from;
  const std::string name = path.string();
  JournalPosition at = from;
  while (head - at >= sizeof(RecordHeader)) {
    const char* const record = bytes.data() + (whole_ring ? at - from : ring_offset(header, at));
    const auto whole = record_in_ring(record, at, std::min(head, at + ring_run(header, at)));
    if (!whole) break;
    const std::string_view body{record + sizeof *whole, whole->size - sizeof *whole};
    const std::uint64_t offset = ring_header_size + ring_offset(header, at);
    at += padded(whole->size);
    if (!visit({at - padded(whole->size), *whole, body, &name, offset})) break;
  }
  return at;
}

std::uint64_t add_left_ring(Disk& disk, const fs::path& ring, JournalScan& scan,
                            const std::function<bool(const JournalRecord&)>& visit) {
  StandingNumbers numbers{value(scan.next_inbound), value(scan.next_outbound),
                          scan.creation_time.time_since_epoch().count(), scan.closed};
  std::uint64_t records = 0;
  scan.end = scan_left_ring(disk, ring, scan.identity, scan.end, [&](const JournalRecord& record) {
    numbers.apply(record.header);
    ++records;
    return visit(record);
  });
  scan.next_inbound = SeqNum{numbers.next_inbound};
  scan.next_outbound = SeqNum{numbers.next_outbound};
  scan.creation_time = UtcTime{Duration{numbers.creation_time_ns}};
  scan.closed = numbers.closed;
  scan.records += records;
  return records;
}

void remove_ring(Disk& disk, const LeftRing& ring) {
  if (!may_be_removed(ring.state)) {
    throw StoreError(cannot("remove", ring.path, "it is " + std::string{to_string(ring.state)}));
  }
  std::unique_ptr<DiskFile> lock;
  // If the folder exists, its lock excludes an opening of the session. Otherwise an opening has to create the folder
  // and a segment first, which takes far longer than the time between this check and the removal.
  if (ring.state != RingState::orphaned) {
    auto locked = disk.lock(fs::path{ring.folder} / lock_name);
    if (!locked && locked.error().code == EWOULDBLOCK) {
      throw StoreError(cannot("remove", ring.path, "its session is in use: cannot " + locked.error().operation));
    }
    lock = value_or_throw(std::move(locked));
  }
  const LeftRing now = Look(disk, ring.path, lock != nullptr).run();
  if (!may_be_removed(now.state) || now.folder != ring.folder) {
    throw StoreError(
        cannot("remove", ring.path,
               "it is now " + std::string{to_string(now.state)} + (now.why.empty() ? "" : ", " + now.why)));
  }
  value_or_throw(disk.remove(ring.path));
}

}  // namespace nfx
