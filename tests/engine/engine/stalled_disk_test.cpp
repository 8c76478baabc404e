// Two sessions on one poll thread, each with a journal on its own disk, when one of the disks stalls.
#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "engine/loop_rig.hpp"
#include "engine/session_stores.hpp"
#include "log/log_folder.hpp"
#include "store/forwarding_disk.hpp"

namespace nfx::test {
namespace {

// While it is closed, threads that write or sync wait.
class Gate {
 public:
  void close() {
    const std::lock_guard lock{mutex_};
    closed_ = true;
  }
  void open() {
    const std::lock_guard lock{mutex_};
    closed_ = false;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock{mutex_};
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !closed_; });
    --waiting_;
  }
  void await_somebody() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return waiting_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  int waiting_ = 0;
};

// The real disk, with a gate before each operation on files below one folder.
class StallingDisk final : public ForwardingDisk {
 public:
  StallingDisk(std::filesystem::path slow, Gate& gate)
      : ForwardingDisk(posix_disk()), slow_(std::move(slow)), gate_(gate) {}

  DiskResult<std::unique_ptr<DiskFile>> open(const std::filesystem::path& path, OpenMode mode) override {
    auto file = ForwardingDisk::open(path, mode);
    if (!file || !path.string().starts_with(slow_.string())) return file;
    return std::make_unique<File>(*std::move(file), gate_);
  }

 private:
  class File final : public ForwardingFile {
   public:
    File(std::unique_ptr<DiskFile> inner, Gate& gate) : ForwardingFile(std::move(inner)), gate_(gate) {}
    DiskResult<void> write(std::uint64_t offset, std::span<const char> bytes) override {
      gate_.pass();
      return ForwardingFile::write(offset, bytes);
    }
    DiskResult<void> sync() override {
      gate_.pass();
      return ForwardingFile::sync();
    }

   private:
    Gate& gate_;
  };

  std::filesystem::path slow_;
  Gate& gate_;
};

// Session 0 has its journal on the disk that stalls, session 1 on the other. Their peers answer nothing.
class StalledDisk : public ::testing::Test {
 protected:
  void start(std::uint32_t flushers, Durability neighbours) {
    stores.emplace(disk, [] {}, StoreHelpers{.flushers = flushers, .workers = 0});
    rig.venue.config.max_message_size = 8192;
    rig.venue.config.sessions = {journalled("STALLED", "slow", Durability::interval),
                                 journalled("GOOD", "fast", neighbours)};
    if (flushers > 1) {
      rig.venue.config.placement.enabled = true;
      rig.venue.config.placement.role(ThreadRole::flusher).threads = flushers;
    }
    check_config(rig.venue.config);
    rig.venue.loop.emplace(rig.venue.config, 0, rig.venue.transport, rig.clock, rig.venue.application, *stores);
    rig.venue.loop->start();
    rig.trader.config.sessions = {initiator("STALLED"), initiator("GOOD")};
    rig.trader.start();
    for (int i = 0; i < 12; ++i) {
      rig.turn();
      for (std::uint32_t number = 0; number < flushers; ++number) flush(number);
      rig.clock.advance(5ms);
    }
    ASSERT_TRUE(stalled().logged_on());
    ASSERT_TRUE(good().logged_on());
  }
  // From here on flusher 0 waits for the disk of session 0.
  void stall() {
    gate.close();
    ASSERT_TRUE(report(stalled(), 0));
    rig.clock.advance(1s);
    stuck = std::jthread{[this, now = rig.clock.now()] { static_cast<void>(stores->flusher(0).turn(now)); }};
    gate.await_somebody();
  }
  void go_on() {
    gate.open();
    if (stuck.joinable()) stuck.join();
  }
  void TearDown() override {
    go_on();
    rig.venue.loop.reset();
  }

  void flush(std::uint32_t number) { static_cast<void>(stores->flusher(number).turn(rig.clock.now())); }
  std::expected<SeqNum, SendError> report(SessionHandle& session, std::size_t number) {
    return session.send({.msg_type = "8",
                         .body = std::string_view{order(number) + field(58, std::string(400, 'x'))},
                         .header_fields = {}});
  }
  // Sends until the ring is full, and returns how many were accepted.
  std::size_t fill(SessionHandle& session) {
    std::size_t taken = 0;
    while (taken < 1000 && report(session, taken + 1)) {
      ++taken;
      rig.turn();
    }
    return taken;
  }
  SessionHandle& stalled() { return rig.venue.session(0); }
  SessionHandle& good() { return rig.venue.session(1); }
  std::size_t received(std::size_t session) { return rig.trader.application.at(session).orders.size(); }

  LogFolder folder;
  Gate gate;
  StallingDisk disk{folder.path() / "slow", gate};
  LoopRig rig;
  std::optional<JournalStores> stores;
  std::jthread stuck;

 private:
  SessionSettings journalled(std::string peer, const char* where, Durability durability) {
    SessionSettings settings = acceptor(std::move(peer));
    settings.store_kind = StoreKind::journal;
    settings.journal.directory = folder.path() / where;
    settings.journal.segment_size = 256 * 1024;
    settings.journal.ring_size = 64 * 1024;
    settings.journal.durability = durability;
    return settings;
  }
};

TEST_F(StalledDisk, refuses_what_its_own_ring_does_not_take_and_counts_it) {
  start(2, Durability::group);
  stall();
  const std::size_t taken = fill(stalled());
  EXPECT_GT(taken, 50U);
  EXPECT_LT(taken, 200U) << "64 KiB of ring take no more";
  EXPECT_EQ(report(stalled(), 1).error(), SendError::would_block);
  EXPECT_EQ(stalled().counters().send_refused, 2U);
  EXPECT_EQ(stalled().journal()->condition(), StoreCondition::busy);
  EXPECT_NE(stalled().journal()->condition_text().find("the disk is slower than what is sent"), std::string::npos);
  EXPECT_TRUE(stalled().logged_on());
}

TEST_F(StalledDisk, leaves_a_neighbour_on_the_same_poll_thread_to_its_own_flusher) {
  start(2, Durability::group);
  stall();
  fill(stalled());
  for (std::size_t i = 1; i <= 500; ++i) {
    ASSERT_TRUE(report(good(), i));
    rig.turn();
    ASSERT_EQ(received(1), i - 1) << "nothing is sent before it is synced";
    flush(1);
    rig.turn(2);
    ASSERT_EQ(received(1), i);
  }
  EXPECT_EQ(good().counters().send_refused, 0U);
  EXPECT_EQ(good().journal()->condition(), StoreCondition::good);
}

TEST_F(StalledDisk, leaves_a_neighbour_with_the_same_flusher_the_room_of_its_own_ring) {
  start(1, Durability::interval);
  stall();
  fill(stalled());
  const std::size_t taken = fill(good());
  EXPECT_GT(taken, 50U);
  rig.turn(2);
  EXPECT_EQ(received(1), taken) << "what the ring took is sent";
  EXPECT_EQ(good().journal()->condition(), StoreCondition::busy);
  EXPECT_TRUE(good().logged_on());
}

TEST_F(StalledDisk, loses_nothing_when_it_comes_back) {
  start(2, Durability::interval);
  stall();
  const std::size_t taken = fill(stalled());
  go_on();
  flush(0);
  ASSERT_TRUE(report(stalled(), taken + 1));
  flush(0);
  rig.turn(4);
  const auto& orders = rig.trader.application.at(0).orders;
  ASSERT_EQ(orders.size(), taken + 2);
  for (std::size_t i = 0; i < orders.size(); ++i) EXPECT_EQ(orders[i], std::to_string(i));
  EXPECT_EQ(stalled().journal()->condition(), StoreCondition::good);
  for (std::uint64_t seq = 2; seq < value(stalled().next_outbound()); ++seq)
    EXPECT_TRUE(stalled().journal()->read(SeqNum{seq})) << seq;
}

TEST_F(StalledDisk, is_not_taken_for_a_peer_that_is_silent) {
  start(2, Durability::group);
  stall();
  fill(stalled());
  for (int i = 0; i < 1500; ++i) {
    rig.clock.advance(100ms);
    rig.turn();
    flush(1);
  }
  EXPECT_TRUE(stalled().logged_on());
  EXPECT_TRUE(good().logged_on());
  EXPECT_EQ(rig.venue.application.at(0).logons, 1U);
}

}  // namespace
}  // namespace nfx::test
