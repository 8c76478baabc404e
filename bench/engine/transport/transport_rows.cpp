// The engine's transports, without the engine. To add a transport, add a call of add().
#include <algorithm>
#include <utility>

#include "transport/epoll_transport.hpp"
#include "transport/io_uring_transport.hpp"
#include "transport/network_namespaces.hpp"
#include "transport/ping_pong.hpp"
#include "transport/tls_transport.hpp"
#ifdef NFX_WITH_AF_XDP
#include "transport/xdp_transport.hpp"
#endif

namespace nfx::bench {

namespace {

using namespace std::chrono_literals;

// A transport alone, or with TLS.
template <class T>
struct Plain {
  template <class Options>
  explicit Plain(const Options& options) : outer(options) {}
  T outer;
  static SocketOptions server() { return {}; }
  static SocketOptions client() { return {}; }
};

template <class T>
struct Encrypted {
  template <class Options>
  explicit Encrypted(const Options& options) : inner(options), outer(inner) {}
  T inner;
  TlsTransport<T> outer;
  static SocketOptions with(const TlsOptions& options) {
    SocketOptions socket;
    socket.tls = std::make_shared<TlsContext>(options);
    return socket;
  }
  static SocketOptions server() { return with(encryption().server); }
  static SocketOptions client() { return with(encryption().client); }
};

template <class Layers>
class TransportEnd {
 public:
  template <class Options>
  TransportEnd(const Options& options, bool spin, std::string server = "127.0.0.1")
      : layers_(options), max_wait_(spin ? 0ns : Duration{10s}), server_(std::move(server)) {}

  template <class ReportPort>
  void accept(const ReportPort& report_port) {
    const auto listener = transport_.listen({server_, 0}, Layers::server());
    if (!listener) throw std::runtime_error(listener.error().text());
    report_port(transport_.local_endpoint(*listener)->port);
    while (id_ == no_connection) poll();
  }
  void connect(std::uint16_t port) {
    const auto id = transport_.connect({server_, port}, Layers::client());
    if (!id) throw std::runtime_error(id.error().text());
    while (id_ == no_connection) poll();
  }

  void send(std::span<const char> bytes) {
    if (transport_.try_send(id_, bytes).sent != bytes.size()) throw std::runtime_error("a send fell short");
  }
  void receive(std::span<char> bytes) {
    wanted_ = bytes;
    on_receive(id_, std::exchange(early_, {}));
    while (!wanted_.empty()) poll();
  }
  // Waits until everything sent was delivered; the other side's close confirms it.
  void finish() {
    if (id_ != no_connection) transport_.close(id_);
    while (transport_.lingering() > 0) transport_.poll(*this, 1ms);
  }

  void on_accept(ListenerId, ConnectionId id, std::string_view) { id_ = id; }
  void on_connect(ConnectionId id) { id_ = id; }
  void on_receive(ConnectionId, std::span<const char> bytes) {
    const std::size_t taken = std::min(bytes.size(), wanted_.size());
    std::copy_n(bytes.begin(), taken, wanted_.begin());
    wanted_ = wanted_.subspan(taken);
    if (taken == bytes.size()) return;
    // With TLS the first request may arrive in the same poll that announces its connection.
    early_.assign(bytes.begin() + static_cast<std::ptrdiff_t>(taken), bytes.end());
    if (early_.size() > request_size) throw WrongAnswerError("more bytes than were requested");
  }
  void on_writable(ConnectionId) {}
  void on_close(ConnectionId, CloseReason) { gone_ = true; }

 private:
  void poll() {
    if (transport_.poll(*this, max_wait_) == 0 && max_wait_ == 0ns) cpu_pause();
    // Its end may arrive with its last bytes.
    if (gone_ && (id_ == no_connection || !wanted_.empty())) throw std::runtime_error("the other side is gone");
  }

  Layers layers_;
  decltype(Layers::outer)& transport_ = layers_.outer;
  Duration max_wait_;
  std::string server_;
  ConnectionId id_ = no_connection;
  std::span<char> wanted_;
  std::vector<char> early_;
  bool gone_ = false;
};

template <class Layers, class Options>
LatencyHistogram run_transport(const PingPong& plan, const Options& options, bool spin) {
  return run_both(
      plan,
      [&](const auto& report_port) {
        TransportEnd<Layers> end{options, spin};
        end.accept(report_port);
        answer(end, plan);
        end.finish();
      },
      [&](std::uint16_t port) {
        TransportEnd<Layers> end{options, spin};
        end.connect(port);
        LatencyHistogram times = ask(end, plan);
        end.finish();
        return times;
      });
}

template <class Layers, class Options>
void add(std::vector<Condition>& rows, const std::string& name, const Options& options, const std::string& why_not,
         const std::string& why_not_spin = "") {
  for (const bool spin : {false, true}) {
    const std::string idle = spin ? "spin" : "block";
    rows.push_back({.name = name + " " + idle,
                    .baseline = "raw " + idle,
                    .why_not = why_not.empty() && spin ? why_not_spin : why_not,
                    .run = [=](const PingPong& plan) { return run_transport<Layers>(plan, options, spin); },
                    .has_target = false});
  }
}

// Two hosts on one cable, as far as the kernel can be told: the client in one network namespace, the kernel's TCP as
// the server in another, and veth interfaces between them.
class VethPair {
 public:
  static constexpr const char* server_host = "10.99.2.1";

  VethPair() {
    std::thread([this] {  // a thread that changes its namespaces, and ends
      const testing::TwoNamespaces two{{"ip link add client0 type veth peer name server0 netns OTHER"}};
      problem_ = two.problem();
      if (!problem_.empty()) return;
      const bool up =
          testing::run_command("ip addr add 10.99.2.2/24 dev client0") && testing::take_up("client0") &&
          two.in_other([] {
            return testing::run_command("ip addr add 10.99.2.1/24 dev server0") && testing::take_up("server0");
          });
      if (!up) problem_ = "the interfaces cannot be taken up";
      if (!two.own().enter()) problem_ = "no network namespace";
      client_ = testing::NetworkNamespace::current();
      if (!two.other().enter()) problem_ = "no network namespace";
      server_ = testing::NetworkNamespace::current();
    })
        .join();
  }
  static VethPair& get() {
    static VethPair pair;
    return pair;
  }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  template <class Client, class Options>
  LatencyHistogram run(const PingPong& plan, const Options& options) const {
    return run_both(
        plan,
        [&](const auto& report_port) {
          if (!server_.enter()) throw std::runtime_error("no network namespace");
          TransportEnd<Plain<EpollTransport>> end{EpollOptions{}, true, server_host};
          end.accept(report_port);
          answer(end, plan);
          end.finish();
        },
        [&](std::uint16_t port) {
          if (!client_.enter()) throw std::runtime_error("no network namespace");
          TransportEnd<Plain<Client>> end{options, true, server_host};
          end.connect(port);
          LatencyHistogram times = ask(end, plan);
          end.finish();
          return times;
        });
  }

 private:
  std::string problem_;
  testing::NetworkNamespace client_, server_;
};

void add_veth_rows(std::vector<Condition>& rows) {
  const std::string baseline = "veth, epoll spin";
  const VethPair& pair = VethPair::get();
  rows.push_back({.name = baseline,
                  .baseline = "",
                  .why_not = pair.problem(),
                  .run = [&](const PingPong& plan) { return pair.run<EpollTransport>(plan, EpollOptions{}); },
                  .has_target = false});
  Condition row{
      .name = "veth, af_xdp spin", .baseline = baseline, .why_not = pair.problem(), .run = {}, .has_target = false};
#ifdef NFX_WITH_AF_XDP
  row.run = [&](const PingPong& plan) {
    // The kernel has another address on this interface.
    return pair.run<XdpTransport>(plan, XdpOptions{.address = "client0 10.99.2.3/24"});
  };
#else
  row.why_not = "needs libxdp-dev, libbpf-dev and liblwip-dev";
#endif
  rows.push_back(std::move(row));
}

}  // namespace

std::vector<RingChoice> ring_choices() {
  std::vector<RingChoice> choices;
  const auto add = [&](const char* name, const IoUringOptions& options, bool IoUringFeatures::* needed,
                       bool in_engine) {
    const IoUringFeatures features = probe_io_uring(options);
    const bool there = features.available && (needed == nullptr || features.*needed);
    // Otherwise each side's kernel thread and the side itself share one core, one scheduler slice at a time.
    const bool crowded = options.sqpoll && this_machine().cores < 4;
    choices.push_back(
        {.name = name,
         .options = options,
         .in_engine = in_engine,
         .why_not = there ? "" : features.text,
         .why_not_spin = crowded ? "two busy-polling sides and two busy-polling kernel threads need four cores" : ""});
  };
  IoUringOptions options;
  add("io_uring, DEFER_TASKRUN", options, &IoUringFeatures::defer_taskrun, true);
  options.allow_multishot_receive = false;
  add("io_uring, readiness", options, &IoUringFeatures::defer_taskrun, false);
  options.allow_multishot_receive = true;
  options.allow_defer_taskrun = false;
  add("io_uring, COOP_TASKRUN", options, &IoUringFeatures::coop_taskrun, true);
  options.allow_coop_taskrun = false;
  add("io_uring, no TASKRUN", options, nullptr, false);
  options = {};
  options.sqpoll = true;
  add("io_uring, SQPOLL", options, &IoUringFeatures::sqpoll, true);
  return choices;
}

void add_transport_rows(std::vector<Condition>& rows) {
  add<Plain<EpollTransport>>(rows, "epoll", EpollOptions{}, "");
  add<Encrypted<EpollTransport>>(rows, "epoll, TLS 1.3", EpollOptions{}, "");
  for (const RingChoice& choice : ring_choices())
    add<Plain<IoUringTransport>>(rows, choice.name, choice.options, choice.why_not, choice.why_not_spin);
  add_veth_rows(rows);
}

}  // namespace nfx::bench
