// The counterparty of the gateways: sends orders under load to whichever gateway has the session, and keeps a ledger of
// all its orders and all messages it received. trader.hpp implements it with NexusFIX's engine, quickfix_trader.hpp
// with QuickFIX. C++14, because QuickFIX's headers require it.
// Thread: the protected part is the engine's; the rest from any.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace nfx {
namespace cluster_kill {

// The counterparty's knowledge. An order is a ClOrdID, counted from 1.
struct Ledger {
  std::uint64_t sent = 0;
  std::vector<std::uint8_t> answers = {0};          // number of answers by order
  std::map<std::uint64_t, std::uint64_t> received;  // from an answer's MsgSeqNum to its order
  std::uint64_t conflicts = 0;                      // numbers that came with two different orders
  std::uint64_t answered = 0;
  std::uint64_t logons = 0;
};

struct Load {
  std::uint32_t window = 64;  // maximum number of orders without an answer
  std::uint32_t rate = 1000;  // maximum number of orders per second
};

class Counterparty {
 public:
  Counterparty(Load load, std::int64_t now_ns) : load_(load), turned_ns_(now_ns), last_answer_ns_(now_ns) {}
  Counterparty(const Counterparty&) = delete;
  Counterparty& operator=(const Counterparty&) = delete;
  virtual ~Counterparty() = default;

  // Logs out and ends.
  virtual void stop() = 0;
  // Sends no further orders until hold(false).
  void hold(bool held) noexcept { held_.store(held); }
  std::uint64_t answered() const noexcept { return answered_.load(std::memory_order_acquire); }
  std::uint64_t sent() const noexcept { return sent_.load(std::memory_order_acquire); }
  std::int64_t last_answer_ns() const noexcept { return last_answer_ns_.load(); }

  // Requires stop().
  const Ledger& ledger() const noexcept { return ledger_; }
  std::uint64_t next_in() const noexcept { return next_in_; }
  std::uint64_t next_out() const noexcept { return next_out_; }

  std::string events() const {
    const std::lock_guard<std::mutex> lock{mutex_};
    std::string all;
    for (const std::string& each : events_) all += "    trader: " + each + "\n";
    return all;
  }

 protected:
  // The number of orders that may be sent now, starting with next_order().
  std::uint64_t orders_due(std::int64_t now_ns, bool logged_on) {
    const double seconds = static_cast<double>(now_ns - turned_ns_) / 1e9;
    turned_ns_ = now_ns;
    if (held_.load() || !logged_on) return 0;
    due_ = std::min(due_ + seconds * load_.rate, static_cast<double>(load_.window));
    const std::uint64_t open = ledger_.answered + load_.window;
    return std::min(static_cast<std::uint64_t>(due_), open > ledger_.sent ? open - ledger_.sent : 0);
  }
  std::uint64_t next_order() const noexcept { return ledger_.sent + 1; }
  void order_sent() {
    --due_;
    ++ledger_.sent;
    ledger_.answers.push_back(0);
    sent_.store(ledger_.sent, std::memory_order_release);
  }
  void answer_came(std::uint64_t order, std::uint64_t seq, std::int64_t now_ns) {
    if (order == 0 || order > ledger_.sent) return note("an answer to no order: " + std::to_string(order));
    const auto placed = ledger_.received.emplace(seq, order);
    if (!placed.second && placed.first->second != order) ++ledger_.conflicts;
    ++ledger_.answers[order];
    ++ledger_.answered;
    last_answer_ns_.store(now_ns);
    answered_.store(ledger_.answered, std::memory_order_release);
  }
  void logged_on(std::uint64_t next_in, std::uint64_t next_out) {
    ++ledger_.logons;
    note("logged on, next in " + std::to_string(next_in) + ", next out " + std::to_string(next_out));
  }
  void ended(std::uint64_t next_in, std::uint64_t next_out) noexcept {
    next_in_ = next_in;
    next_out_ = next_out;
  }
  void note(std::string text) {
    const std::lock_guard<std::mutex> lock{mutex_};
    if (events_.size() == 40) events_.erase(events_.begin());
    events_.push_back(std::move(text));
  }

 private:
  const Load load_;
  double due_ = 0;  // orders that the rate allows now
  std::int64_t turned_ns_;
  Ledger ledger_;
  std::uint64_t next_in_ = 0, next_out_ = 0;
  std::atomic<std::uint64_t> answered_{0}, sent_{0};
  std::atomic<std::int64_t> last_answer_ns_;
  std::atomic<bool> held_{false};
  mutable std::mutex mutex_;
  std::vector<std::string> events_;  // the last few
};

}  // namespace cluster_kill
}  // namespace nfx
