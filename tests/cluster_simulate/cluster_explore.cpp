// Explores every interleaving of two gateways and a stream, to a given depth: faults are enumerated, not drawn. A read
// is answered from any earlier state, or without one frame; a publish is stored and its answer delivered, delayed,
// delivered twice or never; a refusal may be wrong; requests arrive late or never; a gateway may be killed; an operator
// may remove obsolete frames.
//   build/release/tests/cluster_simulate/cluster_explore --depth 12
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cli/command_line.hpp"
#include "cluster/compaction.hpp"
#include "cluster/name_hash.hpp"
#include "cluster/owner.hpp"
#include "cluster_simulate/ledger.hpp"
#ifdef NFX_WITH_PLANTS
#include "plants/find_bugs.hpp"
#endif

namespace {

using namespace nfx::cluster;
using nfx::cluster_simulate::chain_after;
using nfx::cluster_simulate::Ledger;
using nfx::cluster_simulate::OwnFrame;
using Bytes = std::shared_ptr<const std::string>;

// A message between a gateway and the stream.
struct Message {
  int gateway = 0;
  std::uint64_t run = 0;
  ActionKind kind{};  // for a request
  EventKind event{};  // for an answer
  std::uint64_t request = 0;
  std::uint64_t sequence = 0;
  Bytes bytes;
};

struct Gateway {
  std::shared_ptr<OwnerState> state;  // copied before a change
  std::uint64_t run = 0;
  std::uint64_t epoch = 0;  // 0: not the owner
  std::uint64_t chain = 0;
  std::vector<std::uint64_t> waiting;  // appended outbound sequence numbers
  std::uint64_t released = 0;
  std::uint64_t resets = 0;  // in the recovered and released records
};

// The remaining number of faults of each kind.
struct Budget {
  int appends = 3;
  int resets = 1;
  int kills = 1;
  int lies = 2;  // answers from an earlier state or with a hole, and wrong refusals
  int follows = 1;
  int copies = 1;  // requests and answers that arrive twice
  int timers = 3;  // requests that are assumed lost
  int purges = 1;
};

struct State {
  std::array<Gateway, 2> gateways;
  std::vector<Bytes> stream;   // the frame with sequence i + 1
  std::size_t removed = 0;     // number of removed frames, from the front
  std::size_t removed_at = 0;  // number of stored frames at the time of the removal
  std::vector<Message> requests, answers;
  Ledger ledger;
  Budget budget;
  std::uint64_t runs = 0;
  std::uint64_t contents = 0;
};

class Explorer {
 public:
  explicit Explorer(Durability durability) : durability_(durability) {}

  // The first gateway owns the session, and has stored a record, a reset, and another record.
  State begin() {
    State state;
    restart(state, 0);
    restart(state, 1);
    give(state, 0, {.kind = EventKind::want});
    while (!state.requests.empty()) serve(state, 0, true);
    for (const RecordKind kind : {RecordKind::outbound, RecordKind::reset, RecordKind::outbound}) {
      append(state, 0, kind);
      while (!state.requests.empty()) serve(state, 0, true);
    }
    state.budget = {};
    return state;
  }

  void explore(const State& state, int depth) {
    ++visited_;
    if (!finding_.empty() || depth == 0) return;
    const auto [place, is_new] = seen_.try_emplace(fingerprint(state), depth);
    if (!is_new && place->second >= depth) return;
    place->second = depth;
    for_each_move(state, [&](const char* name, int which, auto&& move) {
      if (!finding_.empty()) return;
      State next = state;
      path_.push_back(std::string{name} + " " + std::to_string(which));
      move(next);
      if (finding_.empty()) explore(next, depth - 1);
      if (finding_.empty()) path_.pop_back();
    });
  }

  [[nodiscard]] const std::string& finding() const { return finding_; }
  [[nodiscard]] const std::vector<std::string>& path() const { return path_; }
  [[nodiscard]] std::uint64_t visited() const { return visited_; }
  [[nodiscard]] std::size_t states() const { return seen_.size(); }
  [[nodiscard]] std::uint64_t takeovers() const { return takeovers_; }
  [[nodiscard]] std::uint64_t fenced() const { return fenced_; }

 private:
  template <class Each>
  void for_each_move(const State& state, Each&& each) {
    for (int i = 0; i < static_cast<int>(state.requests.size()); ++i) moves_of_request(state, i, each);
    for (int i = 0; i < static_cast<int>(state.answers.size()); ++i) {
      each("answer arrives", i, [&, i](State& next) { deliver(next, i, false); });
      if (state.budget.copies > 0) {
        each("answer arrives, and will again", i, [&, i](State& next) {
          --next.budget.copies;
          deliver(next, i, true);
        });
      }
    }
    if (state.budget.purges > 0) {
      each("operator removes what is of no use", 0, [&](State& next) {
        --next.budget.purges;
        purge(next);
      });
    }
    for (int i = 0; i < 2; ++i) {
      const Gateway& gateway = state.gateways[static_cast<std::size_t>(i)];
      if (gateway.state->phase == Phase::idle)
        each("gateway wants", i, [&, i](State& next) { give(next, i, {.kind = EventKind::want}); });
      if (gateway.state->phase == Phase::idle && state.budget.follows > 0) {
        each("gateway follows", i, [&, i](State& next) {
          --next.budget.follows;
          give(next, i, {.kind = EventKind::follow});
        });
      }
      if (gateway.epoch != 0 && state.budget.appends > 0 && has_space(*gateway.state, RecordKind::outbound, 20)) {
        each("gateway appends", i, [&, i](State& next) {
          --next.budget.appends;
          append(next, i, RecordKind::outbound);
        });
      }
      if (gateway.epoch != 0 && state.budget.resets > 0 && has_space(*gateway.state, RecordKind::reset, 0)) {
        each("gateway resets", i, [&, i](State& next) {
          --next.budget.resets;
          append(next, i, RecordKind::reset);
        });
      }
      if (gateway.state->deadline != never && state.budget.timers > 0) {
        each("gateway waits no longer", i, [&, i](State& next) {
          if (next.gateways[static_cast<std::size_t>(i)].state->request != 0) --next.budget.timers;
          give(next, i, {});
        });
      }
      // Several moves as one, so that whole takeovers fit into few moves.
      if (gateway.state->phase != Phase::idle && gateway.state->request != 0)
        each("gateway is served until it has what it needs", i, [&, i](State& next) { serve_all(next, i); });
      if (state.budget.kills > 0) {
        each("gateway is killed", i, [&, i](State& next) {
          --next.budget.kills;
          restart(next, i);
        });
      }
    }
  }

  template <class Each>
  void moves_of_request(const State& state, int i, Each&& each) {
    const Message& request = state.requests[static_cast<std::size_t>(i)];
    each("request served", i, [&, i](State& next) { serve(next, i, true); });
    if (request.kind == ActionKind::publish) {
      each("request served, answer delayed", i, [&, i](State& next) { serve(next, i, false); });
      if (state.budget.copies > 0) {
        each("request served, and will be again", i, [&, i](State& next) {
          --next.budget.copies;
          next.requests.push_back(next.requests[static_cast<std::size_t>(i)]);
          serve(next, i, true);
        });
      }
    }
    if (state.budget.lies == 0) return;
    if (request.kind == ActionKind::publish) {
      each("request refused wrongly", i, [&, i](State& next) {
        --next.budget.lies;
        const Message lie = take(next.requests, i);
        arrive(next, answer_to(lie, EventKind::refused, 0, nullptr));
      });
      return;
    }
    // A server that has all frames may not know of the last removal yet.
    const bool removed_last = state.removed != 0 && state.removed_at == state.stream.size();
    for (std::size_t known = 0; known < state.stream.size() + (removed_last ? 1 : 0); ++known) {
      each("read answered from an old state", static_cast<int>(known), [&, i, known](State& next) {
        --next.budget.lies;
        const Message read = take(next.requests, i);
        arrive(next, read_of(next, read, {.known = known, .removed = known > next.removed_at ? next.removed : 0}, 0));
      });
    }
    each("read answered with a hole", i, [&, i](State& next) {
      --next.budget.lies;
      const Message read = take(next.requests, i);
      arrive(next, read_of(next, read, all_of(next), 1));
    });
  }

  static Message take(std::vector<Message>& list, int i) {
    Message message = list[static_cast<std::size_t>(i)];
    list.erase(list.begin() + i);
    return message;
  }

  static Message answer_to(const Message& to, EventKind event, std::uint64_t sequence, Bytes bytes) {
    return {.gateway = to.gateway,
            .run = to.run,
            .event = event,
            .request = to.request,
            .sequence = sequence,
            .bytes = std::move(bytes)};
  }

  // The frames on a server: the first `known` ones, without removed ones.
  struct View {
    std::uint64_t known = 0;
    std::uint64_t removed = 0;
  };
  static View all_of(const State& state) { return {.known = state.stream.size(), .removed = state.removed}; }

  // Without `skipped` of the frames that the server would return.
  static Message read_of(const State& state, const Message& read, const View& view, std::uint64_t skipped) {
    const std::uint64_t wanted = read.kind == ActionKind::read_last
                                     ? view.known - std::min(view.known, skipped)
                                     : std::max(read.sequence, view.removed) + 1 + skipped;
    if (wanted <= view.removed || wanted > view.known) return answer_to(read, EventKind::none, 0, nullptr);
    return answer_to(read, EventKind::found, wanted, state.stream[wanted - 1]);
  }

  void serve(State& state, int i, bool answered) {
    const Message request = take(state.requests, i);
    Message answer;
    if (request.kind != ActionKind::publish) {
      answer = read_of(state, request, all_of(state), 0);
    } else if (request.sequence == state.stream.size()) {
      state.stream.push_back(request.bytes);
      check(state.ledger.stored(*request.bytes));
      answer = answer_to(request, EventKind::stored, state.stream.size(), nullptr);
    } else {
      answer = answer_to(request, EventKind::refused, 0, nullptr);
    }
    if (answered) return arrive(state, answer);
    state.answers.push_back(answer);
  }

  void serve_all(State& state, int gateway) {
    for (int served = 0; served < 16 && finding_.empty(); ++served) {
      const std::uint64_t run = state.gateways[static_cast<std::size_t>(gateway)].run;
      const auto found = std::ranges::find(state.requests, run, &Message::run);
      if (found == state.requests.end()) return;
      serve(state, static_cast<int>(found - state.requests.begin()), true);
    }
  }

  void deliver(State& state, int i, bool again) {
    const Message answer = state.answers[static_cast<std::size_t>(i)];
    if (!again) static_cast<void>(take(state.answers, i));
    arrive(state, answer);
  }

  void arrive(State& state, const Message& answer) {
    if (state.gateways[static_cast<std::size_t>(answer.gateway)].run != answer.run) return;
    give(state, answer.gateway,
         {.kind = answer.event,
          .request = answer.request,
          .sequence = StreamSeq{answer.sequence},
          .bytes = answer.bytes ? std::string_view{*answer.bytes} : std::string_view{}});
  }

  void restart(State& state, int i) {
    OwnerOptions options{.session = SessionId{1}, .gateway = GatewayId{++state.runs}, .durability = durability_};
    options.frame_bytes_max = 512;
    options.pending_bytes_max = 512;
    options.number_block = 4;
    options.async_records_max = 2;
    Gateway& gateway = state.gateways[static_cast<std::size_t>(i)];
    gateway = {};
    gateway.run = state.runs;
    gateway.state = std::make_shared<OwnerState>(options);
  }

  void append(State& state, int i, RecordKind kind) {
    Gateway& gateway = state.gateways[static_cast<std::size_t>(i)];
    const bool is_reset = kind == RecordKind::reset;
    const nfx::SeqNum seq = is_reset ? nfx::SeqNum{} : gateway.state->counters.outbound;
    const std::string content =
        is_reset ? std::string{} : std::to_string(gateway.epoch) + "." + std::to_string(++state.contents);
    gateway.waiting.push_back(value(seq));
    give(state, i, {.kind = EventKind::append, .record = {kind, seq, content}});
  }

  void purge(State& state) {
    Compaction compaction;
    std::uint64_t chain = 0;
    const auto each = [&](auto&& use) {
      for (std::size_t i = state.removed; i < state.stream.size(); ++i) {
        FrameView frame;
        if (decode_frame(*state.stream[i], frame) == FrameError::none) use(StreamSeq{i + 1}, frame);
      }
    };
    each([&](StreamSeq sequence, const FrameView& frame) { compaction.add(sequence, frame); });
    if (compaction.keep_from() == StreamSeq{}) return;
    state.removed = static_cast<std::size_t>(std::to_underlying(compaction.keep_from())) - 1;
    state.removed_at = state.stream.size();
    each([&](StreamSeq, const FrameView& frame) { chain = chain_after(chain, frame); });
    check(state.ledger.removed(*state.stream[state.removed], chain));
  }

  void give(State& state, int i, const Event& event) {
    Gateway& gateway = state.gateways[static_cast<std::size_t>(i)];
    gateway.state = std::make_shared<OwnerState>(*gateway.state);
    Actions actions;
    // Time advances only as far as the event needs, so that states that differ only in time are one state.
    const nfx::MonotonicTime now = event.kind == EventKind::timer ? gateway.state->deadline : start;
    const OwnFrame own{*gateway.state};
    step(*gateway.state, event, now, actions);
    gateway.chain = own.chain_after_step(gateway.chain, *gateway.state);
    for (const Action& action : actions.list()) carry_out(state, i, action);
  }

  void carry_out(State& state, int i, const Action& action) {
    Gateway& gateway = state.gateways[static_cast<std::size_t>(i)];
    switch (action.kind) {
      case ActionKind::publish:
      case ActionKind::read_last:
      case ActionKind::read_next:
        state.requests.push_back({.gateway = i,
                                  .run = gateway.run,
                                  .kind = action.kind,
                                  .request = action.request,
                                  .sequence = std::to_underlying(action.sequence),
                                  .bytes = std::make_shared<const std::string>(action.bytes)});
        return;
      case ActionKind::recover: {
        FrameView frame;
        if (decode_frame(action.bytes, frame) != FrameError::none)
          return check("bytes were recovered that are not a frame");
        gateway.chain = chain_after(action.first ? 0 : gateway.chain, frame);
        return;
      }
      case ActionKind::own:
        ++takeovers_;
        gateway.epoch = std::to_underlying(gateway.state->epoch);
        gateway.released = 0;
        gateway.waiting.clear();
        gateway.resets = state.ledger.resets_before(gateway.epoch);
        return check(state.ledger.owns(gateway.epoch, gateway.run, gateway.state->counters, gateway.chain));
      case ActionKind::release: return release(state, gateway, action.count);
      case ActionKind::renew_lease:
      case ActionKind::drop_lease: return;
      case ActionKind::stop:
        if (action.reason == StopReason::corrupt) check("an owner found frames that contradict each other");
        if (action.reason == StopReason::fenced) ++fenced_;
        gateway.epoch = 0;
        return;
    }
  }

  void release(State& state, Gateway& gateway, std::uint64_t count) {
    const bool is_async = durability_ == Durability::async;
    check(state.ledger.released(gateway.epoch, count, is_async, is_async ? 2 : 0));
    for (; gateway.released < count; ++gateway.released) {
      if (gateway.released >= gateway.waiting.size()) return check("a record was released that was not appended");
      const std::uint64_t seq = gateway.waiting[gateway.released];
      if (seq == 0) {
        ++gateway.resets;
        continue;
      }
      check(state.ledger.sent(gateway.epoch, gateway.resets, seq,
                              std::to_string(gateway.run) + "." + std::to_string(seq)));
    }
  }

  void check(const std::string& finding) {
    if (finding_.empty()) finding_ = finding;
  }

  // A hash of everything that decides what can happen next; times are left out, because any timer may be next.
  static std::uint64_t fingerprint(const State& state) {
    std::uint64_t hash = 0;
    const auto add = [&hash](std::uint64_t more) { hash = mixed(hash ^ (more + 0x9e3779b97f4a7c15)); };
    const auto add_bytes = [&](std::string_view bytes) { add(name_hash(bytes)); };
    for (const Gateway& gateway : state.gateways) {
      const OwnerState& owner = *gateway.state;
      for (const std::uint64_t value : {gateway.run,
                                        gateway.epoch,
                                        gateway.chain,
                                        gateway.released,
                                        gateway.resets,
                                        std::uint64_t{gateway.waiting.size()},
                                        static_cast<std::uint64_t>(owner.phase),
                                        static_cast<std::uint64_t>(owner.probe),
                                        std::to_underlying(owner.last),
                                        std::to_underlying(owner.number),
                                        std::to_underlying(owner.epoch),
                                        value_of(owner.counters),
                                        value_of(owner.framed),
                                        value_of(owner.stored_counters),
                                        nfx::value(owner.stored_limit),
                                        nfx::value(owner.outbound_limit),
                                        nfx::value(owner.granted),
                                        owner.appended,
                                        owner.stored,
                                        owner.released,
                                        owner.requests,
                                        owner.request,
                                        owner.flight.first_request,
                                        std::to_underlying(owner.flight.expected),
                                        static_cast<std::uint64_t>(owner.deadline == never)})
        add(value);
      add_bytes({owner.pending.data(), owner.pending.size()});
      add_bytes({owner.flight.bytes.data(), owner.flight.bytes.size()});
    }
    for (const Bytes& frame : state.stream) add_bytes(*frame);
    for (const auto* list : {&state.requests, &state.answers}) {
      // In any order, because each of them may be next.
      std::uint64_t sum = 0;
      for (const Message& message : *list) {
        std::uint64_t one =
            mixed(message.run << 32 ^ message.request << 8 ^ static_cast<std::uint64_t>(message.kind) << 4 ^
                  static_cast<std::uint64_t>(message.event));
        one = mixed(one ^ message.sequence ^ (message.bytes ? name_hash(*message.bytes) : 0));
        sum += one;
      }
      add(sum);
      add(list->size());
    }
    const Budget& budget = state.budget;
    for (const int left : {budget.appends, budget.resets, budget.kills, budget.lies, budget.follows, budget.copies,
                           budget.timers, budget.purges})
      add(static_cast<std::uint64_t>(left));
    add(state.removed << 32 | state.removed_at);
    add(state.runs);
    return hash;
  }
  static std::uint64_t value_of(const Counters& counters) {
    return nfx::value(counters.inbound) << 32 ^ nfx::value(counters.outbound);
  }

  static constexpr nfx::MonotonicTime start{std::chrono::hours{1}};

  Durability durability_;
  std::unordered_map<std::uint64_t, int> seen_;  // depth explored from each state
  std::vector<std::string> path_;
  std::string finding_;
  std::uint64_t visited_ = 0, takeovers_ = 0, fenced_ = 0;
};

#ifdef NFX_WITH_PLANTS
// Whether the same search finds owners without a protection: the protections that a takeover depends on most.
int find_plants(int depth) {
  const auto search = [depth] {
    Explorer explorer{Durability::replicated};
    explorer.explore(explorer.begin(), depth);
    const std::string moves = std::to_string(explorer.visited()) + " moves";
    if (explorer.finding().empty()) return nfx::plants::Search{false, "in " + moves};
    std::string text = "after " + moves + ": " + explorer.finding();
    for (const std::string& move : explorer.path()) text += "\n  " + move;
    return nfx::plants::Search{true, std::move(text)};
  };
  std::vector<nfx::plants::Bug> bugs;
  for (const char* name : {"early-release", "epoch-not-compared", "barrier-skipped", "attempt-not-counted"})
    bugs.push_back(nfx::plants::planted_bug(name, search));
  return nfx::plants::find_bugs(bugs);
}
#else
bool run(Durability durability, const char* name, int depth) {
  Explorer explorer{durability};
  explorer.explore(explorer.begin(), depth);
  std::printf("%s: depth %d, %llu moves, %zu different states, %llu takeovers, %llu owners fenced\n", name, depth,
              static_cast<unsigned long long>(explorer.visited()), explorer.states(),
              static_cast<unsigned long long>(explorer.takeovers()),
              static_cast<unsigned long long>(explorer.fenced()));
  if (explorer.finding().empty()) return true;
  std::printf("%s: %s, after:\n", name, explorer.finding().c_str());
  for (const std::string& move : explorer.path()) std::printf("  %s\n", move.c_str());
  return false;
}
#endif

}  // namespace

int main(int argc, char** argv) {
  std::uint32_t depth = 8;
  const nfx::cli::Command program{
      .name = "cluster_explore",
      .summary = "Every interleaving of two gateways and a stream that answers late, twice, wrongly or never",
      .options = {{.names = "--depth", .target = &depth, .help = "Moves after the first owner's record", .value = "N"}},
  };
  if (const auto exit_code = nfx::cli::parse(program, argc, argv)) return *exit_code;
#ifdef NFX_WITH_PLANTS
  return find_plants(static_cast<int>(depth));
#else
  const bool replicated = run(Durability::replicated, "replicated", static_cast<int>(depth));
  const bool async = run(Durability::async, "async", static_cast<int>(depth));
  return replicated && async ? 0 : 1;
#endif
}
