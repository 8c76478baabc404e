// The engine's transports, without the engine. A further transport is one more call of add().
#include "nexusfix/transport/epoll_transport.hpp"
#include "nexusfix/transport/io_uring_transport.hpp"
#include "transport/ping_pong.hpp"

namespace nfx::bench {

namespace {

using namespace std::chrono_literals;

template <class T>
class TransportEnd {
 public:
  template <class Options>
  TransportEnd(const Options& options, bool spin) : transport_(options), max_wait_(spin ? 0ns : Duration{10s}) {}

  template <class Tell>
  void accept(const Tell& tell) {
    const auto listener = transport_.listen({"127.0.0.1", 0});
    if (!listener) throw std::runtime_error(listener.error().text());
    tell(transport_.local_endpoint(*listener)->port);
    while (id_ == no_connection) poll();
  }
  void connect(std::uint16_t port) {
    const auto id = transport_.connect({"127.0.0.1", port});
    if (!id) throw std::runtime_error(id.error().text());
    while (id_ == no_connection) poll();
  }

  void send(std::span<const char> bytes) {
    if (transport_.try_send(id_, bytes).sent != bytes.size()) throw std::runtime_error("a send fell short");
  }
  void receive(std::span<char> bytes) {
    wanted_ = bytes;
    while (!wanted_.empty()) poll();
  }
  // Delivers what is sent, which the other side's end confirms.
  void finish() {
    if (id_ != no_connection) transport_.close(id_);
    while (transport_.lingering() > 0) transport_.poll(*this, 1ms);
  }

  void on_accept(ListenerId, ConnectionId id, std::string_view) { id_ = id; }
  void on_connect(ConnectionId id) { id_ = id; }
  void on_receive(ConnectionId, std::span<const char> bytes) {
    if (bytes.size() > wanted_.size()) throw WrongReply("more bytes than were asked for");
    std::memcpy(wanted_.data(), bytes.data(), bytes.size());
    wanted_ = wanted_.subspan(bytes.size());
  }
  void on_writable(ConnectionId) {}
  void on_close(ConnectionId, CloseReason) { gone_ = true; }

 private:
  void poll() {
    if (transport_.poll(*this, max_wait_) == 0 && max_wait_ == 0ns) cpu_pause();
    // Its end may come with its last bytes.
    if (gone_ && (id_ == no_connection || !wanted_.empty())) throw std::runtime_error("the other side is gone");
  }

  T transport_;
  Duration max_wait_;
  ConnectionId id_ = no_connection;
  std::span<char> wanted_;
  bool gone_ = false;
};

// `client` and `server` differ where a kernel thread of one side has to go to one side's core.
template <class T, class Options>
LatencyHistogram run_transport(const PingPong& plan, const Options& client, const Options& server, bool spin) {
  return run_both(
      plan,
      [&](const auto& tell) {
        TransportEnd<T> end{server, spin};
        end.accept(tell);
        answer(end, plan);
        end.finish();
      },
      [&](std::uint16_t port) {
        TransportEnd<T> end{client, spin};
        end.connect(port);
        LatencyHistogram times = ask(end, plan);
        end.finish();
        return times;
      });
}

template <class T, class Options>
void add(std::vector<Condition>& rows, const std::string& name, const Options& options, const std::string& why_not,
         const std::string& why_not_spin = "") {
  for (const bool spin : {false, true}) {
    const std::string idle = spin ? "spin" : "block";
    rows.push_back({.name = name + " " + idle,
                    .baseline = "raw " + idle,
                    .why_not = why_not.empty() && spin ? why_not_spin : why_not,
                    .run = [=](const PingPong& plan) { return run_transport<T>(plan, options, options, spin); }});
  }
}

}  // namespace

void add_transport_rows(std::vector<Condition>& rows) {
  add<EpollTransport>(rows, "epoll", EpollOptions{}, "");

  const auto ring = [&](const char* name, const IoUringOptions& options, bool IoUringFeatures::* needed) {
    const IoUringFeatures features = probe_io_uring(options);
    const bool there = features.available && (needed == nullptr || features.*needed);
    // Otherwise each side's kernel thread and the side itself take turns on one core, a scheduler's slice at a time.
    const bool crowded = options.sqpoll && this_machine().cores < 4;
    add<IoUringTransport>(rows, name, options, there ? "" : features.text,
                          crowded ? "two spinning sides and two spinning kernel threads need four cores" : "");
  };
  IoUringOptions options;
  ring("io_uring", options, &IoUringFeatures::defer_taskrun);
  options.allow_multishot_receive = false;
  ring("io_uring, readiness", options, &IoUringFeatures::defer_taskrun);
  options.allow_multishot_receive = true;
  options.allow_defer_taskrun = false;
  ring("io_uring, COOP_TASKRUN", options, &IoUringFeatures::coop_taskrun);
  options.allow_coop_taskrun = false;
  ring("io_uring, no TASKRUN", options, nullptr);
  options = {};
  options.sqpoll = true;
  ring("io_uring, SQPOLL", options, &IoUringFeatures::sqpoll);
}

}  // namespace nfx::bench
