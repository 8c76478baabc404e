// Runs engines and peers in turns until nothing happens, and then moves the time to the next event.
#include "nexusfix/testing/network.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "config/wildcard.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "testing/network_parts.hpp"
#include "testing/peer_parts.hpp"

namespace nfx::testing {
namespace {

// A round receives what the previous round sent, so two rounds without an event are the end.
constexpr int quiet_rounds = 2;
// While an engine does not want to wait, for example because on_turn always returns zero.
constexpr int quiet_rounds_of_the_busy = 64;
constexpr Duration shortest_step = std::chrono::milliseconds{1};
constexpr Duration longest_advance = std::chrono::years{20};

constexpr const char* text_of_misuse =
    "a callback called run(), advance(), engine() or a function of a peer that runs the network: call it in the test";

std::string name_of(const SessionConfig& session) { return session.sender_comp_id + "->" + session.target_comp_id; }

EngineConfig for_one_thread(EngineConfig config) {
  for (SessionSettings& each : config.sessions) {
    if (each.tls_enabled)
      throw TestError(name_of(each.session) + ": this network has no TLS: set tls_enabled = false for the test");
    each.store_kind = StoreKind::memory;
    each.poll_thread = 0;
    each.session.cpu_affinity_core = -1;
    each.session.auto_pin_to_core = false;
    each.flusher = -1;
  }
  config.poll_threads = 1;
  config.placement = {};
  config.log = {};
  config.control = {};
  config.cluster = {};
  return config;
}

SessionSettings session_of(Role role, std::string sender, std::string target) {
  SessionSettings settings;
  settings.session.role = role;
  settings.session.sender_comp_id = std::move(sender);
  settings.session.target_comp_id = std::move(target);
  static const auto shipped = std::make_shared<const Dictionary>(load_dictionary("FIX44.xml"));
  settings.dictionary = shipped;
  return settings;
}

}  // namespace

SessionSettings acceptor(std::string sender_comp_id, std::string target_comp_id, std::uint16_t port) {
  SessionSettings settings = session_of(Role::acceptor, std::move(sender_comp_id), std::move(target_comp_id));
  settings.listen = {"localhost", port};
  return settings;
}

SessionSettings initiator(std::string sender_comp_id, std::string target_comp_id, std::uint16_t port) {
  SessionSettings settings = session_of(Role::initiator, std::move(sender_comp_id), std::move(target_comp_id));
  settings.connect = {{"localhost", port}};
  return settings;
}

// Engines.

EngineParts::EngineParts(NetworkParts& network, EngineConfig config, Callbacks program)
    : engine(network.network, network.clock, {.stream_buffer = network.options.stream_buffer}) {
  engine.config = for_one_thread(std::move(config));
  engine.start(std::move(program));
}

TestEngine::TestEngine(std::unique_ptr<EngineParts> parts) noexcept : parts_(std::move(parts)) {}
TestEngine::~TestEngine() = default;

SessionHandle& TestEngine::session(std::size_t number) {
  if (SessionHandle* found = parts_->engine.loop->find(number)) return *found;
  throw TestError("session(" + std::to_string(number) + "): no such session; the configuration has " +
                  std::to_string(parts_->engine.config.sessions.size()));
}

SubmitResult TestEngine::submit(std::size_t session, const Outgoing& message, SubmitOptions options) noexcept {
  return parts_->engine.loop->submit(session, message, options);
}

void TestEngine::stop() noexcept { parts_->engine.loop->request_stop(); }
bool TestEngine::finished() const noexcept { return parts_->engine.loop->finished(); }

// The network.

Network::Network(NetworkOptions options) : parts_(std::make_shared<NetworkParts>(options)) {}
Network::~Network() {
  parts_->running.clear();
  parts_->engines.clear();
}

TestEngine& Network::engine(EngineConfig config, Callbacks program) {
  parts_->refuse_in_callback();
  auto parts = std::make_unique<EngineParts>(*parts_, std::move(config), std::move(program));
  parts_->running.push_back(parts.get());
  parts_->engines.push_back(std::unique_ptr<TestEngine>(new TestEngine(std::move(parts))));
  return *parts_->engines.back();
}

TestEngine& Network::engine(SessionSettings session, Callbacks program) {
  EngineConfig config;
  config.sessions.push_back(std::move(session));
  return engine(std::move(config), std::move(program));
}

void Network::run() { parts_->run(); }
void Network::advance(Duration by) { parts_->advance(by); }
void Network::advance_to(UtcTime time) { parts_->advance(time - now()); }
UtcTime Network::now() const noexcept { return parts_->clock.now().utc; }

NetworkParts::NetworkParts(NetworkOptions wanted)
    : options(wanted), clock{.time = {wanted.start, MonotonicTime{std::chrono::hours{100}}}} {
  if (options.max_rounds == 0) throw TestError("max_rounds: expected at least 1");
}

void NetworkParts::refuse_in_callback() {
  if (!in_round_) return;
  misused_ = true;
  throw TestError(text_of_misuse);
}

std::size_t NetworkParts::round() {
  std::size_t work = 0;
  in_round_ = true;
  for (EngineParts* each : running) work += each->engine.loop->turn(Duration::max());
  in_round_ = false;
  if (std::exchange(misused_, false)) throw TestError(text_of_misuse);
  for (PeerParts* each : peers) work += each->take_turn();
  return work;
}

void NetworkParts::run() {
  refuse_in_callback();
  std::vector<std::vector<SessionFigures>> halfway;
  int quiet = 0;
  for (std::uint32_t rounds = 0; rounds < options.max_rounds; ++rounds) {
    quiet = round() == 0 ? quiet + 1 : 0;
    if (quiet >= (wanted_wait() > Duration::zero() ? quiet_rounds : quiet_rounds_of_the_busy)) return;
    if (rounds == options.max_rounds / 2) halfway = figures();
  }
  throw TestError("run(): still busy after " + std::to_string(options.max_rounds) + " rounds" + busiest(halfway));
}

void NetworkParts::advance(Duration by) {
  if (by < Duration::zero()) throw TestError("advance: the clock moves forward only");
  if (by > longest_advance) throw TestError("advance: more than 20 years");
  run();
  for (const MonotonicTime end = clock.monotonic() + by; clock.monotonic() < end;) {
    clock.advance(std::min(end - clock.monotonic(), std::max(wanted_wait(), shortest_step)));
    run();
  }
}

Duration NetworkParts::wanted_wait() const noexcept {
  Duration shortest = Duration::max();
  for (const EngineParts* each : running) shortest = std::min(shortest, each->engine.transport.wanted_wait());
  return shortest;
}

std::vector<std::vector<SessionFigures>> NetworkParts::figures() const {
  std::vector<std::vector<SessionFigures>> all(running.size());
  for (std::size_t i = 0; i < running.size(); ++i) running[i]->engine.loop->figures(all[i]);
  return all;
}

std::string NetworkParts::busiest(const std::vector<std::vector<SessionFigures>>& before) const {
  const auto after = figures();
  std::uint64_t most = 0;
  std::string text;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    for (const SessionFigures& now : after[i]) {
      const auto old = std::ranges::find(before[i], now.identity, &SessionFigures::identity);
      const SessionCounters was = old == before[i].end() ? SessionCounters{} : old->counters;
      const std::uint64_t in = now.counters.messages_in - was.messages_in;
      const std::uint64_t out = now.counters.messages_out - was.messages_out;
      if (in + out <= most) continue;
      most = in + out;
      text = ": in the last half of them " + now.identity + " received " + std::to_string(in) + " and sent " +
             std::to_string(out) +
             " messages; does its application answer an answer, or send in every on_turn()? NetworkOptions::max_rounds "
             "allows more";
    }
  }
  return most != 0 ? text : ": no session sent or received a message; connections begin and end again and again";
}

std::optional<SessionPlace> NetworkParts::find(Role role, std::string_view begin_string, std::string_view sender,
                                               std::string_view target) const {
  std::optional<SessionPlace> fits;
  for (EngineParts* each : running) {
    for (const SessionSettings& settings : each->engine.config.sessions) {
      const SessionConfig& session = settings.session;
      if (session.role != role || (!begin_string.empty() && session.begin_string != begin_string)) continue;
      const SessionPlace place{&*each->engine.loop, &settings};
      if (session.sender_comp_id == sender && session.target_comp_id == target) return place;
      if (!fits && settings.is_template && matches_wildcard(session.sender_comp_id, sender) &&
          matches_wildcard(session.target_comp_id, target))
        fits = place;
    }
  }
  return fits;
}

std::vector<std::uint16_t> NetworkParts::listening() const {
  std::vector<std::uint16_t> ports;
  for (const EngineParts* each : running) {
    for (const SessionSettings& settings : each->engine.config.sessions) {
      if (settings.session.role != Role::acceptor) continue;
      const auto place = each->engine.loop->local_endpoint(settings.listen);
      if (place && std::ranges::count(ports, place->port) == 0) ports.push_back(place->port);
    }
  }
  return ports;
}

std::string NetworkParts::session_names() const {
  std::string names;
  for (const EngineParts* each : running) {
    for (const SessionSettings& settings : each->engine.config.sessions)
      names += (names.empty() ? "" : ", ") + name_of(settings.session);
  }
  return names.empty() ? "none" : names;
}

}  // namespace nfx::testing
