// A stream of NATS JetStream (nats-server 2.12 or later) by libnats. For owners (cluster/owner.hpp) it carries out
// their requests and returns the answers as events; it may lose, delay and repeat any of them. For operators it makes
// the stream, checks it and lists its sessions. Where NexusFIX was built without libnats, every function throws an
// error that names the package. Thread: one per NatsStream; libnats has its own, which hands answers over under a lock.
// Cost: a request copies its bytes and allocates in libnats. Errors: NatsError for what an operator has to fix; answers
// of servers are events.
//
//   stream NAME          subjects NAME.s.SESSION     frames, one subject for each session; full streams refuse
//   stream KV_NAME       subjects $KV.NAME.SESSION   leases, which end by age
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/owner.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx::nats {

// The place of a session in the client's list.
enum class SessionIndex : std::uint32_t {};

struct NatsError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// No server is reached, or none has answered in time. While the servers start, or elect a leader, this passes by
// itself.
struct NatsTimeout : NatsError {
  using NatsError::NatsError;
};

// Empty, or why every function of NatsStream throws: the package that was missing when NexusFIX was built.
[[nodiscard]] std::string_view missing_package() noexcept;

struct NatsOptions {
  std::string url = "nats://127.0.0.1:4222";   // several with commas between them
  std::string credentials = {};                // file; empty: none
  std::string certificate_authority = {};      // file; empty: no TLS
  std::string stream = "NEXUSFIX";             // letters, digits, - and _
  Duration timeout = std::chrono::seconds{5};  // of a connection and of an operator's request
  bool audit = false;                          // read_after() reads the copy for an audit
};

// The servers on other hosts that are connected to without TLS, without users and passwords; empty: none. Whoever is
// between reads credentials and messages, and can change them.
[[nodiscard]] std::string plain_servers(const NatsOptions& options);

struct StreamLimits {
  std::uint32_t replicas = 3;
  std::uint64_t bytes_max = std::uint64_t{1} << 30;
  Duration lease = std::chrono::seconds{5};
  // The copy for an audit, the stream NAME_AUDIT: how long it keeps each frame, and its maximum size in bytes, beyond
  // which the oldest frames are dropped. 0 for the time: no copy; 0 for the bytes: no limit.
  Duration audit_age{};
  std::uint64_t audit_bytes = 0;
};

// The name of the copy for an audit of this stream.
[[nodiscard]] inline std::string audit_stream(const std::string& stream) { return stream + "_AUDIT"; }

// One line of a check.
struct CheckLine {
  bool good = false;
  std::string text;  // what it is, and when not good what to do
};

struct StoredSession {
  std::string name;
  std::uint64_t frames = 0;
  std::string owner;  // the gateway that has its lease; empty: none has
};

// The state of the stream of frames.
struct StreamState {
  std::uint32_t replicas = 0;
  std::uint64_t bytes = 0;          // of one replica
  std::string leader;               // a server's name; empty: it is being elected
  std::vector<std::string> behind;  // servers whose replica is not reachable, or lacks frames, as the leader knows them
};

// A frame as the stream has it, and when it was stored.
struct StoredFrame {
  std::uint64_t sequence = 0;
  UtcTime stored{};
  std::string bytes;
};

class NatsStream {
 public:
  // Connects; NatsError when no server answers within the time, or when the server is too old.
  explicit NatsStream(const NatsOptions& options);
  NatsStream(NatsStream&&) noexcept;
  NatsStream& operator=(NatsStream&&) noexcept;
  ~NatsStream();

  // A session, by a name of letters, digits, - and _, which is a token of its subject.
  [[nodiscard]] SessionIndex add_session(std::string_view name, cluster::GatewayId gateway);

  // Carries out publish, read_last, read_next, renew_lease and drop_lease. The action's bytes are copied.
  void request(SessionIndex session, const cluster::Action& action);
  // An event `lease` with its present holder follows.
  void read_lease(SessionIndex session);

  // Gives the answers that have come since the last call to sink(SessionIndex, const cluster::Event&). An event's bytes
  // are valid during that call. Where the server was lost, it connects to another one meanwhile, without blocking;
  // requests without an answer are lost.
  template <class Sink>
  void poll(Sink&& sink) {
    take_answers();
    for (const Answer& answer : taken_) sink(answer.session, event_of(answer));
    taken_.clear();
  }

  // Blocks until poll() has something, or for this time.
  void wait(Duration most);
  // Until what was requested has reached a server, or for the time of an operator's request: before the end.
  void flush();
  // From now on `answered` is called after each answer that poll() will give, on a thread of libnats: to wake one that
  // waits for other things too.
  void call_on_answer(std::function<void()> answered);
  // Begins to connect to another server, for the case that this one does not reach the others; poll() continues with
  // it. Requests without an answer are lost. Where no other server is reached, this one remains.
  void leave_server();
  [[nodiscard]] bool leaves_server() const;  // that has not ended
  // Requests whether the server leads the stream without the others that it needs to store; lacks_others() is false
  // until such an answer has come, and again after leave_server().
  void request_reach();
  [[nodiscard]] bool lacks_others() const;
  // The address of the server that it is connected to, or was when that was lost.
  [[nodiscard]] const std::string& server() const;
  // The time after which the leases end, as set by create(); NatsError when the streams do not exist.
  [[nodiscard]] Duration lease();

  // Makes the streams; NatsError when they exist with other limits, or may not be made.
  void create(const StreamLimits& limits);
  // Version, replicas, limits, permission to write, and a round trip.
  [[nodiscard]] std::vector<CheckLine> check();
  [[nodiscard]] std::vector<StoredSession> list();
  // The names of the gateways that are alive.
  [[nodiscard]] std::vector<std::string> gateways();
  [[nodiscard]] StreamState state();

  // The first frames of a session after this sequence, at most this many. Any replica answers, also one that does not
  // have the last frames yet, or not all of the earlier ones: check the frames' numbers and read again.
  [[nodiscard]] std::vector<StoredFrame> read_after(std::string_view session, std::uint64_t sequence,
                                                    std::uint32_t most);
  // Removes the frames of a session that have a lower sequence, for ever. The copy for an audit keeps its frames.
  void remove_before(std::string_view session, std::uint64_t sequence);
  // Removes one message of the stream, for ever.
  void remove_frame(std::uint64_t sequence);
  // The last sequence that the copy for an audit has. Empty: there is no copy.
  [[nodiscard]] std::optional<std::uint64_t> audit_sequence();

  struct Answer {
    SessionIndex session{};
    cluster::EventKind kind{};
    std::uint64_t request = 0;
    std::uint64_t sequence = 0;
    std::uint64_t gateway = 0;
    std::string bytes;
  };

 private:
  struct Connection;
  struct Parts;
  void take_answers();
  void check_audit(std::vector<CheckLine>& lines);
  [[nodiscard]] std::string write_error();  // empty: this user may write
  [[nodiscard]] std::map<std::string, std::uint64_t> leases();
  [[nodiscard]] static cluster::Event event_of(const Answer& answer) noexcept {
    return {.kind = answer.kind,
            .request = answer.request,
            .sequence = cluster::StreamSeq{answer.sequence},
            .bytes = answer.bytes,
            .gateway = cluster::GatewayId{answer.gateway}};
  }

  std::unique_ptr<Parts> parts_;
  std::unique_ptr<Connection> connection_;  // destroyed before what its subscriptions call
  std::vector<Answer> taken_;
};

}  // namespace nfx::nats
