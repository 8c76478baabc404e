// Draws a seed's rails, faults and work, drives both peers in virtual time, and then waits, without faults, until
// everything that was started has been reported.
#include "fabric_faults/storm.hpp"

#include <algorithm>
#include <deque>
#include <vector>

#include "fabric_faults/peer.hpp"
#include "fabric_faults/watched_rail.hpp"
#include "fabric_faults/weather.hpp"

namespace nfx::fabric_faults {
namespace {

using namespace std::chrono_literals;

constexpr MonotonicTime start{1h};

class Storm {
 public:
  explicit Storm(const StormOptions& options) : shared_(options.seed) {
    Dice& dice = shared_.dice;
    const Weather weather = weather_of(dice);
    const fabric::LinkOptions link = options_of(dice, weather);
    work_ = work_of(dice, weather);
    for (std::uint64_t rail = 0; rail < work_.rails; ++rail)
      wires_.emplace_back(faults_of(dice, weather, options.broken));
    for (std::size_t end = 0; end < 2; ++end) {
      std::vector<fabric::RailRef> rails;
      for (fabric::FaultyWire& wire : wires_) rails.emplace_back(rails_.emplace_back(shared_, wire.end(end)));
      peers_.emplace_back(shared_, end, rails, link);
    }
    faults_last_ = dice.between(40ms, 250ms);
  }

  StormResult run() {
    while (now_ < start + faults_last_ && shared_.finding.empty()) {
      work();
      iterate();
    }
    for (fabric::FaultyWire& wire : wires_) wire.heal();
    settle();
    if (shared_.finding.empty()) last_words();
    for (Peer& peer : peers_) peer.check_memory();
    for (const fabric::FaultyWire& wire : wires_) {
      if (wire.counters().overruns != 0) shared_.find("more numbers were sent than the receiver has credits for");
      if (wire.counters().changed != 0) shared_.find("bytes of a write were changed before it was done");
    }
    return result();
  }

 private:
  void iterate() {
    now_ += shared_.dice.between(1us, work_.tick);
    for (fabric::FaultyWire& wire : wires_) wire.step(now_);
    const std::size_t first = shared_.dice.below(2);
    // A peer that pauses for a while is a slow one.
    for (const std::size_t end : {first, 1 - first}) {
      if (now_ >= asleep_until_[end]) peers_[end].poll(now_);
    }
    if (shared_.dice.chance(5)) {
      for (Peer& peer : peers_) peer.check_memory();
    }
  }

  void begin_deal() {
    Dice& dice = shared_.dice;
    const std::uint64_t id = ++last_id_;
    Deal& deal = shared_.deals[id];
    deal.id = id;
    deal.sender = dice.below(2);
    deal.page_size = static_cast<std::uint32_t>(512U << dice.below(work_.page_sizes));
    deal.pages = static_cast<std::uint32_t>(dice.between(1, Peer::place_size / deal.page_size));
    deal.sender_pages = dice.chance(30) && deal.pages > 1 ? deal.pages - 1 : deal.pages;
    deal.seen.resize(deal.pages);
    if (!dice.chance(300)) peers_[deal.sender].send(deal);
    if (!dice.chance(100)) peers_[1 - deal.sender].receive(deal);
    if (deal.send_called || deal.receive_called) return;
    shared_.deals.erase(id);
    --last_id_;
  }

  void work() {
    Dice& dice = shared_.dice;
    if (dice.chance(work_.transfers)) begin_deal();
    if (dice.chance(work_.records)) peers_[dice.below(2)].send_record();
    if (dice.chance(work_.sleeps)) asleep_until_[dice.below(2)] = now_ + dice.between(100us, work_.sleep);
    if (dice.chance(work_.bursts)) begin_burst();
    std::erase_if(cuts_, [this](const Cut& cut) {
      if (now_ < cut.at) return false;
      wires_[cut.rail].cut(cut.end);
      return true;
    });
    if (last_id_ != 0 && dice.chance(work_.cancels))
      cancel(shared_.deals[last_id_ - dice.below(std::min<std::uint64_t>(last_id_, 8))]);
    if (work_.kills != 0 && dice.chance(2)) {
      --work_.kills;
      ++restarts_;
      peers_[dice.below(2)].kill(now_);
    }
  }

  void begin_burst() {
    const std::size_t spared = shared_.dice.below(wires_.size());
    for (std::size_t rail = 0; rail < wires_.size(); ++rail) {
      if (rail == spared) continue;
      cuts_.push_back({.at = now_ + shared_.dice.between(1us, 1ms),
                       .rail = rail,
                       .end = static_cast<std::size_t>(shared_.dice.below(3))});
    }
  }

  void cancel(Deal& deal) {
    deal.cancelled = true;
    const fabric::TransferId id{deal.id};
    if (shared_.dice.coin()) {
      peers_[deal.sender].link().cancel_send(id);
    } else {
      peers_[1 - deal.sender].link().cancel_receive(id);
    }
  }

  [[nodiscard]] static bool is_open(const Deal& deal) {
    return (deal.send_called && !deal.sent) || (deal.receive_called && !deal.received);
  }

  // Only one end is open, and the other will not be opened.
  void end_alone(Deal& deal) {
    const bool sends = deal.send_called && !deal.sent;
    const bool receives = deal.receive_called && !deal.received;
    if (sends == receives) return;
    deal.cancelled = true;
    if (sends) peers_[deal.sender].link().cancel_send(fabric::TransferId{deal.id});
    if (receives) peers_[1 - deal.sender].link().cancel_receive(fabric::TransferId{deal.id});
  }

  void settle() {
    const MonotonicTime limit = now_ + 3s;
    for (auto next = shared_.deals.begin(); next != shared_.deals.end() && shared_.finding.empty();) {
      if (!is_open(next->second)) {
        ++next;
        continue;
      }
      end_alone(next->second);
      if (now_ > limit) {
        const Deal& deal = next->second;
        return shared_.find("transfer " + std::to_string(deal.id) + " is not reported by the " +
                            (deal.send_called && !deal.sent ? "sender" : "receiver") + " in 3 s without faults");
      }
      iterate();
    }
  }

  // Both peers still work: a transfer and a record in each direction complete, and every rail has come back.
  void last_words() {
    const MonotonicTime limit = now_ + 3s;
    const auto all_up = [this] {
      return peers_[0].link().rails_up() == wires_.size() && peers_[1].link().rails_up() == wires_.size();
    };
    while (!all_up() && now_ < limit && shared_.finding.empty()) iterate();
    if (!all_up()) return shared_.find("a rail does not come back in 3 s without faults");
    for (std::size_t end = 0; end < 2; ++end) {
      Deal& deal = shared_.deals[++last_id_];
      deal.id = last_id_;
      deal.sender = end;
      deal.page_size = 512;
      deal.pages = deal.sender_pages = 20;
      deal.seen.resize(deal.pages);
      if (!peers_[end].send(deal) || !peers_[1 - end].receive(deal)) return shared_.find("no transfer can begin");
      peers_[end].send_record();
    }
    const auto all_acknowledged = [this] {
      return peers_[0].link().last_sent() == peers_[0].link().last_acknowledged() &&
             peers_[1].link().last_sent() == peers_[1].link().last_acknowledged();
    };
    const auto all_complete = [this] {
      const Deal& first = shared_.deals[last_id_ - 1];
      const Deal& second = shared_.deals[last_id_];
      return first.sent && first.received && second.sent && second.received;
    };
    const MonotonicTime end = now_ + 1s;
    while ((!all_complete() || !all_acknowledged()) && now_ < end && shared_.finding.empty()) iterate();
    if (!all_complete()) return shared_.find("a transfer is not complete in 1 s without faults");
    if (!all_acknowledged()) return shared_.find("a record is not acknowledged in 1 s without faults");
    for (const std::uint64_t id : {last_id_ - 1, last_id_}) {
      if (shared_.deals[id].sent != TransferResult::complete) shared_.find("a transfer fails without faults");
    }
  }

  [[nodiscard]] StormResult result() {
    StormResult result{.finding = shared_.finding,
                       .transfers = shared_.deals.size(),
                       .pages = shared_.pages,
                       .records = shared_.records,
                       .restarts = restarts_,
                       .losses = shared_.losses,
                       .counters = {},
                       .faults = {}};
    for (const auto& [id, deal] : shared_.deals) {
      if (deal.received == TransferResult::complete) ++result.complete;
      if (deal.received && deal.received != TransferResult::complete) ++result.failed;
    }
    for (Peer& peer : peers_) add_counters(result.counters, peer.link().counters());
    for (const fabric::FaultyWire& wire : wires_) {
      const fabric::RailFaultCounters& from = wire.counters();
      fabric::RailFaultCounters& to = result.faults;
      to.writes += from.writes;
      to.again += from.again;
      to.errors += from.errors;
      to.duplicates += from.duplicates;
      to.losses += from.losses;
      to.spells += from.spells;
      to.cuts += from.cuts;
      to.late += from.late;
      to.fenced += from.fenced;
      to.early += from.early;
    }
    return result;
  }

  struct Cut {
    MonotonicTime at{};
    std::size_t rail = 0;
    std::size_t end = 0;  // as in FaultyWire::cut()
  };

  Shared shared_;
  std::deque<fabric::FaultyWire> wires_;
  std::deque<WatchedRail> rails_;
  std::vector<Cut> cuts_;
  std::deque<Peer> peers_;
  MonotonicTime now_ = start;
  std::array<MonotonicTime, 2> asleep_until_{};
  std::uint64_t last_id_ = 0;
  Work work_;
  std::uint64_t restarts_ = 0;
  Duration faults_last_{};
};

}  // namespace

StormResult run_storm(const StormOptions& options) { return Storm{options}.run(); }

}  // namespace nfx::fabric_faults
