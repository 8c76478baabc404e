// The counterparty of the gateways: an engine of its own that sends orders under load to whichever gateway has the
// session, and a ledger of each order and of each message that it was sent.
// Thread: run() of its own thread; the rest from any. Errors: ConfigError from the constructor.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "nexusfix/engine/engine.hpp"

namespace nfx::cluster_kill {

// What the trader knows. An order is a ClOrdID, counted from 1 on.
struct Ledger {
  std::uint64_t sent = 0;
  std::vector<std::uint8_t> answers;                // by order: how many answers came
  std::map<std::uint64_t, std::uint64_t> received;  // MsgSeqNum to order, of each answer
  std::uint64_t conflicts = 0;                      // a number that came with two orders
  std::uint64_t answered = 0;
  std::uint64_t logons = 0;
};

class Trader final : public Application {
 public:
  struct Load {
    std::uint32_t window = 64;  // orders without an answer, at most
    std::uint32_t rate = 1000;  // orders per second, at most
  };
  // It connects to the ports in turn, or listens on the one of a gateway that connects.
  Trader(Role role, std::vector<std::uint16_t> ports, Load load);
  ~Trader() override;

  [[nodiscard]] std::uint64_t answered() const noexcept { return answered_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_.load(std::memory_order_acquire); }
  [[nodiscard]] MonotonicTime last_answer() const noexcept { return MonotonicTime{Duration{last_.load()}}; }
  // No further orders, until hold(false).
  void hold(bool held) noexcept { held_.store(held); }
  // Logs out and ends.
  void stop();
  // Once stopped.
  [[nodiscard]] const Ledger& ledger() const noexcept { return ledger_; }
  [[nodiscard]] std::uint64_t next_in() const noexcept { return next_in_; }
  [[nodiscard]] std::uint64_t next_out() const noexcept { return next_out_; }
  [[nodiscard]] std::string events() const;

 private:
  void on_logon(SessionHandle& session) override;
  void on_logout(SessionHandle& session, std::string_view reason) override;
  void on_message(SessionHandle& session, const MessageView& message) override;
  void on_notice(SessionHandle& session, Notice notice, SeqNum seq, std::string_view text) override;
  Duration on_turn(Instant now) override;
  void note(std::string text);

  const Load load_;
  double due_ = 0;  // orders that the rate allows now
  MonotonicTime turned_{};
  SessionHandle* session_ = nullptr;
  Ledger ledger_;
  std::uint64_t next_in_ = 0, next_out_ = 0;
  std::atomic<std::uint64_t> answered_{0}, sent_{0};
  std::atomic<std::int64_t> last_{0};
  std::atomic<bool> held_{false};
  mutable std::mutex mutex_;
  std::vector<std::string> events_;  // the last ones
  std::unique_ptr<Engine> engine_;
  std::thread thread_;
};

}  // namespace nfx::cluster_kill
