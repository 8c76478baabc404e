// The cost of a repair: linear in the size of the journal, whatever is damaged.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "store/forwarding_disk.hpp"
#include "store/journal_bytes.hpp"
#include "store/journal_flusher.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_search.hpp"
#include "store/journal_store.hpp"
#include "store/memory_disk.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using test::MemoryDisk;
using test::session_name;
namespace fs = std::filesystem;

// Counts bytes read and written, and syncs.
class CountingDisk final : public ForwardingDisk {
 public:
  using ForwardingDisk::ForwardingDisk;
  std::uint64_t bytes = 0;
  std::uint64_t syncs = 0;

  DiskResult<std::unique_ptr<DiskFile>> open(const fs::path& path, OpenMode mode) override {
    auto opened = ForwardingDisk::open(path, mode);
    if (!opened) return opened;
    return std::make_unique<File>(*this, *std::move(opened));
  }

 private:
  class File final : public ForwardingFile {
   public:
    File(CountingDisk& disk, std::unique_ptr<DiskFile> inner) : ForwardingFile(std::move(inner)), disk_(disk) {}
    DiskResult<std::size_t> read(std::uint64_t offset, std::span<char> into) override {
      auto got = ForwardingFile::read(offset, into);
      disk_.bytes += got.value_or(0);
      return got;
    }
    DiskResult<void> write(std::uint64_t offset, std::span<const char> from) override {
      disk_.bytes += from.size();
      return ForwardingFile::write(offset, from);
    }
    DiskResult<void> sync() override {
      ++disk_.syncs;
      return ForwardingFile::sync();
    }

   private:
    CountingDisk& disk_;
  };
};

// A journal of messages and of many sequence-number records.
class RepairWork : public testing::Test {
 protected:
  static constexpr std::uint64_t messages = 700;

  void make_journal(MemoryDisk& disk) {
    options_.directory = "/store";
    options_.ring_directory = "/ring";
    options_.segment_size = 64 * 1024;
    options_.ring_size = 64 * 1024;
    folder_ = session_folder(options_.directory, session_name);
    JournalStore store(disk, options_, session_name, UtcTime(1s));
    JournalFlusher flusher;
    flusher.add(store);
    Instant now{UtcTime(2s), MonotonicTime(1s)};
    for (std::uint64_t seq = 1; seq <= messages; ++seq) {
      while (!store.append(SeqNum{seq}, "8=FIX.4.4 message " + std::to_string(seq) + std::string(seq % 200, 'x'),
                           now.utc)) {
        now.monotonic += 1ms;
        flusher.turn(now);
      }
      store.set_next_outbound(SeqNum{seq + 1});
      store.set_next_inbound(SeqNum{seq});
    }
  }
  [[nodiscard]] fs::path segment(std::size_t n) const { return folder_ / ("0000000" + std::to_string(n) + ".nfxj"); }
  [[nodiscard]] std::uint64_t size(MemoryDisk& disk) const {
    std::uint64_t sum = 0;
    for (std::size_t n = 1; disk.exists(segment(n)); ++n) sum += disk.bytes(segment(n)).size();
    return sum;
  }

  JournalOptions options_;
  fs::path folder_;
};

TEST_F(RepairWork, reads_a_store_a_bounded_number_of_times_however_it_is_damaged) {
  MemoryDisk good;
  make_journal(good);
  const std::size_t segments = 3;
  ASSERT_TRUE(good.exists(segment(segments)));
  std::array<std::string, segments> before;
  for (std::size_t n = 0; n < segments; ++n) before[n] = good.bytes(segment(n + 1));
  std::mt19937_64 random(11);
  std::size_t repaired = 0;
  for (int round = 0; round < 300; ++round) {
    for (std::size_t n = 0; n < segments; ++n) {
      if (!good.exists(segment(n + 1))) {  // given up
        ASSERT_TRUE(good.open(segment(n + 1), OpenMode::create));
      }
      good.bytes(segment(n + 1)) = before[n];
      const std::string saved = segment(n + 1).string() + ".damaged";
      if (good.exists(saved)) static_cast<void>(good.remove(saved));
    }
    std::string& bytes = good.bytes(segment(1 + random() % segments));
    const std::size_t at = random() % bytes.size();
    const std::size_t some = std::min<std::size_t>(1 + random() % 9000, bytes.size() - at);
    switch (random() % 6) {
      case 0:  // one byte in every hundred
        for (std::size_t i = random() % 100; i < bytes.size(); i += 100) bytes[i] ^= 0x40;
        break;
      case 1:
        for (int flips = 0; flips < 200; ++flips)
          bytes[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
        break;
      case 2: bytes.erase(at, some); break;
      case 3: bytes.insert(at, bytes.substr(random() % bytes.size(), some)); break;
      case 4: bytes.replace(at, some, some, static_cast<char>(random() % 256)); break;
      default: bytes.resize(at); break;
    }
    CountingDisk disk(good);
    std::string said;
    try {
      said = repair_by_gap_fill(disk, folder_);
      ++repaired;
    } catch (const StoreError& error) {
      said = error.what();  // a header and its first record are lost
    }
    EXPECT_LE(disk.bytes, 24 * size(good) + 1024 * 1024) << "round " << round << ": " << said;
    EXPECT_LE(disk.syncs, 4 * segments) << "round " << round << ": " << said;
    EXPECT_LE(size(good), 2 * segments * options_.segment_size) << "round " << round << ": " << said;
  }
  EXPECT_GT(repaired, 200U);
}

TEST_F(RepairWork, keeps_every_record_between_many_damages) {
  MemoryDisk disk;
  make_journal(disk);
  std::string& bytes = disk.bytes(segment(2));
  std::size_t damaged = 0;
  for (std::size_t at = 5000; at < 50'000; at += 1000, ++damaged) bytes[at] ^= 1;
  (void)repair_by_gap_fill(disk, folder_);
  const JournalStore store(disk, options_, session_name, UtcTime(1s));
  std::size_t lost = 0;
  for (std::uint64_t seq = 1; seq <= messages; ++seq) lost += store.read(SeqNum{seq}) ? 0 : 1;
  EXPECT_GT(lost, 10U);
  EXPECT_LE(lost, damaged);
  EXPECT_EQ(store.next_outbound(), SeqNum{messages + 1});
  EXPECT_EQ(store.next_inbound(), SeqNum{messages});
}

class BytesFile final : public DiskFile {
 public:
  explicit BytesFile(std::string bytes) : bytes_(std::move(bytes)) {}
  DiskResult<std::uint64_t> size() override { return bytes_.size(); }
  DiskResult<std::size_t> read(std::uint64_t offset, std::span<char> into) override {
    return bytes_.substr(offset).copy(into.data(), into.size());
  }
  DiskResult<void> write(std::uint64_t, std::span<const char>) override { return {}; }
  DiskResult<void> truncate(std::uint64_t) override { return {}; }
  DiskResult<void> reserve(std::uint64_t) override { return {}; }
  DiskResult<void> sync() override { return {}; }

 private:
  std::string bytes_;
};

TEST(RecordSearch, computes_checksums_of_a_bounded_number_of_bytes_where_everything_looks_like_a_record) {
  constexpr std::size_t size = 256 * 1024;
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at + sizeof(RecordHeader) <= size; at += sizeof(RecordHeader)) {
    const RecordHeader header{static_cast<std::uint32_t>(size - at), 1, 2, 3, RecordKind::message, 0, 0, 0};
    std::memcpy(bytes.data() + at, &header, sizeof header);
  }
  BytesFile file(bytes);
  detail::PiecewiseFile pieces(file);
  detail::RecordSearch search(pieces, {.offset = 0, .begin = 4096, .end = 4096 + size});
  EXPECT_EQ(search.next_whole(4096).value(), 4096 + size);
  EXPECT_TRUE(search.given_up());
  EXPECT_LE(search.checked(), detail::RecordSearch::checked_per_byte * size);
}

TEST(RecordSearch, finds_the_only_position_at_which_a_checksum_is_right) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    const JournalPosition position = random() % (std::uint64_t{1} << 32) / 8 * 8;
    const std::string body(random() % 300, 'b');
    std::string record(padded(sizeof(RecordHeader) + body.size()), '\0');
    detail::write_record(record.data(), position, {0, 0, random(), 7, RecordKind::message, 0, 0, 0}, body);
    record.resize(sizeof(RecordHeader) + body.size());
    EXPECT_EQ(detail::low_position_of(record), static_cast<std::uint32_t>(position));
  }
}

// A segment with records of these positions, each at its place in the file.
std::string segment_of(JournalPosition base, std::size_t records) {
  std::string bytes(segment_header_size, '\0');
  for (std::size_t i = 0; i < records; ++i) {
    const std::string body(100 + i % 50, 'b');
    const std::size_t at = bytes.size();
    bytes.resize(at + padded(sizeof(RecordHeader) + body.size()), '\0');
    detail::write_record(bytes.data() + at, base + (at - segment_header_size),
                         {0, 0, i + 1, 7, RecordKind::message, 0, 0, 0}, body);
  }
  return bytes;
}

TEST(FindBase, needs_two_records_that_agree_wherever_they_are) {
  constexpr JournalPosition base = 5'000'000'008;
  std::string bytes = segment_of(base, 20);
  // Only the third record and the last are whole.
  for (std::size_t i = 0, at = segment_header_size; i < 19; ++i) {
    RecordHeader header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    if (i != 2) bytes[at + sizeof header] ^= 1;
    at += padded(header.size);
  }
  BytesFile file(bytes);
  EXPECT_EQ(detail::find_base(file, {.lowest = base - 1'000'000, .highest = base + 1'000'000}).value(), base);
  EXPECT_EQ(detail::find_base(file, {.lowest = base - 4'000'000'000, .highest = base}).value(), base);
  EXPECT_EQ(detail::find_base(file, {.lowest = base + 8, .highest = base + 1'000'000}).value(), std::nullopt);
}

TEST(FindBase, takes_one_record_alone_in_the_range_of_one_segment_only) {
  constexpr JournalPosition base = 5'000'000'008;
  BytesFile file(segment_of(base, 1));
  EXPECT_EQ(detail::find_base(file, {.lowest = base - 1'000'000, .highest = base + 1'000'000}).value(), base);
  EXPECT_EQ(detail::find_base(file, {.lowest = base - 4'000'000'000, .highest = base}).value(), std::nullopt);
}

TEST(FindBase, ends_where_the_file_has_no_records) {
  const detail::BaseRange range{.lowest = 4096, .highest = 1'000'000};
  BytesFile none(""), zeros(std::string(100'000, '\0')), text(std::string(100'000, 'x'));
  EXPECT_EQ(detail::find_base(none, range).value(), std::nullopt);
  EXPECT_EQ(detail::find_base(zeros, range).value(), std::nullopt);
  EXPECT_EQ(detail::find_base(text, range).value(), std::nullopt);
}

}  // namespace
}  // namespace nfx
