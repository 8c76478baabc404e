// Repairs the journal of a killed process with several damages at once: every combination of a torn segment, damage to
// the next one, the spare, the commit marks and the ring.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/journal_flusher.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_store.hpp"
#include "store/memory_disk.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using test::MemoryDisk;
using test::session_name;
namespace fs = std::filesystem;

constexpr std::uint64_t messages = 1200;
constexpr std::size_t segments = 5;  // filled segments; the next one is a spare

std::string text(std::uint64_t seq) { return "message " + std::to_string(seq) + std::string(150 + seq % 100, 'x'); }

// The remains of one segment.
enum class Left : std::uint8_t {
  whole,
  bit_flipped,
  zeros_inside,
  half,
  no_header,
  no_header_and_first,
  no_header_and_odd,
  bytes_only,
  header_only,
  empty_file,
  nothing,
};
constexpr std::array names{
    std::pair{Left::whole, "whole"},
    std::pair{Left::bit_flipped, "with a flipped bit"},
    std::pair{Left::zeros_inside, "with zeros inside"},
    std::pair{Left::half, "cut"},
    std::pair{Left::no_header, "without its header"},
    std::pair{Left::no_header_and_first, "without its header and first record"},
    std::pair{Left::no_header_and_odd, "without its header and every second record"},
    std::pair{Left::bytes_only, "without its header and any whole record"},
    std::pair{Left::header_only, "cut after its header"},
    std::pair{Left::empty_file, "an empty file"},
    std::pair{Left::nothing, "missing"},
};

struct Damage {
  std::size_t first = 0;  // first damaged segment
  std::vector<Left> left;
  bool spare = true;
  bool ring = false;
  bool marks = false;  // of the damaged segments

  [[nodiscard]] Left left_of(std::size_t n) const {
    return n >= first && n - first < left.size() ? left[n - first] : Left::whole;
  }
  [[nodiscard]] bool is_missing(std::size_t n) const { return left_of(n) == Left::nothing; }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const auto name = std::ranges::find(names, left[i], [](const auto& each) { return each.first; });
      text += "segment " + std::to_string(first + i) + ' ' + name->second + ", ";
    }
    return text + (spare ? "a spare, " : "no spare, ") + (ring ? "a ring, " : "no ring, ") +
           (marks ? "commit marks" : "no commit marks");
  }
};

JournalOptions options() {
  JournalOptions options;
  options.directory = "/store";
  options.ring_directory = "/ring";
  options.segment_size = 64 * 1024;
  options.ring_size = 64 * 1024;
  return options;
}

JournalStore open(MemoryDisk& disk) { return JournalStore(disk, options(), session_name, UtcTime(1s)); }

const fs::path& folder() {
  static const fs::path path = session_folder(options().directory, session_name);
  return path;
}
const fs::path& ring_file() {
  static const fs::path path = ring_path(options().ring_directory, folder());
  return path;
}
fs::path segment(std::size_t n) { return folder() / ("0000000" + std::to_string(n) + ".nfxj"); }

void damage_bytes(std::string& bytes, Left left) {
  // Every second record, or all, by a byte that is zero in each.
  const auto damage_records = [&](bool all) {
    bool damaged = true;
    for (std::size_t at = segment_header_size; at + sizeof(RecordHeader) <= bytes.size();) {
      std::uint32_t size = 0;
      std::memcpy(&size, bytes.data() + at, sizeof size);
      if (size == 0) break;
      if (damaged || all) bytes[at + sizeof(RecordHeader) - 1] ^= 1;
      damaged = !damaged;
      at += padded(size);
    }
  };
  const bool lost_header = left >= Left::no_header && left <= Left::bytes_only;
  if (lost_header) bytes.replace(0, 600, 600, '\xFF');
  switch (left) {
    case Left::whole:
    case Left::no_header:
    case Left::nothing: break;
    case Left::bit_flipped: bytes[20'000] ^= 1; break;
    case Left::zeros_inside: bytes.replace(20'000, 3000, 3000, '\0'); break;
    case Left::half: bytes.resize(20'000); break;
    case Left::no_header_and_first: bytes[segment_header_size + 50] ^= 1; break;
    case Left::no_header_and_odd: damage_records(false); break;
    case Left::bytes_only: damage_records(true); break;
    case Left::header_only: bytes.resize(1000); break;
    case Left::empty_file: bytes.clear(); break;
  }
}

// The files of a killed process, damaged copies of them, and the place of each message.
class Journal {
 public:
  Journal() {
    MemoryDisk disk;
    {
      JournalStore store = open(disk);
      JournalFlusher flusher;
      flusher.add(store);
      Instant now{UtcTime(2s), MonotonicTime(1s)};
      for (std::uint64_t seq = 1; seq <= messages; ++seq) {
        while (!store.append(SeqNum{seq}, nfx::text(seq), now.utc)) {
          now.monotonic += 1ms;
          flusher.turn(now);
        }
        store.set_next_outbound(SeqNum{seq + 1});
      }
      now.monotonic += 1s;
      flusher.turn(now);
      disk.die_now();
    }
    disk.kill();
    (void)scan_journal(disk, folder(), [&](const JournalRecord& record) {
      if (record.header.kind != RecordKind::message) return true;
      const std::size_t n = std::stoul(fs::path(*record.file).stem().string());
      places_[record.header.seq] = {n, record.offset, record.header.size};
      return true;
    });
    for (std::size_t n = 1; disk.exists(segment(n)); ++n) files_.push_back(disk.bytes(segment(n)));
    const auto ring = disk.open(ring_file(), OpenMode::read).value();
    ring_.resize(ring->size().value());
    (void)ring->read(0, ring_).value();
  }

  [[nodiscard]] std::size_t files() const noexcept { return files_.size(); }

  // The disk's content after this damage.
  [[nodiscard]] std::vector<std::string> damaged(const Damage& damage) const {
    std::vector<std::string> files = files_;
    for (std::size_t i = 0; i < damage.left.size(); ++i) {
      std::string& bytes = files[damage.first - 1 + i];
      if (damage.left[i] != Left::whole && !damage.marks) bytes.replace(commit_mark_offsets[0], 2048, 2048, '\0');
      damage_bytes(bytes, damage.left[i]);
    }
    return files;
  }

  void lay_out(MemoryDisk& disk, const Damage& damage, const std::vector<std::string>& files) const {
    ASSERT_TRUE(disk.make_folder(folder()) && disk.make_folder(options().ring_directory));
    for (std::size_t n = 1; n <= files.size(); ++n) {
      if (damage.is_missing(n)) continue;
      if (n > segments && !damage.spare) continue;
      ASSERT_TRUE(disk.open(segment(n), OpenMode::create).value()->write(0, files[n - 1]));
    }
    if (damage.ring) std::ranges::copy(ring_, disk.map_shared(ring_file(), ring_.size()).value()->bytes().begin());
  }

  // A folder with all files before the damage.
  static fs::path copy_to(MemoryDisk& disk, const std::vector<std::string>& files) {
    const fs::path folder = "/copy";
    EXPECT_TRUE(disk.make_folder(folder));
    for (std::size_t n = 1; n <= files.size(); ++n) {
      EXPECT_TRUE(disk.open(folder / segment(n).filename(), OpenMode::create).value()->write(0, files[n - 1]));
    }
    return folder;
  }
  [[nodiscard]] const std::vector<std::string>& whole() const noexcept { return files_; }

  struct Messages {
    std::vector<std::uint64_t> left;
    std::vector<std::uint64_t> lost;  // shown as lost by the files
  };

  // The messages that must be readable after a repair: all that remain before the last segment that the files show. The
  // end of that segment is torn, and cut.
  [[nodiscard]] Messages after(const Damage& damage, const std::vector<std::string>& files) const {
    std::size_t last = damage.spare ? segments : 0;
    for (std::size_t n = 1; n <= segments && !damage.spare; ++n) {
      const Left left = damage.left_of(n);
      if (left != Left::nothing && left != Left::empty_file) last = n;
    }
    // Messages before the first file may have been removed in order.
    std::size_t begin = 1;
    while (damage.is_missing(begin)) ++begin;
    Messages messages_after;
    bool torn = false;
    for (std::uint64_t seq = 1; seq <= messages; ++seq) {
      const Place& place = places_[seq];
      const std::string& now = files[place.segment - 1];
      const bool whole =
          !damage.is_missing(place.segment) && place.offset + place.size <= now.size() &&
          now.compare(place.offset, place.size, files_[place.segment - 1], place.offset, place.size) == 0;
      if (place.segment == last && !whole) torn = true;
      if (place.segment < last || (place.segment == last && !torn)) {
        if (whole) messages_after.left.push_back(seq);
        if (!whole && place.segment >= begin) messages_after.lost.push_back(seq);
      }
    }
    return messages_after;
  }

 private:
  struct Place {
    std::size_t segment = 0;
    std::uint64_t offset = 0;
    std::uint32_t size = 0;
  };
  std::vector<std::string> files_;
  std::string ring_;
  std::array<Place, messages + 1> places_{};
};

const Journal& journal() {
  static const Journal journal;
  return journal;
}

std::string refusal(MemoryDisk& disk) {
  try {
    (void)open(disk);
  } catch (const StoreError& error) {
    return error.what();
  }
  return {};
}

void expect_messages(const JournalStore& store, const std::vector<std::uint64_t>& wanted) {
  std::vector<std::uint64_t> missing;
  for (const std::uint64_t seq : wanted) {
    const auto kept = store.read(SeqNum{seq});
    if (!kept) {
      missing.push_back(seq);
    } else {
      EXPECT_EQ(*kept, text(seq));
    }
  }
  EXPECT_EQ(missing, std::vector<std::uint64_t>{});
  EXPECT_GT(store.next_outbound(), SeqNum{wanted.empty() ? 0 : wanted.back()});
}

// A store that opens accepts a message, and opens again with it.
void expect_use(MemoryDisk& disk, const std::vector<std::uint64_t>& wanted) {
  SeqNum next{};
  {
    JournalStore store = open(disk);
    expect_messages(store, wanted);
    next = store.next_outbound();
    EXPECT_TRUE(store.append(next, "one more", UtcTime(3s)));
    store.set_next_outbound(SeqNum{value(next) + 1});
  }
  const JournalStore again = open(disk);
  expect_messages(again, wanted);
  EXPECT_EQ(again.read(next).value_or(""), "one more");
}

void expect_repair(const Damage& damage) {
  SCOPED_TRACE(damage.text());
  const std::vector<std::string> files = journal().damaged(damage);
  const auto [wanted, lost] = journal().after(damage, files);
  MemoryDisk disk;
  journal().lay_out(disk, damage, files);
  const JournalScan scan = scan_journal(disk, folder());
  if (scan.damage && !scan.torn) {
    EXPECT_FALSE(refusal(disk).empty()) << "a damaged journal is not opened";
  }
  std::string said;
  ASSERT_NO_THROW(said = repair_by_gap_fill(disk, folder()));
  if (!lost.empty()) {
    const auto has = [&](std::string_view part) { return said.find(part) != std::string::npos; };
    EXPECT_TRUE(has("lost") || has("replaced by one record") || has("opening the store cuts it")) << said;
  }
  const JournalScan after = scan_journal(disk, folder());
  EXPECT_FALSE(after.damage && !after.torn) << said << after.damage->reason;
  if (const std::string error = refusal(disk); !error.empty()) {
    EXPECT_TRUE(error.starts_with(ring_file().string())) << said << error;
    ASSERT_TRUE(disk.remove(ring_file()));
  }
  expect_use(disk, wanted);
}

void expect_repair_from_copy(const Damage& damage) {
  SCOPED_TRACE(damage.text());
  const std::vector<std::string> files = journal().damaged(damage);
  auto [wanted, lost] = journal().after(damage, files);
  MemoryDisk disk;
  journal().lay_out(disk, damage, files);
  const fs::path copy = Journal::copy_to(disk, journal().whole());
  std::string said;
  ASSERT_NO_THROW(said = repair_from_copy(disk, folder(), copy));
  EXPECT_EQ(said.find("lost ("), std::string::npos) << said;
  wanted.insert(wanted.end(), lost.begin(), lost.end());
  std::ranges::sort(wanted);
  expect_use(disk, wanted);
}

class DamagedTogether : public testing::TestWithParam<std::size_t> {
 protected:
  DamagedTogether() { EXPECT_EQ(journal().files(), segments + 1) << "the last one is the spare"; }
};

TEST(DamagedJournalOfAKilledProcess, is_not_cut_at_a_tear_before_a_segment_whose_header_is_lost) {
  const Damage damage{.first = segments - 1, .left = {Left::bit_flipped, Left::no_header}};
  const std::vector<std::string> files = journal().damaged(damage);
  MemoryDisk disk;
  journal().lay_out(disk, damage, files);
  const JournalScan scan = scan_journal(disk, folder());
  ASSERT_TRUE(scan.damage);
  EXPECT_FALSE(scan.torn);
  EXPECT_NE(refusal(disk).find(segment(segments - 1).string()), std::string::npos);
  const std::string said = repair_by_gap_fill(disk, folder());
  EXPECT_NE(said.find(segment(segments - 1).string() + ", offset "), std::string::npos) << said;
  EXPECT_NE(said.find(segment(segments).string() + ": the header was written again"), std::string::npos) << said;
  EXPECT_EQ(said.find("may be too low"), std::string::npos) << said;
  const std::vector<std::uint64_t> wanted = journal().after(damage, files).left;
  EXPECT_EQ(wanted.size(), messages - 1);
  expect_use(disk, wanted);
}

TEST(DamagedJournalOfAKilledProcess, reports_a_segment_that_nothing_can_be_read_in_and_keeps_its_bytes) {
  const Damage damage{.first = 3, .left = {Left::bytes_only}};
  const std::vector<std::string> files = journal().damaged(damage);
  MemoryDisk disk;
  journal().lay_out(disk, damage, files);
  const std::string said = repair_by_gap_fill(disk, folder());
  EXPECT_NE(said.find("its records are lost"), std::string::npos) << said;
  EXPECT_NE(said.find("replaced by one record"), std::string::npos) << said;
  EXPECT_EQ(disk.bytes(segment(3).string() + ".damaged"), files[2]);
  const JournalStore store = open(disk);
  EXPECT_EQ(store.next_outbound(), SeqNum{messages + 1});
}

TEST_P(DamagedTogether, opens_after_a_repair_with_every_message_that_is_left) {
  const std::size_t first = GetParam();
  for (const auto& [torn, torn_name] : names) {
    for (const auto& [later, later_name] : names) {
      for (const bool spare : {true, false}) {
        for (const bool ring : {true, false}) {
          for (const bool marks : {true, false}) {
            expect_repair({.first = first, .left = {torn, later}, .spare = spare, .ring = ring, .marks = marks});
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

TEST_P(DamagedTogether, has_every_message_after_a_repair_from_a_copy) {
  const std::size_t first = GetParam();
  for (const auto& [torn, torn_name] : names) {
    for (const auto& [later, later_name] : names) {
      for (const bool spare : {true, false}) {
        expect_repair_from_copy({.first = first, .left = {torn, later}, .spare = spare});
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(DamagedTogether, opens_after_a_repair_of_three_segments_in_a_row) {
  const std::size_t first = GetParam() - 1;
  for (const auto& [one, one_name] : names) {
    for (const Left two : {Left::no_header, Left::bytes_only, Left::empty_file, Left::nothing}) {
      for (const auto& [three, three_name] : names) {
        for (const bool spare : {true, false}) {
          expect_repair({.first = first, .left = {one, two, three}, .spare = spare});
          if (HasFailure()) return;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(At, DamagedTogether, testing::Values(2, segments - 1));

}  // namespace
}  // namespace nfx
