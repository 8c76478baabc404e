// A venue whose sessions have journals on a disk in memory, and a trader, for tests of what a disk does to sessions.
// Thread: one; the test runs the flusher.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/loop_rig.hpp"
#include "engine/session_stores.hpp"
#include "store/memory_disk.hpp"

namespace nfx::test {

inline SessionSettings with_journal(SessionSettings settings, Durability durability, std::string folder) {
  settings.store_kind = StoreKind::journal;
  settings.journal.directory = "/" + folder;
  settings.journal.ring_directory = "/ring-" + folder;
  settings.journal.segment_size = 64 * 1024;
  settings.journal.ring_size = 64 * 1024;
  settings.journal.durability = durability;
  return settings;
}

// A venue with a journal and a trader with a memory store, or another journal.
class JournalSession : public ::testing::Test {
 protected:
  void open_venue(Durability durability, bool has_worker = false) {
    stores.emplace(
        disk, [this] { ++durable_calls; }, StoreHelpers{.flushers = 1, .workers = has_worker ? 1U : 0U}, store_limits);
    if (rig.venue.config.sessions.empty()) rig.venue.config.sessions = {with_journal(acceptor(), durability, "venue")};
    rig.venue.config.max_message_size = 8192;
    check_config(rig.venue.config);
    rig.venue.loop.emplace(rig.venue.config, 0, rig.venue.transport, rig.clock, rig.venue.application, *stores);
    rig.venue.loop->start();
  }
  void open_trader() {
    if (rig.trader.config.sessions.empty()) rig.trader.config.sessions = {initiator()};
    rig.trader.start();
  }
  void flush() { static_cast<void>(stores->flusher().turn(rig.clock.now())); }
  // Both sides, and the flusher between them.
  void turn(int times = 1) {
    for (int i = 0; i < times; ++i) {
      rig.turn();
      flush();
    }
  }
  void start(Durability durability) {
    open_venue(durability);
    open_trader();
    turn(6);
    rig.clock.advance(20ms);
    turn(6);
    ASSERT_TRUE(rig.venue.session().logged_on());
  }
  void turn_for(Duration time) {
    for (Duration gone{}; gone < time; gone += 50ms) {
      rig.clock.advance(50ms);
      turn(2);
    }
  }
  // Until the venue's journal takes no message any more.
  void fill_disk() {
    disk.fill(0);
    std::optional<SendError> refused;
    for (int i = 0; i < 3000 && !refused; ++i) {
      const auto sent = report("r" + std::to_string(i));
      if (!sent && sent.error() != SendError::would_block) refused = sent.error();
      rig.clock.advance(1ms);
      turn();
    }
    ASSERT_EQ(refused, SendError::store_full);
  }
  // With a full disk: the peer's answer to the Logout follows a flood of its messages, and each uses a number.
  void end_in_order_on_a_full_disk() {
    fill_disk();
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(order(std::to_string(i)));
    rig.venue.loop->request_stop();
    for (int i = 0; i < 2000; ++i) {
      static_cast<void>(order("flood" + std::to_string(i)));
      turn();
    }
    turn_for(3s);
    ASSERT_TRUE(rig.venue.loop->finished());
  }
  [[nodiscard]] std::ptrdiff_t count_of(Notice notice) {
    return std::ranges::count(rig.venue.application.at(0).notices, notice);
  }
  std::expected<SeqNum, SendError> order(const std::string& id) {
    return rig.trader.session().send({.msg_type = "D", .body = std::string_view{field(11, id)}, .header_fields = {}});
  }
  std::expected<SeqNum, SendError> report(std::string_view id) {
    return rig.venue.session().send({.msg_type = "8", .body = std::string_view{field(11, id)}, .header_fields = {}});
  }
  [[nodiscard]] std::size_t reports_received() { return rig.trader.application.at(0).orders.size(); }
  // The venue's process is killed, and another begins.
  void restart_venue(Durability durability) {
    disk.die_now();
    const EngineConfig config = rig.venue.config;
    rig.venue.loop.reset();
    stores.reset();
    std::destroy_at(&rig.venue);  // its listener and its connection with it
    std::construct_at(&rig.venue, rig.network, rig.clock);
    rig.venue.config = config;
    disk.kill();
    open_venue(durability);
  }

  MemoryDisk disk;
  int durable_calls = 0;
  TemplateStoreLimits store_limits;
  std::optional<JournalStores> stores;  // outlives the sessions
  LoopRig rig;
};

}  // namespace nfx::test
