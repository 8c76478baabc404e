// Recordings: every packet is read back unchanged, drops are stated where they happened, and the end is named.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "nexusfix/recording/recording.hpp"
#include "recording/format.hpp"
#include "recording/pace.hpp"
#include "store/disk.hpp"
#include "store/journal_flusher.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_store.hpp"
#include "temporary_folder.hpp"

namespace nfx::market {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

struct Packet {
  std::uint64_t number;
  RecordingKind kind;
  ReceivedFrom from;
  std::string bytes;
};

class RecordingTest : public ::testing::Test {
 protected:
  RecordingTest() {
    options_.folder = folder_.file("recording");
    options_.ring_directory = folder_.file("ring");
    options_.segment_bytes = 1024 * 1024;
    options_.buffer_bytes = 256 * 1024;
  }

  void begin() { recorder_ = std::make_unique<Recorder>(posix_disk(), options_, flusher_, UtcTime{1s}); }
  void end() { recorder_.reset(); }
  // The flusher's thread, until nothing is left to do.
  void flush() {
    now_.monotonic += 1s;
    now_.utc += 1s;
    while (flusher_.turn(now_) == Duration::zero()) continue;
  }

  RecordingScan read(std::vector<Packet>* packets = nullptr) { return read_from(options_.folder, packets); }
  RecordingScan read_from(const fs::path& folder, std::vector<Packet>* packets = nullptr, JournalPosition from = 0) {
    return read_recording({.folder = folder, .ring_directory = options_.ring_directory, .from = from},
                          [&](const RecordedPacket& packet) {
                            if (packets != nullptr)
                              packets->push_back({packet.number, packet.kind, packet.from, std::string{packet.bytes}});
                            return true;
                          });
  }

  [[nodiscard]] fs::path journal() const { return session_folder(options_.folder, recording_identity); }

  nfx::test::TemporaryFolder folder_;
  RecorderOptions options_;
  Instant now_{UtcTime{2s}, MonotonicTime{1s}};
  JournalFlusher flusher_;
  std::unique_ptr<Recorder> recorder_;
};

ReceivedFrom at(std::int64_t ns, std::uint16_t line = 0, std::uint32_t connection = 0) {
  return {UtcTime{Duration{ns}}, StampSource::kernel, line, connection};
}

// Lengths from zero up to, now and then, the longest datagram's.
std::string payload(std::uint64_t number) {
  std::string bytes = std::to_string(number) + ":";
  bytes.append(number % 997 == 0 ? 65'000 : number % 1500, static_cast<char>('a' + number % 26));
  return bytes;
}

// In a child process that is killed after it.
template <class Work>
void killed_after(Work&& work) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    work();
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST_F(RecordingTest, with_a_thread_writes_more_than_its_buffer_and_ends_in_order) {
  constexpr std::uint64_t count = 40;
  const auto long_bytes = [](std::uint64_t number) {
    return std::string(60'000, static_cast<char>('a' + number % 26));
  };
  {
    RecordingThread recording{options_};
    for (std::uint64_t number = 0; number < count; ++number) {
      // Refused while the buffer is full: nothing but the thread makes space.
      while (!recording.recorder().datagram(at(static_cast<std::int64_t>(number)), long_bytes(number)))
        std::this_thread::yield();
    }
  }
  std::vector<Packet> packets;
  const RecordingScan scan = read(&packets);
  EXPECT_EQ(scan.end, RecordingEnd::closed) << scan.reason;
  std::erase_if(packets, [](const Packet& packet) { return packet.kind != RecordingKind::datagram; });
  ASSERT_EQ(packets.size(), count);
  for (std::uint64_t number = 0; number < count; ++number) EXPECT_EQ(packets[number].bytes, long_bytes(number));
}

TEST_F(RecordingTest, reads_back_every_packet_as_it_was_received) {
  begin();
  const std::string binary{"\0\1\xFF\n", 4};
  ASSERT_TRUE(recorder_->datagram({UtcTime{5ns}, StampSource::hardware, 3, 0}, binary));
  ASSERT_TRUE(recorder_->datagram(at(6), ""));
  ASSERT_TRUE(recorder_->datagram(at(7), "cut", true));
  ASSERT_TRUE(recorder_->stream(at(8, 65535, 4'000'000'000), "bytes of a connection"));
  ASSERT_TRUE(recorder_->kernel_dropped(at(9, 1), 17));
  end();
  std::vector<Packet> packets;
  const RecordingScan scan = read(&packets);
  EXPECT_EQ(scan.end, RecordingEnd::closed) << scan.reason;
  ASSERT_EQ(packets.size(), 5u);
  EXPECT_EQ(packets[0].bytes, binary);
  EXPECT_EQ(packets[0].from.stamp, StampSource::hardware);
  EXPECT_EQ(packets[0].from.line, 3);
  EXPECT_EQ(packets[0].from.at, UtcTime{5ns});
  EXPECT_EQ(packets[1].kind, RecordingKind::datagram);
  EXPECT_EQ(packets[1].bytes, "");
  EXPECT_EQ(packets[2].kind, RecordingKind::cut_datagram);
  EXPECT_EQ(packets[3].kind, RecordingKind::stream);
  EXPECT_EQ(packets[3].from.line, 65535);
  EXPECT_EQ(packets[3].from.connection, 4'000'000'000u);
  const RecordedPacket drops{.kind = packets[4].kind, .bytes = packets[4].bytes};
  ASSERT_EQ(drops.kind, RecordingKind::kernel_dropped);
  EXPECT_EQ(drops_in(drops).packets, 17u);
  for (std::size_t i = 0; i < packets.size(); ++i) EXPECT_EQ(packets[i].number, i + 1);
  EXPECT_EQ(scan.missing, 0u);
  EXPECT_EQ(scan.recorders, 1u);
  EXPECT_EQ(scan.killed, 0u);
}

TEST_F(RecordingTest, loses_nothing_over_many_segments_while_the_flusher_keeps_up) {
  begin();
  constexpr std::uint64_t count = 20'000;
  for (std::uint64_t i = 1; i <= count; ++i) {
    ASSERT_TRUE(recorder_->datagram(at(static_cast<std::int64_t>(i)), payload(i))) << i << recorder_->trouble();
    if (i % 50 == 0) flush();
  }
  EXPECT_EQ(recorder_->counters().dropped, 0u);
  end();
  std::vector<Packet> packets;
  const RecordingScan scan = read(&packets);
  EXPECT_EQ(scan.end, RecordingEnd::closed);
  ASSERT_EQ(packets.size(), count);
  for (const Packet& packet : packets) ASSERT_EQ(packet.bytes, payload(packet.number));
  EXPECT_GT(std::distance(fs::directory_iterator{journal()}, fs::directory_iterator{}), 10);
}

TEST_F(RecordingTest, takes_a_whole_buffer_at_once_right_from_the_start) {
  options_.buffer_bytes = 8 * 1024 * 1024;
  options_.segment_bytes = 16 * 1024 * 1024;
  begin();
  const std::string bytes(1000, 'b');
  for (int i = 0; i < 7500; ++i) ASSERT_TRUE(recorder_->datagram(at(i), bytes)) << i;
  EXPECT_EQ(recorder_->counters().dropped, 0u);
}

TEST_F(RecordingTest, counts_what_a_full_buffer_drops_and_states_it_before_the_next_record) {
  begin();
  const std::string bytes(1000, 'b');
  std::uint64_t dropped = 0;
  while (dropped < 100) dropped += recorder_->datagram(at(1), bytes) ? 0 : 1;
  const std::uint64_t recorded = recorder_->counters().records;
  EXPECT_GT(recorded, 100u);
  EXPECT_EQ(recorder_->counters().dropped, 100u);
  EXPECT_EQ(recorder_->counters().dropped_bytes, 100'000u);
  EXPECT_NE(recorder_->trouble(), "");
  flush();
  EXPECT_TRUE(recorder_->datagram(at(2), "after"));
  EXPECT_EQ(recorder_->trouble(), "");
  end();
  std::vector<Packet> packets;
  const RecordingScan scan = read(&packets);
  ASSERT_EQ(packets.size(), recorded + 2);
  EXPECT_EQ(scan.missing, 0u);
  const Packet& drop = packets[recorded];
  ASSERT_EQ(drop.kind, RecordingKind::dropped);
  const RecordedPacket drops{.kind = drop.kind, .bytes = drop.bytes};
  EXPECT_EQ(drops_in(drops).packets, 100u);
  EXPECT_EQ(drops_in(drops).bytes, 100'000u);
  EXPECT_EQ(packets.back().bytes, "after");
}

TEST_F(RecordingTest, states_drops_at_the_end_too) {
  begin();
  while (recorder_->datagram(at(1), std::string(1000, 'b'))) continue;
  end();
  std::vector<Packet> packets;
  EXPECT_EQ(read(&packets).end, RecordingEnd::closed);
  EXPECT_EQ(packets.back().kind, RecordingKind::dropped);
}

TEST_F(RecordingTest, drops_and_counts_a_packet_that_no_buffer_takes) {
  begin();
  EXPECT_FALSE(recorder_->stream(at(1), std::string(options_.buffer_bytes, 'l')));
  EXPECT_TRUE(recorder_->stream(at(1), "short"));
  EXPECT_EQ(recorder_->counters().dropped, 1u);
}

TEST_F(RecordingTest, describes_its_lines_in_each_segment) {
  begin();
  recorder_->describe(at(1, 0), "A 239.1.1.1:5000@eth0");
  recorder_->describe(at(1, 1), "B 239.1.1.2:5000@eth1");
  for (int i = 0; i < 3000; ++i) {
    ASSERT_TRUE(recorder_->datagram(at(i), std::string(1000, 'd')));
    if (i % 50 == 0) flush();
    if (i % 50 == 0) recorder_->tend(UtcTime{Duration{i}});
  }
  end();
  std::vector<Packet> packets;
  (void)read(&packets);
  std::size_t first = 0, second = 0;
  for (const Packet& packet : packets) {
    if (packet.kind != RecordingKind::line) continue;
    EXPECT_EQ(packet.bytes, packet.from.line == 0 ? "A 239.1.1.1:5000@eth0" : "B 239.1.1.2:5000@eth1");
    ++(packet.from.line == 0 ? first : second);
  }
  EXPECT_GE(first, 3u);
  EXPECT_EQ(first, second);
}

TEST_F(RecordingTest, continues_with_the_next_number_when_it_is_opened_again) {
  for (int round = 0; round < 3; ++round) {
    begin();
    EXPECT_EQ(recorder_->next_number(), static_cast<std::uint64_t>(round) * 10 + 1);
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(recorder_->datagram(at(i), "again"));
    end();
  }
  const RecordingScan scan = read();
  EXPECT_EQ(scan.records, 30u);
  EXPECT_EQ(scan.last_number, 30u);
  EXPECT_EQ(scan.recorders, 3u);
  EXPECT_EQ(scan.killed, 0u);
}

TEST_F(RecordingTest, is_readable_while_it_is_written_and_from_where_reading_ended) {
  begin();
  for (std::uint64_t i = 1; i <= 100; ++i) ASSERT_TRUE(recorder_->datagram(at(1), payload(i)));
  flush();
  std::vector<Packet> packets;
  const RecordingScan first = read(&packets);
  EXPECT_EQ(first.end, RecordingEnd::being_written);
  EXPECT_EQ(first.records, 100u);
  EXPECT_NE(first.reason.find(std::to_string(::getpid())), std::string::npos) << first.reason;
  for (std::uint64_t i = 101; i <= 200; ++i) ASSERT_TRUE(recorder_->datagram(at(1), payload(i)));
  flush();
  const RecordingScan second = read_from(options_.folder, &packets, first.position);
  EXPECT_EQ(second.records, 100u);
  EXPECT_EQ(second.first_number, 101u);
  ASSERT_EQ(packets.size(), 200u);
  for (const Packet& packet : packets) EXPECT_EQ(packet.bytes, payload(packet.number));
}

TEST_F(RecordingTest, of_a_killed_recorder_is_read_to_the_last_packet_and_names_the_kill) {
  // Once with all of it in memory alone, once with most of it in files.
  for (const bool flushed : {false, true}) {
    fs::remove_all(options_.folder);
    killed_after([&] {
      begin();
      for (std::uint64_t i = 1; i <= 2000; ++i) {
        if (!recorder_->datagram(at(1), payload(1 + i % 90))) ::_exit(1);
        if (flushed && i % 70 == 0) flush();
      }
    });
    std::vector<Packet> packets;
    const RecordingScan scan = read(&packets);
    EXPECT_EQ(scan.end, RecordingEnd::killed) << scan.reason;
    EXPECT_EQ(packets.size(), 2000u);
    EXPECT_GT(scan.bytes_from_memory, 0u);
    EXPECT_EQ(scan.killed, 1u);
    EXPECT_NE(scan.reason.find("shared memory"), std::string::npos) << scan.reason;
    for (const Packet& packet : packets) ASSERT_EQ(packet.bytes, payload(1 + packet.number % 90));
    // The next recorder continues it.
    begin();
    EXPECT_EQ(recorder_->next_number(), 2001u);
    EXPECT_EQ(recorder_->recovery().taken_from_ring, scan.bytes_from_memory);
    end();
    EXPECT_EQ(read().records, 2000u);
    EXPECT_EQ(read().killed, 1u);
    EXPECT_EQ(read().end, RecordingEnd::closed);
  }
}

TEST_F(RecordingTest, without_the_memory_of_a_killed_recorder_ends_where_its_files_end) {
  killed_after([&] {
    begin();
    for (std::uint64_t i = 1; i <= 100; ++i) (void)recorder_->datagram(at(1), payload(i));
    flush();
    for (std::uint64_t i = 101; i <= 150; ++i) (void)recorder_->datagram(at(1), payload(i));
  });
  EXPECT_EQ(read().records, 150u);
  fs::remove_all(options_.ring_directory);
  const RecordingScan scan = read();
  EXPECT_EQ(scan.end, RecordingEnd::killed);
  EXPECT_EQ(scan.records, 100u);
  EXPECT_NE(scan.reason.find("gone"), std::string::npos) << scan.reason;
}

TEST_F(RecordingTest, that_is_damaged_is_read_up_to_the_damage_with_file_and_offset) {
  begin();
  for (std::uint64_t i = 1; i <= 100; ++i) ASSERT_TRUE(recorder_->datagram(at(1), "number " + std::to_string(i)));
  end();
  const fs::path file = journal() / "00000001.nfxj";
  std::string bytes;
  {
    std::ifstream in{file, std::ios::binary};
    bytes.assign(std::istreambuf_iterator<char>{in}, {});
  }
  const std::size_t place = bytes.find("number 51");
  ASSERT_NE(place, std::string::npos);
  bytes[place] = 'N';
  std::ofstream{file, std::ios::binary} << bytes;
  const RecordingScan scan = read();
  EXPECT_EQ(scan.end, RecordingEnd::damaged);
  EXPECT_EQ(scan.last_number, 50u);
  EXPECT_NE(scan.reason.find(file.string() + ", offset "), std::string::npos) << scan.reason;
}

TEST_F(RecordingTest, deletes_its_oldest_files_as_its_options_bound_them) {
  options_.retain_bytes = 4 * 1024 * 1024;
  begin();
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_TRUE(recorder_->datagram(at(i), std::string(1000, 'd')));
    if (i % 50 == 0) flush();
  }
  end();
  const RecordingScan scan = read();
  EXPECT_EQ(scan.end, RecordingEnd::closed);
  EXPECT_GT(scan.first_number, 10'000u);
  EXPECT_EQ(scan.last_number, 20'000u);
  EXPECT_EQ(scan.missing, 0u);
}

TEST_F(RecordingTest, ends_when_the_visitor_has_seen_enough) {
  begin();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(recorder_->datagram(at(i), "d"));
  end();
  int seen = 0;
  const RecordingScan scan = read_recording({.folder = options_.folder, .ring_directory = folder_.path()},
                                            [&](const RecordedPacket&) { return ++seen < 3; });
  EXPECT_EQ(scan.end, RecordingEnd::stopped);
  EXPECT_EQ(scan.records, 3u);
}

TEST_F(RecordingTest, refuses_the_journal_of_a_session_and_a_folder_without_one) {
  JournalOptions options;
  options.directory = options_.folder;
  options.ring_directory = options_.ring_directory;
  {
    JournalStore store{posix_disk(), options, "FIX.4.4:A->B", UtcTime{1s}};
    ASSERT_TRUE(store.append(first_seq_num, "a message"));
  }
  EXPECT_THROW((void)read_from(session_folder(options_.folder, "FIX.4.4:A->B")), StoreError);
  EXPECT_THROW((void)read_from(folder_.path() / "nothing"), StoreError);
  options_.buffer_bytes = 4096;
  EXPECT_THROW(begin(), StoreError);
}

TEST(ReplayPace, keeps_the_distances_of_the_recording_at_a_multiple_of_its_speed) {
  ReplayPace pace{2.0};
  const MonotonicTime start{100s};
  EXPECT_EQ(pace.due(UtcTime{10s}, start), start);
  EXPECT_EQ(pace.due(UtcTime{14s}, start + 1s), start + 2s);
  EXPECT_EQ(pace.due(UtcTime{13s}, start + 3s), start + 2s);  // a line whose clock lags
  EXPECT_EQ(pace.due(UtcTime{20s}, start + 3s), start + 5s);
}

}  // namespace
}  // namespace nfx::market
