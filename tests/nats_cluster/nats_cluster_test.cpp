// Owners on a real cluster of three nats-servers on loopback: takeover, fencing, a killed server under load, and the
// findings of a check. The environment variable NFX_NATS_SERVER selects another server program.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "cluster/compaction.hpp"
#include "nats/nats_stream.hpp"
#include "nats_cluster/relays.hpp"
#include "nats_cluster/silent_server.hpp"
#include "nats_cluster/three_servers.hpp"

namespace nfx::nats {
namespace {

using namespace std::chrono_literals;
using cluster::Action;
using cluster::ActionKind;
using cluster::Event;
using cluster::EventKind;
using cluster::GatewayId;
using cluster::OwnerState;
using cluster::RecordKind;
using cluster::StopReason;
using test::ThreeServers;

MonotonicTime now() { return std::chrono::steady_clock::now(); }

// An owner of one session on its own connection, with its recovered messages.
struct Gateway {
  Gateway(const NatsOptions& options, const std::string& session, std::uint64_t id)
      : stream(options), index(stream.add_session(session, GatewayId{id})), state(owner_options(session, id)) {}

  static cluster::OwnerOptions owner_options(const std::string& session, std::uint64_t id) {
    cluster::OwnerOptions options{.session = cluster::session_id(session), .gateway = GatewayId{id}};
    options.answer_timeout = 1s;
    return options;
  }

  void give(const Event& event) {
    cluster::Actions actions;
    step(state, event, now(), actions);
    for (const Action& action : actions.list()) {
      stream.request(index, action);
      if (action.kind == ActionKind::own) owns = true;
      if (action.kind == ActionKind::release) released = action.count;
      if (action.kind == ActionKind::recover) recover(action);
      if (action.kind == ActionKind::stop) {
        owns = false;
        stopped = action.reason;
      }
    }
  }
  void recover(const Action& action) {
    cluster::FrameView frame;
    ASSERT_EQ(decode_frame(action.bytes, frame), cluster::FrameError::none);
    if (action.first || cluster::begins_with_reset(frame)) recovered.clear();
    for (std::string_view rest = frame.records; !rest.empty();) {
      const cluster::Record record = cluster::take_record(rest);
      if (record.kind == RecordKind::outbound) recovered.emplace_back(record.bytes);
    }
  }
  void poll() {
    stream.poll([&](SessionIndex, const Event& event) {
      if (event.kind == EventKind::lease) ++leases;
      if (event.kind == EventKind::failed) ++failures;
      give(event);
    });
    if (now() >= next_deadline(state)) give({});
  }
  template <class Condition>
  bool poll_until(Condition&& condition, Duration most = 10min) {
    for (const MonotonicTime end = now() + most; now() < end;) {
      poll();
      if (condition()) return true;
      stream.wait(5ms);
    }
    return false;
  }
  void append(std::string_view text) {
    ASSERT_TRUE(has_space(state, RecordKind::outbound, text.size()));
    give({.kind = EventKind::append, .record = {RecordKind::outbound, state.counters.outbound, text}});
  }
  bool reset() {
    const bool has_place = poll_until([&] { return has_space(state, RecordKind::reset, 0); });
    if (has_place) give({.kind = EventKind::append, .record = {RecordKind::reset, SeqNum{}, {}}});
    return has_place;
  }
  // Returns the server to which it is then connected.
  const std::string& change_server() {
    stream.leave_server();
    EXPECT_TRUE(poll_until([&] { return !stream.leaves_server(); }));
    return stream.server();
  }
  bool become_owner() {
    give({.kind = EventKind::want});
    return poll_until([&] { return owns; });
  }

  NatsStream stream;
  SessionIndex index;
  OwnerState state;
  bool owns = false;
  std::uint64_t released = 0;
  int leases = 0, failures = 0;
  StopReason stopped = StopReason::none;
  std::vector<std::string> recovered;
};

class NatsCluster : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    servers = std::make_unique<ThreeServers>();
    // The servers elect the one that may create streams; until then a stream is refused.
    std::string error = "no attempt";
    for (const MonotonicTime end = now() + 10min; now() < end && !error.empty();) {
      try {
        NatsStream stream{options("gateway", 3s)};
        stream.create({.bytes_max = 64 << 20});
        error.clear();
      } catch (const NatsError& failure) {
        error = failure.what();
        ::poll(nullptr, 0, 100);
      }
    }
    ASSERT_TRUE(error.empty()) << error << "\n" << servers->logs();
  }
  static void TearDownTestSuite() { servers.reset(); }

  // After a server was killed the others may be electing for a while.
  static NatsOptions options(const std::string& user = "gateway", Duration timeout = 30s) {
    return {.url = servers->url(user), .stream = "TEST", .timeout = timeout};
  }

  // Through relays; relay i leads to server i.
  static NatsOptions options_through(test::Relays& relays) {
    NatsOptions through = options();
    through.url.clear();
    for (int i = 0; i < 3; ++i)
      through.url += (i == 0 ? "nats://gateway:secret@127.0.0.1:" : ",nats://gateway:secret@127.0.0.1:") +
                     std::to_string(relays.port(relays.add(servers->client_port(i))));
    return through;
  }

  // The relay that leads to this address.
  static std::size_t relay_of(const test::Relays& relays, const std::string& server) {
    std::size_t relay = 0;
    while (!server.ends_with(":" + std::to_string(relays.port(relay)))) ++relay;
    return relay;
  }

  static inline std::unique_ptr<ThreeServers> servers;
};

TEST_F(NatsCluster, second_gateway_recovers_all_messages_and_fences_the_first) {
  Gateway first{options(), "takeover", 1}, second{options(), "takeover", 2};
  ASSERT_TRUE(first.become_owner());
  for (int i = 1; i <= 200; ++i) first.append("order " + std::to_string(i));
  ASSERT_TRUE(first.poll_until([&] { return first.released == 200; }));
  ASSERT_TRUE(second.become_owner());
  ASSERT_EQ(second.recovered.size(), 200U);
  EXPECT_EQ(second.recovered[0], "order 1");
  EXPECT_EQ(second.recovered[199], "order 200");
  EXPECT_EQ(second.state.counters.outbound, SeqNum{201});
  first.append("of a stale owner");
  ASSERT_TRUE(first.poll_until([&] { return first.stopped != StopReason::none; }));
  EXPECT_EQ(first.stopped, StopReason::fenced);
  EXPECT_EQ(first.released, 200U);
}

// Counts the messages that clients of one server publish to a subject, as another client of it.
class Listener {
 public:
  Listener(std::uint16_t port, const std::string& subject) {
    const sockaddr_in address = test::loopback(port);
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("no connection to a server");
    send(R"(CONNECT {"verbose":false,"user":"gateway","pass":"secret","headers":true})"
         "\r\nSUB " +
         subject + " 1\r\n");
    static_cast<void>(count());
  }
  ~Listener() { ::close(fd_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Since the last call.
  int count() {
    send("PING\r\n");
    std::string heard;
    for (char bytes[4096]; !heard.contains("PONG\r\n");) {
      const ssize_t got = ::recv(fd_, bytes, sizeof bytes, 0);
      if (got <= 0) throw std::runtime_error("the server has closed the connection");
      heard.append(bytes, static_cast<std::size_t>(got));
    }
    int messages = 0;
    for (std::size_t at = heard.find("MSG "); at != std::string::npos; at = heard.find("MSG ", at + 1)) ++messages;
    return messages;
  }

 private:
  void send(const std::string& text) const {
    if (::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size()))
      throw std::runtime_error("the server does not read");
  }

  const int fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
};

// Each request is given to a server of chance. One that is cut off without notice is among them until the others close
// their connections to it, and a request to it costs a second.
TEST_F(NatsCluster, replay_of_many_frames_takes_few_requests) {
  constexpr std::uint64_t frames = 3000;
  NatsOptions at_one = options();
  at_one.url = "nats://gateway:secret@127.0.0.1:" + std::to_string(servers->client_port(0));
  Gateway owner{options(), "many", 1}, next_owner{at_one, "many", 2};
  owner.state.options.frame_bytes_max = sizeof(cluster::FrameHeader) + cluster::record_size(5);  // one message
  ASSERT_TRUE(owner.become_owner());
  for (std::uint64_t i = 0; i < frames; ++i) {
    ASSERT_TRUE(owner.poll_until([&] { return has_space(owner.state, RecordKind::outbound, 5); }));
    owner.append("order");
  }
  ASSERT_TRUE(owner.poll_until([&] { return owner.released == frames; }));
  Listener reads{servers->client_port(0), "$JS.API.DIRECT.GET.TEST"};
  ASSERT_TRUE(next_owner.become_owner());
  EXPECT_EQ(next_owner.recovered.size(), frames);
  const int requests = reads.count();
  EXPECT_GE(requests, 2) << "of the last frame, and of the first ones";
  EXPECT_LE(requests, 8);
}

TEST_F(NatsCluster, candidate_sees_the_lease_of_the_owner_and_waits) {
  Gateway first{options(), "lease", 1}, second{options(), "lease", 2};
  ASSERT_TRUE(first.become_owner());
  ASSERT_TRUE(second.poll_until([&] {
    first.poll();
    if (second.state.lease_of == GatewayId{1}) return true;
    second.stream.read_lease(second.index);
    return false;
  }));
  second.give({.kind = EventKind::want});
  EXPECT_EQ(second.state.phase, cluster::Phase::waiting);
  first.give({.kind = EventKind::retire});
  ASSERT_TRUE(second.poll_until([&] {
    first.poll();
    return second.owns;
  }));
  EXPECT_EQ(first.stopped, StopReason::retired);
}

TEST_F(NatsCluster, killed_server_under_load_loses_and_repeats_nothing) {
  Gateway owner{options(), "killed", 1};
  ASSERT_TRUE(owner.become_owner());
  int appended = 0;
  const auto load_until = [&](auto&& condition) {
    return owner.poll_until(
        [&] {
          if (owner.owns && cluster::lag(owner.state).records < 50 && has_space(owner.state, RecordKind::outbound, 20))
            owner.append("order " + std::to_string(++appended));
          return condition();
        },
        90s);
  };
  const auto load = [&](std::uint64_t count) {
    return load_until([&, until = owner.released + count] { return owner.released >= until; });
  };
  // Each in turn, so that the leader is among them. If two servers lack frames when the third is killed, none can lead,
  // so the next one is killed only when the previous one has all of them.
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(load(100)) << servers->logs();
    servers->kill(i);
    ASSERT_TRUE(load(100)) << servers->logs();
    servers->start(i);
    MonotonicTime next_question = now() + 200ms;
    ASSERT_TRUE(load_until([&] {
      if (now() < next_question) return false;
      next_question = now() + 200ms;
      return servers->is_healthy(i);
    })) << servers->logs();
  }
  ASSERT_TRUE(owner.poll_until([&] { return owner.released == static_cast<std::uint64_t>(appended); }));
  Gateway next_owner{options(), "killed", 2};
  ASSERT_TRUE(next_owner.become_owner()) << to_string(next_owner.stopped);
  ASSERT_EQ(next_owner.recovered.size(), static_cast<std::size_t>(appended));
  for (int i = 0; i < appended; ++i)
    ASSERT_EQ(next_owner.recovered[static_cast<std::size_t>(i)], "order " + std::to_string(i + 1));
}

std::string what_is_wrong(NatsStream& stream) {
  std::string text;
  for (const CheckLine& line : stream.check())
    if (!line.good) text += line.text + "\n";
  return text;
}

TEST_F(NatsCluster, check_names_a_server_that_lacks_frames_until_it_has_them) {
  const int leader = NatsStream{options()}.state().leader.back() - '0', follower = (leader + 1) % 3;
  const std::string name = "n" + std::to_string(follower);
  NatsOptions at_leader = options();
  at_leader.url = "nats://gateway:secret@127.0.0.1:" + std::to_string(servers->client_port(leader));
  NatsStream stream{at_leader};
  const auto within_a_minute = [](auto&& condition) {
    for (const MonotonicTime end = now() + 60s; now() < end; ::poll(nullptr, 0, 100))
      if (condition()) return true;
    return false;
  };
  const auto is_named = [&] { return what_is_wrong(stream).contains("server " + name + " lacks frames"); };
  ASSERT_TRUE(within_a_minute([&] { return what_is_wrong(stream).empty(); })) << what_is_wrong(stream);
  servers->kill(follower);
  EXPECT_TRUE(within_a_minute(is_named)) << what_is_wrong(stream);
  EXPECT_TRUE(within_a_minute([&] { return stream.state().behind == std::vector{name}; }));
  servers->start(follower);
  EXPECT_TRUE(within_a_minute([&] { return what_is_wrong(stream).empty(); })) << what_is_wrong(stream);
}

std::vector<StoredFrame> all_of(NatsStream& stream, const std::string& session) {
  std::vector<StoredFrame> all;
  for (;;) {
    const auto some = stream.read_after(session, all.empty() ? 0 : all.back().sequence, 256);
    if (some.empty()) return all;
    all.insert(all.end(), some.begin(), some.end());
  }
}

// Like nfx cluster compact. Returns the number of obsolete frames.
std::uint64_t compact(NatsStream& stream, const std::string& session) {
  cluster::Compaction compaction;
  for (const StoredFrame& stored : all_of(stream, session)) {
    cluster::FrameView frame;
    if (decode_frame(stored.bytes, frame) != cluster::FrameError::none) return 0;
    compaction.add(cluster::StreamSeq{stored.sequence}, frame);
  }
  stream.remove_before(session, std::to_underlying(compaction.keep_from()));
  return compaction.useless().frames;
}

// As when a server's machine or network is lost: no connection to it is closed.
TEST_F(NatsCluster, another_server_is_connected_to_when_one_does_not_answer_any_more) {
  test::Relays relays;
  Gateway owner{options_through(relays), "unreachable", 1};
  ASSERT_TRUE(owner.become_owner());
  for (std::uint64_t cut = 0; cut < 3; ++cut) {
    relays.set(cut, test::Flow::none);
    owner.append("order");
    EXPECT_TRUE(owner.poll_until([&] { return owner.released == cut + 1; })) << "relay " << cut;
    relays.set(cut, test::Flow::both);
  }
}

// Between the servers there is one that greets and does not answer; it is tried next after a lost server.
TEST_F(NatsCluster, owner_continues_past_a_server_that_does_not_answer) {
  test::Relays relays;
  test::SilentServer silent;
  NatsOptions through = options_through(relays);
  through.timeout = 3s;
  through.url.resize(through.url.rfind(','));
  through.url.insert(through.url.find(','), ",nats://127.0.0.1:" + std::to_string(silent.port()));
  Gateway owner{through, "silent", 1};
  ASSERT_TRUE(owner.become_owner());
  for (std::uint64_t lost = 1; lost <= 3; ++lost) {
    const std::string before = owner.stream.server();
    relays.set(relay_of(relays, before), test::Flow::none);
    owner.append("order");
    EXPECT_TRUE(owner.poll_until([&] { return owner.released == lost; })) << before;
    EXPECT_NE(owner.stream.server(), before);
    relays.set(relay_of(relays, before), test::Flow::both);
  }
  EXPECT_GE(silent.greeted(), 1) << "it was never tried";
}

TEST_F(NatsCluster, requests_of_an_operator_are_repeated_at_another_server_when_theirs_is_lost) {
  test::Relays relays;
  Gateway owner{options(), "operated", 1};
  ASSERT_TRUE(owner.become_owner());
  NatsStream stream{options_through(relays)};
  std::string before = stream.server();
  relays.set(relay_of(relays, before), test::Flow::none);
  EXPECT_EQ(all_of(stream, "operated").size(), 1U);
  EXPECT_NE(stream.server(), before);
  relays.set(relay_of(relays, before), test::Flow::both);
  before = stream.server();
  relays.set(relay_of(relays, before), test::Flow::none);
  EXPECT_EQ(stream.state().replicas, 3U);
  EXPECT_NE(stream.server(), before);
}

TEST_F(NatsCluster, leader_without_the_others_is_found_out) {
  NatsStream any{options()};
  std::string name;
  for (const MonotonicTime end = now() + 60s; name.size() != 2 && now() < end;) name = any.state().leader;
  ASSERT_EQ(name.size(), 2U);
  const int leader = name[1] - '0';
  NatsOptions alone = options();
  alone.url = "nats://gateway:secret@127.0.0.1:" + std::to_string(servers->client_port(leader));
  Gateway gateway{alone, "alone", 1};
  auto lacks_others = [&, next_question = MonotonicTime{}]() mutable {
    if (now() >= next_question) {
      next_question = now() + 200ms;
      gateway.stream.request_reach();
    }
    return gateway.stream.lacks_others();
  };
  EXPECT_FALSE(gateway.poll_until(lacks_others, 1s));
  for (int i = 0; i < 3; ++i)
    if (i != leader) servers->kill(i);
  EXPECT_TRUE(gateway.poll_until(lacks_others)) << servers->logs();
  for (int i = 0; i < 3; ++i)
    if (i != leader) servers->start(i);
  ASSERT_TRUE(gateway.poll_until(
      [&] { return servers->is_healthy(0) && servers->is_healthy(1) && servers->is_healthy(2); }, 90s))
      << servers->logs();
  gateway.stream.leave_server();  // and back to the same one
  EXPECT_TRUE(gateway.poll_until([&] { return !gateway.stream.leaves_server(); }));
  EXPECT_FALSE(gateway.poll_until(lacks_others, 1s));
}

// The published bytes fill the sockets, and libnats holds the lock that its pings need while it writes.
TEST_F(NatsCluster, server_that_does_not_read_blocks_no_request_for_long) {
  test::Relays relays;
  Gateway owner{options_through(relays), "unread", 1};
  ASSERT_TRUE(owner.become_owner());
  const std::string before = owner.stream.server();
  relays.set(relay_of(relays, before), test::Flow::none);
  const std::string large(cluster::max_frame_size / 2, 'x');
  const SessionIndex other = owner.stream.add_session("unread-too", GatewayId{1});
  for (int frame = 0; frame < 64; ++frame) {
    const MonotonicTime begun = now();
    owner.stream.request(other, {.kind = ActionKind::publish, .sequence = cluster::StreamSeq{1}, .bytes = large});
    EXPECT_LT(now() - begun, 60s);
  }
  owner.append("order");
  EXPECT_TRUE(owner.poll_until([&] { return owner.released == 1; }));
  EXPECT_NE(owner.stream.server(), before);
}

TEST_F(NatsCluster, owner_continues_over_each_other_server) {
  Gateway owner{options(), "change", 1};
  ASSERT_TRUE(owner.become_owner());
  std::string server = owner.change_server();
  std::set<std::string> all;
  for (std::uint64_t change = 1; change <= 6; ++change) {
    owner.append("in flight, or not yet published");
    const std::string next = owner.change_server();
    EXPECT_NE(next, server);
    server = next;
    all.insert(server);
    EXPECT_TRUE(owner.poll_until([&] { return owner.released == change; })) << server;
  }
  EXPECT_EQ(all.size(), 3U);
  NatsOptions one = options();
  one.url.resize(one.url.find(','));
  Gateway other{one, "change", 2};
  EXPECT_TRUE(one.url.ends_with(other.change_server().substr(std::string{"nats://"}.size())));
  EXPECT_TRUE(other.become_owner());
  EXPECT_EQ(other.recovered.size(), 6U);
}

TEST_F(NatsCluster, server_remains_when_no_other_one_can_be_reached) {
  test::Relays relays;
  Gateway owner{options_through(relays), "alone", 1};
  ASSERT_TRUE(owner.become_owner());
  const std::string first = owner.change_server();
  for (std::size_t i = 0; i < 3; ++i)
    if (i != relay_of(relays, first)) relays.set(i, test::Flow::none);
  for (std::uint64_t attempt = 1; attempt <= 3; ++attempt) {
    EXPECT_EQ(owner.change_server(), first);
    owner.append("order");
    EXPECT_TRUE(owner.poll_until([&] { return owner.released == attempt; }));
  }
}

// libnats 3.4 wrote into a subscription that had ended while its message was received.
TEST_F(NatsCluster, server_is_changed_while_messages_arrive_at_every_moment) {
  const std::jthread renewing{[](const std::stop_token& stop) {
    NatsStream stream{options()};
    const SessionIndex session = stream.add_session("renewed", GatewayId{1});
    while (!stop.stop_requested()) {
      for (int i = 0; i < 100; ++i) stream.request(session, {.kind = ActionKind::renew_lease});
      stream.flush();
    }
  }};
  Gateway owner{options(), "renewed", 2};
  for (int change = 0; change < 100; ++change) {
    static_cast<void>(owner.change_server());
    const int before = owner.leases;
    ASSERT_TRUE(owner.poll_until([&] { return owner.leases > before; }));
  }
  for (int end = 0; end < 50; ++end) {
    Gateway other{options(), "renewed", 3};
    ASSERT_TRUE(other.poll_until([&] { return other.leases > 0; }));
  }
}

TEST_F(NatsCluster, owner_follower_and_takeover_accept_a_stream_whose_frames_are_removed_meanwhile) {
  Gateway first{options(), "compacted", 1}, follower{options(), "compacted", 2}, third{options(), "compacted", 3};
  follower.state.options.follow_frames_max = 3;
  ASSERT_TRUE(first.become_owner());
  const auto store = [&](int count, const std::string& text) {
    for (int i = 1; i <= count; ++i) {
      first.append(text + std::to_string(i));
      if (!first.poll_until([&] { return first.released == first.state.appended; })) return false;
    }
    return true;
  };
  ASSERT_TRUE(store(50, "before "));
  // It has read some of the frames that will be removed.
  ASSERT_TRUE(follower.poll_until([&] {
    if (follower.state.phase == cluster::Phase::idle) follower.give({.kind = EventKind::follow});
    return follower.recovered.size() >= 10;
  }));
  ASSERT_LT(follower.recovered.size(), 50U);
  ASSERT_TRUE(first.reset());
  ASSERT_TRUE(store(20, "after "));
  NatsStream stream{options()};
  // A late replica does not have the reset.
  ASSERT_TRUE(first.poll_until([&] { return compact(stream, "compacted") == 51; }));
  ASSERT_TRUE(store(20, "then "));
  ASSERT_TRUE(first.poll_until([&] { return all_of(stream, "compacted").size() == 41; }));
  ASSERT_TRUE(follower.poll_until([&] {
    if (follower.state.phase == cluster::Phase::idle) follower.give({.kind = EventKind::follow});
    return follower.recovered.size() == 40 && follower.recovered.front() == "after 1";
  }));
  ASSERT_TRUE(third.become_owner()) << to_string(third.stopped);
  ASSERT_EQ(third.recovered.size(), 40U);
  EXPECT_EQ(third.recovered.front(), "after 1");
  EXPECT_EQ(third.recovered.back(), "then 20");
  EXPECT_EQ(third.state.epoch, cluster::Epoch{2});
  EXPECT_EQ(third.state.counters.outbound, SeqNum{41});
  first.append("of a stale owner");
  ASSERT_TRUE(first.poll_until([&] { return first.stopped != StopReason::none; }));
  EXPECT_EQ(first.stopped, StopReason::fenced);
  ASSERT_TRUE(follower.become_owner()) << to_string(follower.stopped);
  EXPECT_EQ(follower.recovered.size(), 40U);
}

TEST_F(NatsCluster, copy_for_an_audit_keeps_frames_that_are_removed) {
  NatsOptions audited = options();
  audited.stream = "AUDITED";
  NatsStream stream{audited};
  EXPECT_EQ(stream.audit_sequence(), std::nullopt);
  stream.create({.bytes_max = 8 << 20, .audit_age = std::chrono::hours{1}});
  Gateway owner{audited, "kept", 1};
  ASSERT_TRUE(owner.become_owner());
  for (int i = 0; i < 20; ++i) owner.append("order");
  ASSERT_TRUE(owner.reset());
  ASSERT_TRUE(owner.poll_until([&] { return owner.released == 21; }));
  const std::uint64_t last = std::to_underlying(owner.state.last);
  ASSERT_TRUE(owner.poll_until([&] { return stream.audit_sequence() == last; }));
  audited.audit = true;
  NatsStream copy{audited};
  std::vector<StoredFrame> before;
  ASSERT_TRUE(owner.poll_until([&] {
    before = all_of(copy, "kept");
    return !before.empty() && before.back().sequence == last;
  }));
  std::uint64_t useless = 0;
  ASSERT_TRUE(owner.poll_until([&] {
    useless = compact(stream, "kept");
    return useless != 0;
  }));
  ASSERT_TRUE(owner.poll_until([&] { return all_of(stream, "kept").size() == 1; }));
  EXPECT_EQ(before.size(), useless + 1);
  // The copy knows of later frames, and keeps these.
  owner.append("logon");
  ASSERT_TRUE(owner.poll_until([&] { return all_of(copy, "kept").size() == before.size() + 1; }));
  EXPECT_EQ(all_of(copy, "kept").front().sequence, before.front().sequence);
}

TEST_F(NatsCluster, removing_what_is_before_the_first_frame_removes_nothing) {
  Gateway owner{options(), "first", 1};
  ASSERT_TRUE(owner.become_owner());
  NatsStream stream{options()};
  // A server interprets 0 and 1 as a request to remove all frames of the session.
  for (const std::uint64_t sequence : {std::uint64_t{0}, std::uint64_t{1}, std::to_underlying(owner.state.last)})
    stream.remove_before("first", sequence);
  owner.append("order");
  ASSERT_TRUE(owner.poll_until([&] { return owner.released == 1; }));
  EXPECT_TRUE(owner.poll_until([&] { return all_of(stream, "first").size() == 2; }));
}

TEST_F(NatsCluster, check_finds_a_good_stream_good_and_lists_its_sessions) {
  Gateway owner{options(), "listed", 1};
  ASSERT_TRUE(owner.become_owner());
  NatsStream stream{options()};
  EXPECT_TRUE(owner.poll_until([&] { return what_is_wrong(stream).empty(); })) << what_is_wrong(stream);
  const auto listed = [&] {
    for (const StoredSession& session : stream.list())
      if (session.name == "listed") return session;
    return StoredSession{};
  };
  EXPECT_EQ(listed().frames, 1U);
  const auto is_owned_by = [&](std::string_view gateway) {
    return owner.poll_until([&] { return listed().owner == gateway; });
  };
  EXPECT_TRUE(is_owned_by("a gateway without a name"));
  const SessionIndex west = stream.add_session("_gateway-west", GatewayId{1});
  stream.request(west, {.kind = ActionKind::renew_lease});
  EXPECT_TRUE(is_owned_by("west"));
}

TEST_F(NatsCluster, check_names_what_is_wrong_in_one_line_each) {
  NatsOptions missing = options(), single = options();
  missing.stream = "MISSING";
  single.stream = "SINGLE";
  NatsStream no_stream{missing};
  EXPECT_NE(what_is_wrong(no_stream).find("stream MISSING: stream not found; make it with nfx cluster init"),
            std::string::npos)
      << what_is_wrong(no_stream);
  NatsStream one_replica{single};
  one_replica.create({.replicas = 1, .bytes_max = 8192});
  EXPECT_NE(what_is_wrong(one_replica).find("stream SINGLE has 1 replica;"), std::string::npos)
      << what_is_wrong(one_replica);
  NatsStream reader{options("reader", 3s)};  // a forbidden request has no answer
  EXPECT_NE(what_is_wrong(reader).find("give this user permission to publish to TEST.s.*"), std::string::npos)
      << what_is_wrong(reader);
}

TEST_F(NatsCluster, full_stream_refuses_and_releases_nothing) {
  NatsOptions full = options();
  full.stream = "FULL";
  NatsStream stream{full};
  stream.create({.replicas = 1, .bytes_max = 8192});
  Gateway owner{full, "full", 1};
  ASSERT_TRUE(owner.become_owner());
  const std::string large(3000, 'x');
  for (int i = 0; i < 4; ++i) {
    owner.append(large);
    ASSERT_TRUE(owner.poll_until([&] { return owner.released == owner.state.appended || owner.failures > 2; }));
  }
  EXPECT_GT(owner.failures, 2);
  EXPECT_LT(owner.released, owner.state.appended);
  EXPECT_TRUE(owner.owns);
}

}  // namespace
}  // namespace nfx::nats

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!nfx::nats::missing_package().empty()) {
    std::printf("nats_cluster: skipped: %s\n", nfx::nats::missing_package().data());
    return 0;
  }
  if (nfx::test::nats_server_program().empty() || ::access(nfx::test::nats_server_program().c_str(), X_OK) != 0) {
    std::printf("nats_cluster: skipped: no nats-server 2.12 or later: ./dev deps nats builds one\n");
    return 0;
  }
  return RUN_ALL_TESTS();
}
