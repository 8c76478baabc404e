// Reads a journal while it is written: at every step of its writer, also in the middle of a write, and with the writer
// continuing between any two steps of the reader. A half-written record is never reported as damage or as a message.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "store/forwarding_disk.hpp"
#include "store/journal_archive.hpp"
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

// A disk that calls the test between operations.
class InterruptedDisk final : public ForwardingDisk {
 public:
  using ForwardingDisk::ForwardingDisk;

  std::function<void()> before_step;      // an open, a list, a read
  std::function<void()> amid_write;       // half of the bytes are written
  std::function<std::size_t()> write_at;  // how many bytes that is

  DiskResult<std::unique_ptr<DiskFile>> open(const fs::path& path, OpenMode mode) override {
    interrupt();
    auto opened = ForwardingDisk::open(path, mode);
    if (!opened) return opened;
    return std::make_unique<File>(*this, *std::move(opened));
  }
  DiskResult<std::vector<std::string>> list(const fs::path& folder) override {
    interrupt();
    return ForwardingDisk::list(folder);
  }

 private:
  class File final : public ForwardingFile {
   public:
    File(InterruptedDisk& disk, std::unique_ptr<DiskFile> inner) : ForwardingFile(std::move(inner)), disk_(disk) {}
    DiskResult<std::size_t> read(std::uint64_t offset, std::span<char> into) override {
      disk_.interrupt();
      return ForwardingFile::read(offset, into);
    }
    DiskResult<void> write(std::uint64_t offset, std::span<const char> bytes) override {
      if (!disk_.amid_write) return ForwardingFile::write(offset, bytes);
      const std::size_t half = std::min(bytes.size(), disk_.write_at());
      if (auto done = ForwardingFile::write(offset, bytes.first(half)); !done) return done;
      disk_.amid_write();
      return ForwardingFile::write(offset + half, bytes.subspan(half));
    }

   private:
    InterruptedDisk& disk_;
  };

  void interrupt() {
    if (before_step) before_step();
  }
};

std::string text(std::uint64_t number) {
  return "message " + std::to_string(number) + std::string(100 + number * 37 % 900, 'x');
}

// A session that advances step by step. Messages contain the total number sent, because sequence numbers restart.
class Writer {
 public:
  Writer(Disk& disk, std::uint64_t seed) : random_(seed) {
    options_.directory = "/store";
    options_.ring_directory = "/ring";
    options_.segment_size = 64 * 1024;
    options_.ring_size = 64 * 1024;
    store_.emplace(disk, options_, session_name, now_.utc);
    flusher_.add(*store_);
  }

  void step() {
    const std::uint64_t what = random_() % 100;
    if (what < 70) {
      if (store_->append(SeqNum{next_}, text(sent_ + 1), now_.utc)) {
        ++next_;
        ++sent_;
      }
    } else if (what < 98) {
      now_.monotonic += 20ms;
      now_.utc += 20ms;
      (void)flusher_.turn(now_);
    } else if (sent_ > 0 && store_->position() > 100'000) {
      store_->reset(now_.utc);
      next_ = 1;
      now_.monotonic += 2s;  // so that earlier segments are archived in the next iteration
      now_.utc += 2s;
    }
  }
  // Ends it in order, without the flusher's background work.
  void end() {
    flusher_.remove(*store_);
    store_.reset();
  }

  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
  [[nodiscard]] JournalPosition durable() const noexcept { return store_->durable(); }
  [[nodiscard]] std::uint64_t segments() const noexcept { return store_->counters().segments; }
  [[nodiscard]] fs::path folder() const { return session_folder(options_.directory, session_name); }
  [[nodiscard]] std::mt19937_64& random() noexcept { return random_; }

 private:
  std::mt19937_64 random_;
  JournalOptions options_;
  JournalFlusher flusher_;
  Instant now_{UtcTime(100s), MonotonicTime(100s)};
  std::optional<JournalStore> store_;
  std::uint64_t next_ = 1;
  std::uint64_t sent_ = 0;
};

// Reads everything. All records found must be messages as they were sent, in order, at least up to `durable`.
void read_all(Disk& disk, const Writer& writer, JournalPosition durable) {
  std::uint64_t last = 0;
  const JournalScan scan = scan_journal(disk, writer.folder(), [&](const JournalRecord& record) {
    if (record.header.kind != RecordKind::message) return true;
    const std::string_view number = record.body.substr(8, record.body.find('x') - 8);
    const std::uint64_t now = std::stoull(std::string{number});
    EXPECT_EQ(record.body, text(now));
    EXPECT_TRUE(last == 0 || now == last + 1) << now << " after " << last;
    last = now;
    return true;
  });
  EXPECT_FALSE(scan.damage && !scan.torn)
      << scan.damage->file << ", offset " << scan.damage->offset << ": " << scan.damage->reason;
  EXPECT_GE(scan.end, durable);
  EXPECT_LE(last, writer.sent());
}

TEST(JournalLiveScan, is_never_damaged_for_a_reader_that_looks_in_the_middle_of_any_write) {
  MemoryDisk memory;
  InterruptedDisk disk(memory);
  std::optional<Writer> writer;
  writer.emplace(disk, 3);
  std::uint64_t looks = 0;
  disk.write_at = [&] { return static_cast<std::size_t>(writer->random()() % 5000); };
  disk.amid_write = [&] {
    // Creating segments in advance takes a thousand writes of zeros; it is enough to look at some of them.
    if (looks++ % 4 != 0) return;
    read_all(memory, *writer, writer->durable());
  };
  for (int i = 0; i < 1500 && !testing::Test::HasFailure(); ++i) writer->step();
  EXPECT_GT(looks, 300U);
  EXPECT_GT(writer->segments(), 4U);
  disk.amid_write = {};
}

TEST(JournalLiveScan, is_never_damaged_for_a_reader_whose_every_step_the_writer_overtakes) {
  for (std::uint64_t seed = 1; seed <= 40 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    MemoryDisk memory;
    InterruptedDisk disk(memory);
    Writer writer(memory, seed);
    for (std::uint64_t i = 0; i < 40 * seed; ++i) writer.step();
    disk.before_step = [&] {
      for (std::uint64_t i = writer.random()() % 60; i > 0; --i) writer.step();
    };
    for (int look = 0; look < 8; ++look) read_all(disk, writer, writer.durable());
  }
}

// A process has written part of a record to the file.
TEST(JournalLiveScan, takes_a_record_that_is_half_there_for_none_and_then_for_a_whole_one) {
  MemoryDisk memory;
  InterruptedDisk disk(memory);
  JournalOptions options;
  options.directory = "/store";
  options.ring_directory = "/ring";
  options.segment_size = 64 * 1024;
  options.ring_size = 64 * 1024;
  JournalStore store(disk, options, session_name, UtcTime(1s));
  ASSERT_TRUE(store.append(SeqNum{1}, "first"));
  ASSERT_TRUE(store.sync(UtcTime(2s)));
  ASSERT_TRUE(store.append(SeqNum{2}, text(2)));
  std::size_t half = 0, seen_half = 0;
  disk.write_at = [&] { return half; };
  const auto numbers = [&] {
    std::vector<std::uint64_t> found;
    const JournalScan scan =
        scan_journal(memory, session_folder(options.directory, session_name), [&](const JournalRecord& record) {
          if (record.header.kind == RecordKind::message) found.push_back(record.header.seq);
          return true;
        });
    seen_half += scan.torn ? 1 : 0;
    EXPECT_FALSE(scan.damage && !scan.torn) << scan.damage->reason;
    return found;
  };
  std::vector<std::uint64_t> amid;
  disk.amid_write = [&] {
    if (amid.empty()) amid = numbers();
  };
  half = 60;  // the record's header, and some of its body
  ASSERT_TRUE(store.sync(UtcTime(3s)));
  EXPECT_EQ(amid, (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(seen_half, 1U);
  EXPECT_EQ(numbers(), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(seen_half, 1U);
  disk.amid_write = {};
}

TEST(JournalArchive, has_every_message_that_was_put_away_in_order) {
  MemoryDisk memory;
  Writer writer(memory, 9);
  for (int i = 0; i < 4000; ++i) writer.step();
  const std::vector<ArchivedSegment> archived = list_archive(memory, writer.folder());
  ASSERT_GT(archived.size(), 3U);
  std::uint64_t last = 0;
  const auto visit = [&](const JournalRecord& record) {
    if (record.header.kind == RecordKind::message) {
      EXPECT_EQ(record.body, text(++last));
    }
    return true;
  };
  for (const ArchivedSegment& segment : archived) {
    const JournalScan scan = scan_archived(memory, segment, visit);
    EXPECT_FALSE(scan.damage) << segment.path << ": " << scan.damage->reason;
    ASSERT_TRUE(segment.next) << segment.path;
    EXPECT_EQ(scan.end, segment.next->base);
    EXPECT_EQ(value(scan.next_outbound), segment.next->next_outbound);
  }
  EXPECT_GT(last, 100U);
  // ... and the journal continues where the archive ends.
  std::uint64_t first_left = 0;
  (void)scan_journal(memory, writer.folder(), [&](const JournalRecord& record) {
    if (record.header.kind != RecordKind::message) return true;
    first_left = std::stoull(std::string{record.body.substr(8, record.body.find('x') - 8)});
    return false;
  });
  EXPECT_EQ(first_left, last + 1);
  writer.end();
}

TEST(JournalArchive, names_file_and_offset_of_what_is_damaged_or_cut_off) {
  MemoryDisk memory;
  Writer writer(memory, 9);
  for (int i = 0; i < 4000; ++i) writer.step();
  std::vector<ArchivedSegment> archived = list_archive(memory, writer.folder());
  ASSERT_GT(archived.size(), 2U);
  const std::string whole = memory.bytes(archived[1].path);
  memory.bytes(archived[1].path)[20'000] ^= 1;
  JournalScan scan = scan_archived(memory, archived[1]);
  ASSERT_TRUE(scan.damage);
  EXPECT_FALSE(scan.torn);
  EXPECT_EQ(scan.damage->file, archived[1].path.string());
  EXPECT_GT(scan.damage->offset, 18'000U);
  EXPECT_LE(scan.damage->offset, 20'000U);
  // The last record is replaced by zeros: only the next segment shows that.
  memory.bytes(archived[1].path) = whole;
  JournalPosition last = 0;
  std::uint64_t at = 0;
  (void)scan_archived(memory, archived[1], [&](const JournalRecord& record) {
    last = record.position;
    at = record.offset;
    return true;
  });
  memory.bytes(archived[1].path).replace(at, whole.size() - at, whole.size() - at, '\0');
  scan = scan_archived(memory, archived[1]);
  ASSERT_TRUE(scan.damage);
  EXPECT_EQ(scan.damage->position, last);
  writer.end();
}

}  // namespace
}  // namespace nfx
