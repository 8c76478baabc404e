// Rings left by killed processes: of this version, which may use a part of the memory, and of earlier ones.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>

#include "store/journal_flusher.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_store.hpp"
#include "store/left_rings.hpp"
#include "store/memory_disk.hpp"
#include "store/ring_header.hpp"
#include "store/sizes.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using detail::ring_header_size;
using detail::RingHeader;
using test::kib;
using test::MemoryDisk;
using test::session_name;
namespace fs = std::filesystem;

class RingLayout : public testing::Test {
 protected:
  RingLayout() {
    options_.directory = "/store";
    options_.ring_directory = "/ring";
    options_.segment_size = 4096 * kib;
    options_.ring_size = 64 * kib;
    options_.retain_messages = 1 << 16;
    folder_ = session_folder(options_.directory, session_name);
  }

  void open() { store_.emplace(disk_, options_, session_name, UtcTime(1s)); }
  void append(std::uint64_t count, std::size_t size) {
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_TRUE(store_->append(SeqNum{seq_}, text(seq_, size), UtcTime(2s))) << store_->condition_text();
      ++seq_;
      store_->set_next_outbound(SeqNum{seq_}, UtcTime(2s));
    }
  }
  void kill() {
    disk_.die_now();
    store_.reset();
    disk_.kill();
  }
  static std::string text(std::uint64_t seq, std::size_t size) {
    return std::string(size, static_cast<char>('a' + seq % 26));
  }
  [[nodiscard]] fs::path ring() const { return ring_path(options_.ring_directory, folder_); }

  MemoryDisk disk_;
  JournalOptions options_;
  fs::path folder_;
  std::optional<JournalStore> store_;
  std::uint64_t seq_ = 1;
};

// An earlier version had each record at its position modulo the ring's size, without `origin` and `span`.
TEST_F(RingLayout, takes_what_the_files_lack_from_a_ring_that_a_version_before_left) {
  open();
  append(50, 300);
  store_.reset();
  open();
  append(100, 300);
  const JournalPosition head = store_->position();
  kill();
  {
    const auto memory = disk_.map_shared(ring(), ring_header_size + options_.ring_size).value();
    auto& header = *reinterpret_cast<RingHeader*>(memory->bytes().data());
    char* const bytes = memory->bytes().data() + ring_header_size;
    const std::string before(bytes, options_.ring_size);
    const JournalPosition origin = header.origin;
    ASSERT_NE(origin, 0U);
    for (JournalPosition at = origin; at < head; ++at)
      bytes[at & (options_.ring_size - 1)] = before[(at - origin) & (options_.ring_size - 1)];
    header.origin = 0;
    header.span = 0;
  }
  std::uint64_t seen = 0;
  const JournalScan scan = scan_journal(disk_, folder_);
  EXPECT_EQ(scan_left_ring(disk_, ring(), session_name, scan.end, [&](const JournalRecord&) { return ++seen != 0; }),
            head);
  EXPECT_GT(seen, 100U);
  open();
  EXPECT_GT(store_->recovery().taken_from_ring, 100 * 300U);
  EXPECT_EQ(store_->next_outbound(), SeqNum{151});
  for (std::uint64_t seq = 1; seq < seq_; ++seq) ASSERT_EQ(store_->read(SeqNum{seq}), text(seq, 300)) << seq;
}

TEST_F(RingLayout, takes_what_the_files_lack_from_a_part_of_a_ring_that_went_round) {
  options_.lean = true;
  options_.ring_size = 1024 * kib;
  disk_.provide_up_to(84 * kib);
  open();
  JournalFlusher flusher;
  flusher.add(*store_);
  store_->prepare();
  Instant now{UtcTime(2s), MonotonicTime(2s)};
  for (int round = 0; round < 20; ++round) {
    (void)flusher.turn(now);
    now.monotonic += 20ms;
    append(10, 2900);
  }
  const JournalPosition head = store_->position();
  kill();
  const JournalScan scan = scan_journal(disk_, folder_);
  ASSERT_LT(scan.end, head);
  EXPECT_EQ(scan_left_ring(disk_, ring(), session_name, scan.end, [](const JournalRecord&) { return true; }), head);
  open();
  EXPECT_EQ(store_->recovery().taken_from_ring, head - scan.end);
  for (std::uint64_t seq = 1; seq < seq_; ++seq) ASSERT_EQ(store_->read(SeqNum{seq}), text(seq, 2900)) << seq;
}

TEST_F(RingLayout, refuses_a_part_that_no_ring_has) {
  open();
  append(20, 300);
  kill();
  const auto memory = disk_.map_shared(ring(), ring_header_size + options_.ring_size).value();
  auto& header = *reinterpret_cast<RingHeader*>(memory->bytes().data());
  for (const std::uint64_t span : {std::uint64_t{3000}, std::uint64_t{1} << 40, std::uint64_t{1}}) {
    header.span = span;
    EXPECT_EQ(scan_left_ring(disk_, ring(), session_name, 0, [](const JournalRecord&) { return true; }), 0U) << span;
  }
  header.span = 0;
  header.origin = 4;
  EXPECT_EQ(scan_left_ring(disk_, ring(), session_name, 0, [](const JournalRecord&) { return true; }), 0U);
}

}  // namespace
}  // namespace nfx
