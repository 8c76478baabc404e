// One heap of events; a server is the time until which it has work.
#include "sizing/takeover_simulation.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <queue>
#include <vector>

#include "cluster/name_hash.hpp"
#include "cluster/owner.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx::bench {
namespace {

constexpr double renewals_of_lease = 3;  // an owner renews at a third of it
constexpr std::uint32_t replay_pieces = 8;

// For the next renewal, as owners do.
double wait_s(double lease_s) {
  const auto lease = std::chrono::duration_cast<Duration>(std::chrono::duration<double>{lease_s});
  return std::chrono::duration<double>{nfx::cluster::wait_for_lease(lease)}.count();
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() { return nfx::cluster::mixed(state_ += 0x9e3779b97f4a7c15); }
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>((next() >> 32) * limit >> 32); }
  double between(double low, double high) { return low + (high - low) * static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

enum class Step : std::uint8_t { lease_ended, read_last, claim, replay, owned, logon };

struct Event {
  double time = 0;
  std::uint64_t order = 0;  // among events at the same time
  std::uint32_t session = 0;
  Step step{};
  bool operator>(const Event& other) const { return time != other.time ? time > other.time : order > other.order; }
};

struct Session {
  double owned_s = -1, logged_on_s = -1;
  std::uint32_t gateway = 0;
  std::uint32_t stream = 0;
  std::uint32_t replayed = 0;
};

struct Server {
  double free_at = 0;
  std::vector<float> busy{};              // by second
  std::vector<std::uint32_t> requests{};  // by second
};

struct Gateway {
  std::uint32_t running = 0;            // takeovers
  std::deque<std::uint32_t> waiting{};  // sessions
  std::uint32_t second = 0;             // of these Logons
  std::uint32_t logons = 0;
};

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  return {at(0.5), at(0.99), values.back()};
}

class Simulation {
 public:
  explicit Simulation(const TakeoverOptions& options)
      : options_(options), random_(options.seed), servers_(options.servers), gateways_(options.gateways) {
    NFX_REQUIRE(options.sites >= 2 && options.servers >= options.sites && options.gateways >= options.sites);
    for (std::uint32_t i = 0; i < options.servers; ++i)
      if (!is_lost(i)) alive_servers_.push_back(i);
    for (std::uint32_t i = 0; i < options.gateways; ++i)
      if (!is_lost(i)) alive_gateways_.push_back(i);
    for (std::uint32_t i = 0; i < options.streams; ++i) place_stream(i);
    for (std::uint32_t i = 0; i < options.sessions; ++i) {
      // With rendezvous hashing each gateway has the highest weight with the same probability.
      if (!is_lost(random_.below(options.gateways))) continue;
      const auto session = static_cast<std::uint32_t>(sessions_.size());
      sessions_.push_back(
          {.gateway = alive_gateways_[random_.below(static_cast<std::uint32_t>(alive_gateways_.size()))],
           .stream = random_.below(options.streams)});
      const double age = random_.between(0, options.lease_s / renewals_of_lease);
      push(wait_s(options.lease_s) - age, session, Step::lease_ended);
      push(random_.between(0, options.reconnect_s), session, Step::logon);
    }
  }

  TakeoverResult run() {
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      ++result_.events;
      handle(event);
    }
    return report();
  }

 private:
  struct Stream {
    std::vector<std::uint32_t> servers{};  // alive ones; the first leads
    double leads_from_s = 0;
  };

  bool is_lost(std::uint32_t index) const { return index % options_.sites == 0; }

  // Replicas are on servers that follow each other, so on different sites.
  void place_stream(std::uint32_t index) {
    Stream stream;
    for (std::uint32_t i = 0; i < options_.replicas; ++i) {
      const std::uint32_t server = (index + i) % options_.servers;
      if (!is_lost(server)) stream.servers.push_back(server);
    }
    // All of its replicas are lost: it comes back with them, on the others in this model.
    if (stream.servers.empty()) stream.servers.push_back(alive_servers_[index % alive_servers_.size()]);
    if (is_lost(index % options_.servers)) {
      stream.leads_from_s = random_.between(options_.election_min_s, options_.election_max_s);
      ++result_.elections;
      result_.election_s_max = std::max(result_.election_s_max, stream.leads_from_s);
    }
    streams_.push_back(std::move(stream));
  }

  void push(double time, std::uint32_t session, Step step) {
    events_.push({.time = time, .order = ++pushed_, .session = session, .step = step});
  }

  // A server does its requests in their order. Returns when it has done these.
  double work(std::uint32_t index, double time, double seconds, std::uint32_t requests = 1) {
    Server& server = servers_[index];
    const double begin = std::max(time, server.free_at);
    server.free_at = begin + seconds;
    const auto second = static_cast<std::size_t>(begin);
    if (server.requests.size() <= second) server.requests.resize(second + 1);
    server.requests[second] += requests;
    // Its time, divided among the seconds that it is in.
    for (double from = begin; from < server.free_at;) {
      const auto at = static_cast<std::size_t>(from);
      const double until = std::min(server.free_at, static_cast<double>(at + 1));
      if (server.busy.size() <= at) server.busy.resize(at + 1);
      server.busy[at] += static_cast<float>(until - from);
      from = until;
    }
    return server.free_at;
  }

  double read(double time, std::uint32_t count) {
    result_.reads += count;
    const std::uint32_t server = alive_servers_[random_.below(static_cast<std::uint32_t>(alive_servers_.size()))];
    // Each waits for the answer to the one before.
    return work(server, time, count * options_.read_us * 1e-6, count) + count * options_.round_trip_us * 1e-6;
  }

  // Negative: lost, because the stream has no leader.
  double publish(double time, const Stream& stream) {
    ++result_.publishes;
    if (time < stream.leads_from_s) {
      ++result_.lost_requests;
      return -1;
    }
    double stored = 0;
    const std::size_t most = std::min<std::size_t>(options_.replicas / 2 + 1, stream.servers.size());
    for (std::size_t i = 0; i < stream.servers.size(); ++i) {
      const double done = work(stream.servers[i], time, options_.publish_us * 1e-6);
      if (i < most) stored = std::max(stored, done);
    }
    return stored + options_.round_trip_us * 1e-6;
  }

  void begin_next(double time, Gateway& gateway) {
    while (gateway.running < options_.takeovers_at_once && !gateway.waiting.empty()) {
      ++gateway.running;
      push(time, gateway.waiting.front(), Step::read_last);
      gateway.waiting.pop_front();
    }
  }

  void handle(const Event& event) {
    Session& session = sessions_[event.session];
    Gateway& gateway = gateways_[session.gateway];
    const Stream& stream = streams_[session.stream];
    switch (event.step) {
      case Step::lease_ended: gateway.waiting.push_back(event.session); return begin_next(event.time, gateway);
      case Step::read_last: return push(read(event.time, 1), event.session, Step::claim);
      case Step::claim: {
        const double done = publish(event.time, stream);
        if (done < 0) return push(event.time + options_.answer_timeout_s, event.session, Step::claim);
        return push(done, event.session, Step::replay);
      }
      case Step::replay: {
        const std::uint32_t rest = options_.replay_frames - session.replayed;
        if (rest == 0) return push(event.time, event.session, Step::owned);
        const std::uint32_t piece = std::min(rest, std::max<std::uint32_t>(1, options_.replay_frames / replay_pieces));
        session.replayed += piece;
        return push(read(event.time, piece), event.session, Step::replay);
      }
      case Step::owned:
        session.owned_s = event.time;
        --gateway.running;
        return begin_next(event.time, gateway);
      case Step::logon: return log_on(event, session, gateway, stream);
    }
  }

  void log_on(const Event& event, Session& session, Gateway& gateway, const Stream& stream) {
    const double next = event.time + options_.reconnect_s * random_.between(0.9, 1.1);
    if (session.owned_s < 0 || session.owned_s > event.time) return push(next, event.session, Step::logon);
    const auto second = static_cast<std::uint32_t>(event.time);
    if (gateway.second != second) gateway.logons = 0;
    gateway.second = second;
    if (gateway.logons >= options_.logons_per_s) {
      ++result_.logons_refused;
      return push(next, event.session, Step::logon);
    }
    ++gateway.logons;
    result_.logons_per_s_max = std::max(result_.logons_per_s_max, gateway.logons);
    // The Logon and its answer are stored before the answer is sent.
    const double done = publish(event.time, stream);
    if (done < 0) return push(next, event.session, Step::logon);
    session.logged_on_s = done;
  }

  TakeoverResult report() {
    std::vector<double> owned, logged_on;
    for (const Session& session : sessions_) {
      NFX_REQUIRE(session.owned_s >= 0 && session.logged_on_s >= session.owned_s);
      owned.push_back(session.owned_s);
      logged_on.push_back(session.logged_on_s);
      for (const double time : {session.owned_s, session.logged_on_s})
        result_.digest = nfx::cluster::mixed(result_.digest ^ static_cast<std::uint64_t>(std::llround(time * 1e9)));
    }
    result_.moved = static_cast<std::uint32_t>(sessions_.size());
    result_.owned_s = spread_of(std::move(owned));
    result_.logged_on_s = spread_of(std::move(logged_on));
    for (const Server& server : servers_) {
      for (std::size_t second = 0; second < server.busy.size(); ++second) {
        if (server.busy[second] <= result_.busiest_server) continue;
        result_.busiest_server = server.busy[second];
        result_.busiest_second_s = static_cast<double>(second);
      }
      for (const std::uint32_t requests : server.requests)
        result_.requests_per_s_max = std::max<std::uint64_t>(result_.requests_per_s_max, requests);
    }
    return result_;
  }

  TakeoverOptions options_;
  Random random_;
  std::vector<Server> servers_;
  std::vector<Gateway> gateways_;
  std::vector<std::uint32_t> alive_servers_, alive_gateways_;
  std::vector<Stream> streams_;
  std::vector<Session> sessions_;  // of lost gateways
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t pushed_ = 0;
  TakeoverResult result_;
};

}  // namespace

TakeoverResult simulate_takeover(const TakeoverOptions& options) { return Simulation{options}.run(); }

}  // namespace nfx::bench
