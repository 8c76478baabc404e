// The exchange's side: a publisher with its books, lines that lose and delay packets, a re-request server, and a
// GLIMPSE server that fails. All in virtual time.
// Thread: one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "feed_storms/plan.hpp"
#include "market/itch_generator.hpp"
#include "market/itch_reference.hpp"
#include "market/mold_packets.hpp"

namespace nfx::feed_storms {

using market::test::Bytes;
using market::test::ReferenceBooks;

// Scheduled events in the order of time; events due at the same time keep the order in which they were scheduled.
class Schedule {
 public:
  [[nodiscard]] Duration now() const { return now_; }
  void after(Duration wait, std::function<void()> what) { events_.push({now_ + wait, number_++, std::move(what)}); }
  // False if nothing is left, or the next event is due after `end`.
  bool run_next(Duration end);

 private:
  struct Entry {
    Duration at;
    std::uint64_t number;
    std::function<void()> what;
    bool operator<(const Entry& other) const { return at != other.at ? at > other.at : number > other.number; }
  };
  Duration now_{};
  std::uint64_t number_ = 0;
  std::priority_queue<Entry> events_;
};

class Exchange {
 public:
  // Where packets and bytes arrive.
  struct Client {
    std::function<void(market::MoldLine, const Bytes&)> packet;
    std::function<void()> connected;
    std::function<void(const Bytes&)> received;
    std::function<void()> disconnected;
  };

  Exchange(const Plan& plan, Schedule& schedule, Dice& dice, Client client);

  void start();
  // A datagram to the re-request server.
  void request(const market::MoldRequest& wanted);
  void connect();
  void sent(std::span<const std::byte> bytes);
  void close() { ++connection_; }

  // No more faults: lines and servers work from now on.
  void calm() { calm_ = true; }
  [[nodiscard]] bool day_is_over() const { return over_; }
  [[nodiscard]] const std::vector<Bytes>& log() const { return log_; }

 private:
  void publish();
  void heartbeat();
  void send(const Bytes& packet);
  void send_on(std::size_t line, const Bytes& packet);
  void send_snapshot(std::uint64_t connection);
  [[nodiscard]] Bytes snapshot_bytes(std::uint64_t next) const;
  // On this connection; does nothing if it was closed meanwhile.
  void deliver_after(Duration wait, std::uint64_t connection, std::function<void()> what);

  const Plan& plan_;
  Schedule& schedule_;
  Dice& dice_;
  Client client_;
  market::ItchGenerator day_;
  market::MoldSession session_ = market::test::session_of("STORM");
  std::vector<Bytes> log_;  // message n is at n - 1
  bool over_ = false;
  bool calm_ = false;
  std::uint64_t burst_left_ = 0;
  std::uint64_t connection_ = 0;
  std::uint64_t snapshots_ = 0;
};

}  // namespace nfx::feed_storms
