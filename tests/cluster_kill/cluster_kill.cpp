// The kill test of the cluster: three nats-servers, two gateways and a trader, all on loopback. Under load the owner of
// the session is killed, paused for longer than its lease, cut off from the servers, or stopped in order, or loses its
// disk. The network is split, with the owner and the leader of the stream on one side, and the other gateway with two
// servers on the other. The leader is cut off from the other servers, servers are killed, the trader's connections are
// cut, and everything is restarted in turn. At the end each order has exactly one answer, both sides and the stream
// agree on the sequence numbers, and every message sent to the trader is in the stream.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/clocks.hpp"
#include "cli/command_line.hpp"
#include "gateways.hpp"
#include "nats/nats_stream.hpp"
#include "nats_cluster/relays.hpp"
#include "nats_cluster/three_servers.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "quickfix_trader.hpp"
#include "trader.hpp"

namespace nfx::cluster_kill {
namespace {

using namespace std::chrono_literals;
using test::Flow;
using test::Relays;

constexpr int skipped = 77;
const std::string session_name = "VENUE-TRADER";

struct Options {
  std::uint32_t cycles = 300;
  std::uint64_t seed = 0;
  std::vector<std::string> kinds;
  std::string durability = "replicated";
  std::string role = "acceptor";
  std::string peer = "nexusfix";
  std::uint32_t window = 64;
  std::uint32_t rate = 1000;
  std::uint32_t history = 100;
  std::uint32_t lease_s = 1;
  bool print = false;
};

const std::vector<std::string> all_kinds = {"kill", "pause",  "cut",    "split",  "island",  "mute", "disk",
                                            "stop", "server", "leader", "client", "rolling", "both"};
// After these events an async owner may have sent messages that are not stored.
const std::vector<std::string> losing_kinds = {"kill", "pause", "cut", "split", "disk", "both"};

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void pass(Duration time) { ::poll(nullptr, 0, static_cast<int>(time / 1ms)); }

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

// The stream's content for the session: each sent message by sequence number, and the next sequence numbers.
struct Stored {
  std::map<std::uint64_t, std::string> sent;
  cluster::Counters end;
};

class Reader {
 public:
  explicit Reader(const nats::NatsOptions& options)
      : stream_(options), index_(stream_.add_session(session_name, cluster::GatewayId{1})) {}

  // Reads until nothing follows the last frame.
  Stored read() {
    Stored stored;
    cluster::StreamSeq last{};
    for (std::uint64_t request = 1;; ++request) {
      stream_.request(index_, {.kind = cluster::ActionKind::read_next, .request = request, .sequence = last});
      bool more = false, answered = false;
      const MonotonicTime end = read_monotonic() + 10s;
      while (!answered && read_monotonic() < end) {
        stream_.poll([&](nats::SessionIndex, const cluster::Event& event) {
          if (event.request != request) return;
          answered = event.kind == cluster::EventKind::found || event.kind == cluster::EventKind::none;
          if (event.kind != cluster::EventKind::found) return;
          more = true;
          last = event.sequence;
          add(stored, event.bytes);
        });
        if (!answered) stream_.wait(5ms);
      }
      if (!answered) throw Failure("the stream does not answer at the end");
      if (!more) return stored;
    }
  }

 private:
  static void add(Stored& stored, std::string_view bytes) {
    cluster::FrameView frame;
    if (decode_frame(bytes, frame) != cluster::FrameError::none)
      throw Failure("the stream has bytes that are not a frame");
    stored.end = frame.end;
    for (std::string_view rest = frame.records; !rest.empty();) {
      const cluster::Record record = cluster::take_record(rest);
      if (record.kind != cluster::RecordKind::outbound || record.bytes.empty()) continue;
      if (!stored.sent.emplace(value(record.seq), record.bytes).second)
        throw Failure("the stream has two messages of number " + std::to_string(value(record.seq)));
    }
  }

  nats::NatsStream stream_;
  nats::SessionIndex index_;
};

class Run {
 public:
  explicit Run(const Options& options)
      : options_(options),
        random_(options.seed),
        nats_options_{.url = servers_.url(), .stream = "KILL", .timeout = 3s},
        gateways_({.folder = servers_.folder() / "gateways",
                   .servers = {servers_of(0), servers_of(1)},
                   .stream = "KILL",
                   .durability = options.durability,
                   .lease_s = options.lease_s,
                   .connect = options.role == "initiator" ? client_port(trader_port_) : std::uint16_t{0}}) {
    make_streams();
    for (int i = 0; i < Gateways::count; ++i) gateways_.start(i);
    const Load load{.window = options.window, .rate = options.rate};
    if (options.role == "initiator") {
      trader_ = std::make_unique<Trader>(Role::acceptor, std::vector<std::uint16_t>{trader_port_}, load);
      return;
    }
    const std::vector<std::uint16_t> ports = {client_port(gateways_.port(0)), client_port(gateways_.port(1))};
    if (options.peer == "quickfix")
      trader_ = make_quickfix_trader(ports, load);
    else
      trader_ = std::make_unique<Trader>(Role::initiator, ports, load);
    if (trader_ == nullptr) throw Failure("--peer quickfix: QuickFIX is not installed (package libquickfix-dev)");
  }

  void cycles() {
    wait_for_answers(options_.history, 600s, "the first answers");
    for (std::uint32_t cycle = 1; cycle <= options_.cycles; ++cycle) {
      const std::string& kind = options_.kinds[random_() % options_.kinds.size()];
      both_run();
      // Under load, at a random moment.
      wait_for_answers(20 + random_() % 800, 10min, "load before a " + kind);
      const Duration gap = disturb(kind);
      gaps_[kind].push_back(gap);
      if (options_.print || cycle % 20 == 0) {
        std::printf("  %4u %-7s gap %6.2f s, %llu orders; last takeover: %s\n", cycle, kind.c_str(), seconds(gap),
                    static_cast<unsigned long long>(trader_->sent()),
                    gateways_.last_takeover(std::max(gateways_.owner(), 0)).c_str());
        std::fflush(stdout);
      }
    }
    both_run();
  }

  void settle_and_audit() {
    trader_->hold(true);
    wait_until([&] { return trader_->answered() >= trader_->sent(); }, 10min, "the last answers");
    trader_->stop();
    const Ledger& ledger = trader_->ledger();
    std::uint64_t lost = 0, twice = 0;
    for (std::size_t order = 1; order < ledger.answers.size(); ++order) {
      if (ledger.answers[order] == 0) ++lost;
      if (ledger.answers[order] > 1) ++twice;
    }
    // All messages of the logout are stored once the gateways have ended.
    for (int i = 0; i < Gateways::count; ++i) gateways_.terminate(i);
    wait_until([&] { return gateways_.ended(0) && gateways_.ended(1); }, 10min, "the end of the gateways");
    const Stored stored = Reader{nats_options_}.read();
    std::uint64_t unknown = 0;
    MessageView message;
    for (const auto& [seq, order] : ledger.received) {
      const auto found = stored.sent.find(seq);
      const bool same = found != stored.sent.end() && message.parse(found->second) == WireError::none &&
                        message.get_view(Tag::ClOrdID) == std::to_string(order);
      if (!same) ++unknown;
    }
    std::printf(
        "  orders %llu, answers %llu, logons %llu; lost %llu, answered twice %llu, numbers with two orders %llu, "
        "received and not stored %llu\n",
        static_cast<unsigned long long>(ledger.sent), static_cast<unsigned long long>(ledger.answered),
        static_cast<unsigned long long>(ledger.logons), static_cast<unsigned long long>(lost),
        static_cast<unsigned long long>(twice), static_cast<unsigned long long>(ledger.conflicts),
        static_cast<unsigned long long>(unknown));
    std::printf("  next numbers: trader in %llu out %llu, stream in %llu out %llu\n",
                static_cast<unsigned long long>(trader_->next_in()),
                static_cast<unsigned long long>(trader_->next_out()),
                static_cast<unsigned long long>(value(stored.end.inbound)),
                static_cast<unsigned long long>(value(stored.end.outbound)));
    for (auto& [kind, gaps] : gaps_) {
      std::ranges::sort(gaps);
      std::printf("  %-7s %4zu times: median gap %.2f s, worst %.2f s\n", kind.c_str(), gaps.size(),
                  seconds(gaps[gaps.size() / 2]), seconds(gaps.back()));
    }
    std::fflush(stdout);
    // An async gateway may lose messages that it sent before they were stored. The next gateway answers those orders
    // again, under other numbers.
    const bool replicated = options_.durability == "replicated";
    constexpr std::uint64_t async_messages = 256;  // the default of [cluster] async_messages
    const std::uint64_t may_be_twice = replicated ? 0 : async_messages * losses();
    if (lost + ledger.conflicts != 0) throw Failure("orders were lost, or a number was used twice");
    if (twice > may_be_twice) throw Failure("orders were answered twice");
    if (unknown > may_be_twice) throw Failure("the trader was sent what is not stored");
    if (value(stored.end.inbound) != trader_->next_out())
      throw Failure("the next sequence number of the trader's messages differs");
    // The answer to a Logout, and a Heartbeat before it, are not sent if the cluster takes longer to store them than a
    // gateway waits before it closes the connection. Their numbers are in the stream, without bytes.
    if (value(stored.end.outbound) < trader_->next_in())
      throw Failure("the trader received a message whose number is not in the stream");
    for (std::uint64_t seq = trader_->next_in(); seq < value(stored.end.outbound); ++seq) {
      const auto missed = stored.sent.find(seq);
      if (missed == stored.sent.end()) continue;
      const bool read = message.parse(missed->second) == WireError::none;
      if (!read || message.msg_type() != msg_type::logout)
        throw Failure("the trader did not receive message " + std::to_string(seq));
    }
  }

  [[nodiscard]] std::string story() {
    return gateways_.last_lines(0) + gateways_.last_lines(1) + servers_.logs() + (trader_ ? trader_->events() : "");
  }

 private:
  [[nodiscard]] std::uint64_t losses() const {
    std::uint64_t all = 0;
    for (const auto& [kind, gaps] : gaps_) all += std::ranges::count(losing_kinds, kind) != 0 ? gaps.size() : 0;
    return all;
  }
  // The addresses for a gateway: a relay to each server, which can be cut.
  std::string servers_of(int gateway) {
    std::string urls;
    for (int i = 0; i < 3; ++i) {
      const std::size_t relay = relays_.add(servers_.client_port(i));
      server_relays_[static_cast<std::size_t>(gateway)].push_back(relay);
      urls += (urls.empty() ? "" : ",") + ("nats://gateway:secret@127.0.0.1:" + std::to_string(relays_.port(relay)));
    }
    return urls;
  }
  std::uint16_t client_port(std::uint16_t target) {
    client_relays_.push_back(relays_.add(target));
    return relays_.port(client_relays_.back());
  }
  void set_servers_of(int gateway, Flow flow) {
    for (const std::size_t relay : server_relays_[static_cast<std::size_t>(gateway)]) relays_.set(relay, flow);
  }
  void set_routes_of(int server, Flow flow) {
    for (const auto& [ends, relay] : route_relays_)
      if (ends.first == server || ends.second == server) relays_.set(relay, flow);
  }
  // One gateway and one server can only reach each other.
  void split(int gateway, int server, Flow flow) {
    set_routes_of(server, flow);
    for (int i = 0; i < 3; ++i) {
      const int cut = i == server ? 1 - gateway : gateway;
      relays_.set(server_relays_[static_cast<std::size_t>(cut)][static_cast<std::size_t>(i)], flow);
    }
  }
  [[nodiscard]] MonotonicTime last_answer() const { return MonotonicTime{Duration{trader_->last_answer_ns()}}; }

  void make_streams() {
    std::string error = "no attempt";
    for (const MonotonicTime end = read_monotonic() + 90s; read_monotonic() < end && !error.empty();) {
      try {
        nats::NatsStream stream{nats_options_};
        stream.create({.bytes_max = std::uint64_t{2} << 30, .lease = std::chrono::seconds{options_.lease_s}});
        error.clear();
      } catch (const nats::NatsError& failure) {
        error = failure.what();
        pass(100ms);
      }
    }
    if (!error.empty()) throw Failure(error + "\n" + servers_.logs());
  }

  template <class Condition>
  void wait_until(Condition&& condition, Duration most, const std::string& what) {
    const MonotonicTime end = read_monotonic() + most;
    while (!condition()) {
      if (read_monotonic() >= end) throw Failure("no " + what + " within " + std::to_string(most / 1s) + " s");
      pass(2ms);
    }
  }
  void wait_for_answers(std::uint64_t more, Duration most, const std::string& what) {
    const std::uint64_t until = trader_->answered() + more;
    wait_until([&] { return trader_->answered() >= until; }, most, what);
  }
  // A killed gateway runs again, and is connected to the cluster.
  void both_run() {
    for (int i = 0; i < Gateways::count; ++i) gateways_.start(i);
    for (int i = 0; i < Gateways::count; ++i)
      wait_until([&] { return gateways_.lines_with(i, "while this gateway owns it") != 0; }, 10min,
                 "start of a gateway");
    for (int i = 0; i < 3; ++i) {
      if (!servers_.runs(i)) servers_.start(i);
    }
  }

  // The longest time without an answer, from the last answer before.
  Duration disturb(const std::string& kind) {
    const int owner = gateways_.owner();
    if (owner < 0) throw Failure("no gateway owns the session");
    if (kind == "server") return kill_server(static_cast<int>(random_() % 3));
    if (kind == "leader") return kill_server(leader());
    if (kind == "island") return cut_server(leader());
    if (kind == "client") return cut_client();
    if (kind == "mute") return mute_servers_of(owner);
    if (kind == "rolling") return restart_all();
    if (kind == "both") return kill_both();
    const std::string no_owner = "no longer owned by this gateway";
    const std::size_t ended = gateways_.lines_with(owner, no_owner);
    // After its session's Logout, an application that answers on its own does not answer further messages.
    if (kind == "stop") {
      trader_->hold(true);
      wait_until([&] { return trader_->answered() >= trader_->sent(); }, 10min, "answers before a stop");
    }
    const int alone = kind == "split" ? leader() : 0;
    const MonotonicTime before = kind == "stop" ? read_monotonic() : last_answer();
    if (kind == "kill" || kind == "disk") gateways_.kill(owner);
    if (kind == "pause") gateways_.pause(owner);
    if (kind == "stop") gateways_.terminate(owner);
    if (kind == "disk") gateways_.forget_disk(owner);
    if (kind == "cut") set_servers_of(owner, Flow::none);
    if (kind == "split") split(owner, alone, Flow::none);
    wait_until([&] { return gateways_.owner() == 1 - owner; }, 10min, "takeover after a " + kind);
    const MonotonicTime taken = read_monotonic();
    trader_->hold(false);
    wait_until([&] { return last_answer() > taken; }, 10min, "answers after a " + kind);
    const Duration gap = last_answer() - before;
    set_servers_of(owner, Flow::both);
    if (kind == "split") {
      split(owner, alone, Flow::both);
      wait_until([&] { return servers_.is_healthy(alone); }, 10min, "a healthy server after a split");
    }
    if (kind == "cut" || kind == "split")
      wait_until([&] { return gateways_.lines_with(owner, no_owner) > ended; }, 10min,
                 "end of an owner that was cut off");
    if (kind == "stop") wait_until([&] { return gateways_.ended(owner); }, 10min, "end of a stopped gateway");
    if (kind == "pause") {
      gateways_.resume(owner);
      wait_until([&] { return gateways_.lines_with(owner, no_owner) > ended; }, 10min, "fencing of the paused gateway");
    }
    return gap;
  }

  // The leader of the stream of frames.
  int leader() {
    for (const MonotonicTime end = read_monotonic() + 30s; read_monotonic() < end; pass(100ms)) {
      try {
        const std::string name = nats::NatsStream{nats_options_}.state().leader;
        if (name.size() == 2) return name[1] - '0';
      } catch (const nats::NatsError&) {
        // Another election is in progress.
      }
    }
    throw Failure("the stream has no leader");
  }

  // The longest time without an answer, until answers have been arriving again for a while.
  Duration longest_gap(MonotonicTime before, const std::string& what) {
    MonotonicTime last = before;
    Duration longest{};
    const auto watch = [&] {
      const MonotonicTime now = read_monotonic(), answer = last_answer();
      if (answer > last) {
        longest = std::max(longest, Duration{answer - last});
        last = answer;
      }
      return now > before + 2s && now - last < 200ms && last > before;
    };
    wait_until(watch, 10min, "answers after " + what);
    return longest;
  }

  // The other servers continue, and the gateways reach all three.
  Duration cut_server(int server) {
    const MonotonicTime before = read_monotonic();
    set_routes_of(server, Flow::none);
    const Duration longest = longest_gap(before, "a cut between the servers");
    set_routes_of(server, Flow::both);
    wait_until([&] { return servers_.is_healthy(server); }, 10min, "a healthy server after a cut between the servers");
    return longest;
  }

  // The owner's publishes are stored, and its lease is renewed, but the answers are late.
  Duration mute_servers_of(int owner) {
    const MonotonicTime before = read_monotonic();
    set_servers_of(owner, Flow::requests);
    pass(std::chrono::milliseconds{200 + random_() % 4000});
    set_servers_of(owner, Flow::both);
    return longest_gap(before, "a time without answers of the servers");
  }

  Duration cut_client() {
    const MonotonicTime before = read_monotonic();
    for (const std::size_t relay : client_relays_) relays_.set(relay, Flow::none);
    pass(std::chrono::milliseconds{200 + random_() % 4000});
    for (const std::size_t relay : client_relays_) relays_.set(relay, Flow::both);
    return longest_gap(before, "a cut of the trader's connections");
  }

  // Neither gateway has followed when it starts again: the takeover reads everything.
  Duration kill_both() {
    const MonotonicTime before = last_answer();
    for (int i = 0; i < Gateways::count; ++i) gateways_.kill(i);
    both_run();
    wait_until([&] { return gateways_.owner() >= 0; }, 10min, "takeover after the loss of both gateways");
    const MonotonicTime taken = read_monotonic();
    wait_until([&] { return last_answer() > taken; }, 10min, "answers after the loss of both gateways");
    return last_answer() - before;
  }

  // Each server, then each gateway.
  Duration restart_all() {
    Duration longest{};
    for (int i = 0; i < 3; ++i) longest = std::max(longest, kill_server(i));
    for (int i = 0; i < Gateways::count; ++i) {
      longest = std::max(longest, disturb("stop"));
      both_run();
    }
    return longest;
  }

  Duration kill_server(int victim) {
    const MonotonicTime before = read_monotonic();
    servers_.kill(victim);
    const Duration longest = longest_gap(before, "the loss of a server");
    servers_.start(victim);
    // Until it has caught up, a second loss would leave no majority.
    wait_until([&] { return servers_.is_healthy(victim); }, 10min, "a healthy server after its start");
    return longest;
  }

  Options options_;
  const std::uint16_t trader_port_ = test::free_port();
  std::mt19937_64 random_;
  Relays relays_;
  std::map<std::pair<int, int>, std::size_t> route_relays_;  // from one server to another
  test::ThreeServers servers_{[this](int from, int to, std::uint16_t port) {
    const std::size_t relay = route_relays_[{from, to}] = relays_.add(port);
    return relays_.port(relay);
  }};
  nats::NatsOptions nats_options_;
  std::array<std::vector<std::size_t>, Gateways::count> server_relays_;
  std::vector<std::size_t> client_relays_;
  Gateways gateways_;
  std::unique_ptr<Counterparty> trader_;
  std::map<std::string, std::vector<Duration>> gaps_;
};

int run(Options options) {
  if (!nats::missing_package().empty()) {
    std::printf("cluster_kill: skipped: %s\n", nats::missing_package().data());
    return skipped;
  }
  if (test::nats_server_program().empty() || ::access(test::nats_server_program().c_str(), X_OK) != 0) {
    std::printf("cluster_kill: skipped: no nats-server 2.12 or later: ./dev deps nats builds one\n");
    return skipped;
  }
  if (options.kinds.empty()) options.kinds = all_kinds;
  if (options.seed == 0) options.seed = std::random_device{}();
  std::printf("cluster_kill --cycles %u --seed %llu --durability %s --role %s --peer %s --lease %u\n", options.cycles,
              static_cast<unsigned long long>(options.seed), options.durability.c_str(), options.role.c_str(),
              options.peer.c_str(), options.lease_s);
  std::fflush(stdout);
  std::optional<Run> one;
  try {
    one.emplace(options);
    one->cycles();
    one->settle_and_audit();
    return 0;
  } catch (const std::exception& error) {
    std::printf("%sFAILED: %s\n  seed %llu (the moments differ from run to run; the choices do not)\n",
                one ? one->story().c_str() : "", error.what(), static_cast<unsigned long long>(options.seed));
    return 1;
  }
}

cli::Command gateway_command() {
  static std::string file;
  return {.name = "gateway",
          .summary = "One gateway, as the test starts it",
          .run = [] { return run_gateway(file); },
          .options = {{.names = "CONFIG", .target = &file, .help = {}, .required = true}},
          .hidden = true};
}

cli::Command command() {
  static Options options;
  return {
      .name = "cluster_kill",
      .summary = "Kill and pause the gateways and servers of a cluster under load, and account for every order",
      .run = [] { return run(options); },
      .options = {{.names = "--cycles", .target = &options.cycles, .help = "Disturbances"},
                  {.names = "--seed", .target = &options.seed, .help = "0: another each time", .default_text = "0"},
                  {.names = "--kinds",
                   .target = &options.kinds,
                   .help =
                       "Of kill, pause, cut, split, island, mute, disk, stop, server, leader, client, rolling, both",
                   .value = "KINDS",
                   .default_text = "all",
                   .separator = ','},
                  {.names = "--durability",
                   .target = &options.durability,
                   .help = "Of the session",
                   .one_of = {"replicated", "async"}},
                  {.names = "--role",
                   .target = &options.role,
                   .help = "Of the gateways' session",
                   .one_of = {"acceptor", "initiator"}},
                  {.names = "--peer",
                   .target = &options.peer,
                   .help = "Whose engine the trader has; quickfix only with --role acceptor",
                   .one_of = {"nexusfix", "quickfix"}},
                  {.names = "--window", .target = &options.window, .help = "Orders without an answer"},
                  {.names = "--rate", .target = &options.rate, .help = "Orders per second, at most"},
                  {.names = "--history", .target = &options.history, .help = "Answers before the first of them"},
                  {.names = "--lease", .target = &options.lease_s, .help = "Of the gateways, in seconds"},
                  {.names = "--print", .target = &options.print, .help = "A line for each"}},
      .commands = {gateway_command()}};
}

}  // namespace
}  // namespace nfx::cluster_kill

int main(int argc, char** argv) {
  try {
    return nfx::cli::run(nfx::cluster_kill::command(), argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cluster_kill: %s\n", error.what());
    return 2;
  }
}
