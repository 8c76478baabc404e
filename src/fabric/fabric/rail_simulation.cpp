// The discrete events: the next step of each thread at one of its cards. Between two steps, the completion times of a
// card's pages determine its state, so that only threads need a place in the event queue.
#include "fabric/rail_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

#include "base/enumerator_name.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx::fabric {
namespace {

// The pages of a card: the times at which their completions can be read, in order.
class Card {
 public:
  explicit Card(std::size_t capacity) : ends_(capacity) {}

  [[nodiscard]] std::size_t under_way() const noexcept { return count_; }
  [[nodiscard]] bool full() const noexcept { return count_ == ends_.size(); }
  void add(double end) noexcept {
    ends_[(first_ + count_) % ends_.size()] = end;
    ++count_;
  }
  [[nodiscard]] bool has_completion(double now) const noexcept { return count_ > 0 && ends_[first_] <= now; }
  void take_completion() noexcept {
    first_ = (first_ + 1) % ends_.size();
    --count_;
  }

  // For a full card.
  [[nodiscard]] double next_completion() const noexcept { return ends_[first_]; }

  double link_free = 0;
  bool connected = false;

 private:
  std::vector<double> ends_;  // a ring
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

struct Step {
  double time = 0;
  std::size_t thread = 0;
  friend bool operator>(const Step& a, const Step& b) noexcept {
    return std::pair{a.time, a.thread} > std::pair{b.time, b.thread};
  }
};

enum class Phase : std::uint8_t { poll, take, post };

struct PollingThread {
  std::vector<std::size_t> cards;
  std::size_t next = 0;
  Phase phase = Phase::poll;
  double arrived = 0;       // when it arrived at the card
  bool useful = false;      // did something there
  std::size_t to_post = 0;  // left in this visit's batch
  std::size_t in_vain = 0;  // visits since the last useful one
  double busy = 0;
  double waited = 0;
};

class Simulation {
 public:
  Simulation(const SimulatedMachine& machine, const SimulatedCosts& costs, const SimulatedProgram& program)
      : machine_(machine), program_(program), factor_(program.pinned ? 1 : costs.unpinned_factor), costs_(costs) {
    const std::size_t all = machine.groups * machine.rails_per_group;
    const std::size_t used = std::min(program.rails, all);
    for (std::size_t i = 0; i < used; ++i) {
      cards_.emplace_back(std::min(machine.queue, program.window));
      cards_.back().connected = program.warmed_up;
    }
    switch_free_.assign(machine.groups, 0);
    switch_busy_.assign(machine.groups, 0);
    threads_.resize(program.thread_per_group ? std::min(machine.groups, used) : 1);
    for (std::size_t i = 0; i < used; ++i) threads_[group_of(i) % threads_.size()].cards.push_back(i);
  }

  SimulatedRun run(double duration) {
    std::priority_queue<Step, std::vector<Step>, std::greater<>> events;
    for (std::size_t i = 0; i < threads_.size(); ++i) events.push({.time = 0, .thread = i});
    while (events.top().time < duration) {
      const Step event = events.top();
      events.pop();
      events.push({.time = step(threads_[event.thread], event.time), .thread = event.thread});
    }
    return result(duration);
  }

 private:
  [[nodiscard]] std::size_t group_of(std::size_t card) const noexcept {
    // If fewer cards are used than exist: the first of each group first, so that groups are as even as possible.
    return card % machine_.groups;
  }

  // One step of the thread's visit to a card: its poll, one completion, or one page. Returns when the next step begins.
  double step(PollingThread& thread, double now) {
    const std::size_t index = thread.cards[thread.next];
    Card& card = cards_[index];
    switch (thread.phase) {
      case Phase::poll:
        thread.arrived = now;
        thread.useful = false;
        thread.phase = Phase::take;
        return now + costs_.poll_ns * factor_;
      case Phase::take:
        if (!card.has_completion(now)) {
          thread.phase = Phase::post;
          thread.to_post = program_.batch;
          return now;
        }
        return take_completion(thread, card, now);
      case Phase::post:
        if (thread.to_post == 0) return leave(thread, now);
        --thread.to_post;
        if (!card.full()) return post(card, index, thread, now);
        ++refused_;
        if (program_.lazy) thread.to_post = 0;
        return now + costs_.refused_post_ns * factor_;
    }
    return now;
  }

  double take_completion(PollingThread& thread, Card& card, double now) {
    card.take_completion();
    ++pages_;
    const double done = now + costs_.completion_ns * factor_;
    thread.useful = true;
    thread.busy += done - now;
    return program_.sharded ? done : take_shared_line(thread, done);
  }

  double leave(PollingThread& thread, double now) {
    thread.next = (thread.next + 1) % thread.cards.size();
    thread.phase = Phase::poll;
    thread.in_vain = thread.useful ? 0 : thread.in_vain + 1;
    return thread.in_vain < thread.cards.size() ? now : skip_rounds(thread, now, now - thread.arrived);
  }

  // All cards of the thread are full and none has a completion. Nothing changes until the first completion, so whole
  // rounds of visits are skipped.
  [[nodiscard]] double skip_rounds(PollingThread& thread, double now, double of_a_visit) const noexcept {
    double first = cards_[thread.cards.front()].next_completion();
    for (const std::size_t card : thread.cards) first = std::min(first, cards_[card].next_completion());
    const double round = of_a_visit * static_cast<double>(thread.cards.size());
    return first > now ? now + std::floor((first - now) / round) * round : now;
  }

  double post(Card& card, std::size_t index, PollingThread& thread, double now) {
    const double began = now;
    if (!card.connected) now += costs_.connect_ns;
    card.connected = true;
    now += costs_.post_ns * factor_;
    thread.useful = true;
    thread.busy += now - began;
    if (!program_.sharded) now = take_shared_line(thread, now);
    const double bits = static_cast<double>(machine_.page_bytes) * 8;
    const double on_link = bits / machine_.link_gbps;  // Gb/s are bits per ns
    const double begin = std::max(now, card.link_free);
    double through_switch = begin;
    if (machine_.switch_gbps > 0) {
      const double on_switch = bits / machine_.switch_gbps;
      double& free = switch_free_[group_of(index)];
      through_switch = std::max(now, free) + on_switch;
      free = through_switch;
      switch_busy_[group_of(index)] += on_switch;
    }
    // The card sends the bytes it has while the rest of the page comes through the switch.
    const double end = std::max(begin + on_link, through_switch);
    card.link_free = end;
    card.add(end + machine_.answer_ns);
    return now;
  }

  // Only one thread at a time has the line; a single thread always has it.
  double take_shared_line(PollingThread& thread, double now) {
    if (threads_.size() == 1) return now;
    const double until = std::max(now, line_free_) + costs_.shared_line_ns * factor_;
    line_free_ = until;
    thread.waited += until - now;
    return until;
  }

  [[nodiscard]] SimulatedRun result(double duration) const {
    SimulatedRun run;
    run.pages = pages_;
    run.gbps = static_cast<double>(pages_ * machine_.page_bytes) * 8 / duration;
    double switches = 0;
    // Pages posted but not sent by the end do not count.
    run.link_busy = std::min(1.0, run.gbps / (machine_.link_gbps * static_cast<double>(cards_.size())));
    for (const double busy : switch_busy_) switches = std::max(switches, busy / duration);
    for (const PollingThread& thread : threads_) {
      run.thread_busy += thread.busy / duration / static_cast<double>(threads_.size());
      run.shared_wait += thread.waited / duration / static_cast<double>(threads_.size());
    }
    constexpr double nearly_all = 0.95;
    if (switches > nearly_all && run.link_busy < nearly_all) {
      run.bottleneck = Bottleneck::switches;
    } else if (run.link_busy > nearly_all) {
      run.bottleneck = Bottleneck::links;
    } else {
      run.bottleneck = refused_ > pages_ / 4 ? Bottleneck::window : Bottleneck::threads;
    }
    return run;
  }

  const SimulatedMachine& machine_;
  const SimulatedProgram& program_;
  const double factor_;
  const SimulatedCosts& costs_;
  std::vector<Card> cards_;
  std::vector<PollingThread> threads_;
  std::vector<double> switch_free_;  // by group
  std::vector<double> switch_busy_;
  double line_free_ = 0;
  std::uint64_t pages_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace

std::string_view to_string(Bottleneck what) noexcept { return enumerator_name(what); }

SimulatedRun simulate(const SimulatedMachine& machine, const SimulatedCosts& costs, const SimulatedProgram& program,
                      double duration_ns) {
  NFX_REQUIRE(machine.groups > 0 && machine.rails_per_group > 0 && machine.queue > 0 && machine.page_bytes > 0);
  NFX_REQUIRE(machine.link_gbps >= 0.001 && program.rails > 0 && program.batch > 0 && program.window > 0);
  NFX_REQUIRE(costs.poll_ns >= 1 && duration_ns > 0);  // a poll that takes no time would repeat for ever
  return Simulation{machine, costs, program}.run(duration_ns);
}

const std::array<LadderStep, ladder_steps>& published_ladder() noexcept {
  static constexpr SimulatedProgram one_thread{
      .thread_per_group = false, .pinned = false, .sharded = false, .lazy = false, .warmed_up = false, .batch = 1};
  static constexpr auto steps = [] {
    std::array<LadderStep, ladder_steps> all{
        LadderStep{7, "queue", "one card with many pages under way", 97.433, one_thread},
        LadderStep{9, "networks", "all cards, one thread", 287.089, one_thread},
        LadderStep{10, "warm-up", "connections made before time is taken", 293.461, one_thread},
        LadderStep{11, "threads", "a thread for each group", 355.301, one_thread},
        LadderStep{12, "pin", "each thread on a core of its group", 1237.738, one_thread},
        LadderStep{13, "shard", "counters of its own for each thread", 1522.567, one_thread},
        LadderStep{14, "batch", "many pages posted between two polls", 2589.488, one_thread},
        LadderStep{15, "lazy", "a full card is not tried again for each page", 3108.283, one_thread}};
    all[0].program.rails = 1;
    for (std::size_t i = 2; i < all.size(); ++i) all[i].program.warmed_up = true;
    for (std::size_t i = 3; i < all.size(); ++i) all[i].program.thread_per_group = true;
    for (std::size_t i = 4; i < all.size(); ++i) all[i].program.pinned = true;
    for (std::size_t i = 5; i < all.size(); ++i) all[i].program.sharded = true;
    for (std::size_t i = 6; i < all.size(); ++i) all[i].program.batch = 16;
    all[7].program.lazy = true;
    return all;
  }();
  return steps;
}

double implied_post_ns(const SimulatedMachine& machine, const SimulatedCosts& costs, const SimulatedProgram& program,
                       double gbps, double duration_ns) {
  const auto rate = [&](double post_ns) {
    SimulatedCosts with = costs;
    with.post_ns = post_ns;
    return simulate(machine, with, program, duration_ns).gbps;
  };
  double low = 0, high = 1e6;
  if (rate(low) < gbps) return -1;
  constexpr int halvings = 30;  // to a thousandth of a nanosecond
  for (int i = 0; i < halvings && high - low > 1; ++i) {
    const double middle = (low + high) / 2;
    (rate(middle) >= gbps ? low : high) = middle;
  }
  return low;
}

}  // namespace nfx::fabric
