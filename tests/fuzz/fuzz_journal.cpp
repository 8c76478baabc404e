// Whatever damage the files and the ring of a journal have, opening, scanning and repairing them ends with a StoreError
// or with messages that were written under these numbers. A journal that opens without a repair has no hole, and a
// repaired one opens. The input is damage to a whole journal, one per line:
//
//   flip FILE OFFSET BITS       put FILE OFFSET NUMBER (4 bytes)    zero FILE OFFSET SIZE     cut FILE SIZE
//   copy FILE OFFSET SIZE TO    remove FILE                         sums FILE (header and marks get right checksums)
//   record FILE OFFSET KIND SEQ (a record with a right checksum; KIND 1 is a message)
//
// FILE is a number: 0 the ring, then the segments. Offsets are modulo the file's size. After `sums` and `record` only
// the kind of the errors is checked, because the damage then looks right.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_target.hpp"
#include "store/journal_archive.hpp"
#include "store/journal_bytes.hpp"
#include "store/journal_flusher.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_store.hpp"
#include "store/memory_disk.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 1000};

namespace {

using namespace std::chrono_literals;
using nfx::JournalStore;
using nfx::SeqNum;
using nfx::UtcTime;
using nfx::fuzz::require;
using nfx::test::MemoryDisk;
namespace fs = std::filesystem;

constexpr std::string_view identity = "FIX.4.4:US->THEM";
constexpr std::uint64_t last_message = 700;

std::string text(std::uint64_t seq) { return "message " + std::to_string(seq) + std::string(150 + seq % 100, 'x'); }

nfx::JournalOptions options() {
  nfx::JournalOptions options;
  options.directory = "/store";
  options.ring_directory = "/ring";
  options.segment_size = 64 * 1024;
  options.ring_size = 64 * 1024;
  options.retain_messages = 1024;
  return options;
}

JournalStore open(MemoryDisk& disk) { return JournalStore(disk, options(), identity, UtcTime(1s)); }

// The files of a killed process: three segments, and a ring with additional records.
struct Whole {
  fs::path folder = nfx::session_folder(options().directory, identity);
  fs::path ring_file = nfx::ring_path(options().ring_directory, folder);
  std::vector<std::pair<fs::path, std::string>> files;  // the ring first

  Whole() {
    MemoryDisk disk;
    write(disk);
    const auto ring = disk.open(ring_file, nfx::OpenMode::read);
    require(ring.has_value(), "a killed process leaves its ring", "");
    std::string bytes((*ring)->size().value(), '\0');
    require((*ring)->read(0, bytes).has_value(), "the ring is read", "");
    files.emplace_back(ring_file, bytes);
    const auto names = disk.list(folder);
    for (const std::string& name : *names) {
      if (name.ends_with(".nfxj")) files.emplace_back(folder / name, disk.bytes(folder / name));
    }
    require(files.size() >= 4, "a journal has several segments", "");
  }

 private:
  static void write(MemoryDisk& disk) {
    {
      JournalStore store = open(disk);
      nfx::JournalFlusher flusher;
      flusher.add(store);
      nfx::Instant now{UtcTime(2s), nfx::MonotonicTime(1s)};
      for (std::uint64_t seq = 1; seq <= last_message; ++seq) {
        while (!store.append(SeqNum{seq}, text(seq), now.utc)) {
          now.monotonic += 1ms;
          flusher.turn(now);
        }
        store.set_next_outbound(SeqNum{seq + 1});
        if (seq == 20) store.set_next_inbound(SeqNum{77});
      }
      disk.die_now();
    }
    disk.kill();
  }
};

const Whole& whole() {
  static const Whole journal;
  return journal;
}

// A line's words as numbers; 0 for other words.
struct Edit {
  std::string_view verb;
  std::array<std::uint64_t, 4> numbers{};
};

Edit edit_of(std::string_view line) {
  Edit edit;
  for (std::size_t word = 0; word < 5 && !line.empty(); ++word) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view part = line.substr(0, end);
    if (word == 0) {
      edit.verb = part;
    } else {
      std::from_chars(part.data(), part.data() + part.size(), edit.numbers[word - 1]);
    }
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return edit;
}

class Damaged {
 public:
  explicit Damaged(std::string_view input) : files_(whole().files), removed_(files_.size()) {
    constexpr int max_edits = 64;
    for (int i = 0; i < max_edits && !input.empty(); ++i) {
      const std::size_t end = std::min(input.find('\n'), input.size());
      apply(edit_of(input.substr(0, end)));
      input.remove_prefix(std::min(end + 1, input.size()));
    }
  }

  [[nodiscard]] bool looks_right() const noexcept { return looks_right_; }

  [[nodiscard]] std::unique_ptr<MemoryDisk> disk() const {
    auto disk = std::make_unique<MemoryDisk>();
    bool done = disk->make_folder(whole().folder).has_value() && disk->make_folder("/ring").has_value();
    for (std::size_t i = 0; i < files_.size() && done; ++i) {
      const auto& [path, bytes] = files_[i];
      if (removed_[i]) continue;
      if (i == 0) {
        const auto ring = disk->map_shared(path, whole().files[0].second.size());
        done = ring.has_value();
        if (done) std::ranges::copy(bytes, (*ring)->bytes().begin());
      } else {
        const auto file = disk->open(path, nfx::OpenMode::create);
        done = file.has_value() && (*file)->write(0, bytes).has_value();
      }
    }
    require(done, "the journal is laid out", "");
    return disk;
  }

 private:
  void apply(const Edit& edit) {
    const std::size_t which = edit.numbers[0] % files_.size();
    std::string& bytes = files_[which].second;
    if (bytes.empty()) return;
    const std::size_t at = edit.numbers[1] % bytes.size();
    const std::size_t left = bytes.size() - at;
    const auto third = static_cast<std::size_t>(edit.numbers[2]);
    if (edit.verb == "flip") bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(third));
    if (edit.verb == "put") {
      const auto number = static_cast<std::uint32_t>(edit.numbers[2]);
      std::memcpy(bytes.data() + at, &number, std::min(left, sizeof number));
    }
    if (edit.verb == "zero") bytes.replace(at, std::min(left, third), std::min(left, third), '\0');
    if (edit.verb == "copy") {
      const std::string part = bytes.substr(at, third);
      const std::size_t to = edit.numbers[3] % bytes.size();
      std::copy_n(part.begin(), std::min(part.size(), bytes.size() - to),
                  bytes.begin() + static_cast<std::ptrdiff_t>(to));
    }
    if (edit.verb == "cut" && which != 0) bytes.resize(at);
    if (edit.verb == "remove") removed_[which] = true;
    if (edit.verb == "sums" && which != 0) give_sums(bytes);
    if (edit.verb == "record" && which != 0) put_record(bytes, at, edit);
  }

  void give_sums(std::string& bytes) {
    looks_right_ = true;
    if (bytes.size() < nfx::segment_header_size) return;
    nfx::SegmentHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    header.crc = nfx::detail::header_crc(header);
    std::memcpy(bytes.data(), &header, sizeof header);
    for (const std::size_t offset : nfx::commit_mark_offsets) {
      nfx::CommitMark mark;
      std::memcpy(&mark, bytes.data() + offset, sizeof mark);
      mark.crc = nfx::detail::mark_crc(mark);
      std::memcpy(bytes.data() + offset, &mark, sizeof mark);
    }
  }

  void put_record(std::string& bytes, std::size_t at, const Edit& edit) {
    looks_right_ = true;
    nfx::SegmentHeader header;
    const std::string body = "35=D";
    at -= at % nfx::record_alignment;
    const std::size_t size = nfx::padded(sizeof(nfx::RecordHeader) + body.size());
    if (at < nfx::segment_header_size || at + size > bytes.size()) return;
    std::memcpy(&header, bytes.data(), sizeof header);
    const auto kind = static_cast<nfx::RecordKind>(1 + edit.numbers[2] % 6);
    const nfx::JournalPosition position =
        header.base / nfx::record_alignment * nfx::record_alignment + (at - nfx::segment_header_size);
    nfx::detail::write_record(bytes.data() + at, position, {0, 0, edit.numbers[3], 0, kind, 0, 0, 0}, body);
  }

  std::vector<std::pair<fs::path, std::string>> files_;
  std::vector<bool> removed_;
  bool looks_right_ = false;
};

void check_message(std::uint64_t seq, std::string_view bytes, bool looks_right) {
  if (looks_right) return;
  require(seq >= 1 && seq <= last_message && bytes == text(seq), "a message is one that was written", bytes);
}

void check_scan(MemoryDisk& disk, bool looks_right) {
  try {
    std::uint64_t records = 0;
    const nfx::JournalScan scan = nfx::scan_journal(disk, whole().folder, [&](const nfx::JournalRecord& record) {
      ++records;
      if (record.header.kind == nfx::RecordKind::message) check_message(record.header.seq, record.body, looks_right);
      return true;
    });
    require(scan.records == records, "each record is visited", scan.identity);
    require(!scan.damage || !scan.damage->reason.empty(), "damage has a reason", scan.identity);
  } catch (const nfx::StoreError& error) {
    require(*error.what() != '\0', "an error has a text", "");
  }
  try {
    static_cast<void>(nfx::list_sessions(disk, options().directory));
    static_cast<void>(nfx::list_archive(disk, whole().folder));
  } catch (const nfx::StoreError& error) {
    require(*error.what() != '\0', "an error has a text", "");
  }
}

// Empty if it opened, and opened again after another message.
std::string open_and_read(MemoryDisk& disk, bool looks_right, bool repaired) {
  try {
    SeqNum next{};
    {
      JournalStore store = open(disk);
      std::uint64_t visited = 0;
      store.for_each(nfx::first_seq_num, SeqNum{UINT64_MAX}, [&](SeqNum seq, std::string_view bytes) {
        check_message(nfx::value(seq), bytes, looks_right);
        ++visited;
        return true;
      });
      const std::uint64_t last = nfx::value(store.last_kept());
      const bool whole_range = last == 0 || visited == last - nfx::value(store.oldest_kept()) + 1;
      require(looks_right || repaired || whole_range, "what opens without a repair has no hole", "");
      next = store.next_outbound();
      if (nfx::value(next) < UINT64_MAX && store.append(next, "one more", UtcTime(3s))) {
        next = SeqNum{nfx::value(next) + 1};
        store.set_next_outbound(next, UtcTime(3s));
      }
    }
    const JournalStore again = open(disk);
    require(again.next_outbound() == next, "what was written to a journal that opened is there", "");
  } catch (const nfx::StoreError& error) {
    return error.what();
  }
  return {};
}

void check_repair(MemoryDisk& disk, bool looks_right) {
  std::string said;
  try {
    said = nfx::repair_by_gap_fill(disk, whole().folder);
  } catch (const nfx::StoreError& error) {
    require(*error.what() != '\0', "an error has a text", "");
    return;
  }
  require(!said.empty(), "a repair reports what it did", "");
  const std::string error = open_and_read(disk, looks_right, true);
  // A ring that does not belong to the files stays: opening names it, and the fix.
  const bool ring = error.starts_with(whole().ring_file.string());
  require(looks_right || error.empty() || ring, "what a repair left opens", said + error);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Damaged damaged{nfx::fuzz::text_of(data, size)};
  {
    const auto disk = damaged.disk();
    check_scan(*disk, damaged.looks_right());
    static_cast<void>(open_and_read(*disk, damaged.looks_right(), false));
  }
  const auto disk = damaged.disk();
  check_repair(*disk, damaged.looks_right());
  return 0;
}
