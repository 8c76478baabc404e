#include "engine/poll_thread.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "nexusfix/transport/epoll_transport.hpp"
#include "nexusfix/transport/io_uring_transport.hpp"
#include "nexusfix/transport/tls_transport.hpp"

namespace nfx {
namespace {

// Sessions are told to log out, then given this much longer than their own timeout to be closed.
constexpr std::chrono::seconds stop_grace{3};

template <class Options>
Options transport_options(const EngineConfig& config, Options options) {
  // Every session, everybody who has not logged on yet, and as many again that are delivering their last bytes.
  options.max_connections = 2 * (config.sessions.size() + config.max_dynamic_sessions + config.max_pending_logons) + 16;
  options.max_listeners = std::min<std::size_t>(config.sessions.size() + config.max_dynamic_sessions + 1, 1024);
  return options;
}

// A transport by itself.
template <Transport Inner>
class Plain {
 public:
  using Outer = Inner;
  template <class Options>
  explicit Plain(const Options& options) : transport_(options) {}
  [[nodiscard]] Inner& outer() noexcept { return transport_; }
  [[nodiscard]] const Inner& inner() const noexcept { return transport_; }
  [[nodiscard]] std::optional<TlsCounters> tls_counters() const noexcept { return std::nullopt; }

 private:
  Inner transport_;
};

// A transport with TLS around those connections that ask for it.
template <Transport Inner>
class Encrypted {
 public:
  using Outer = TlsTransport<Inner>;
  template <class Options>
  explicit Encrypted(const Options& options) : transport_(options), tls_(transport_) {}
  [[nodiscard]] Outer& outer() noexcept { return tls_; }
  [[nodiscard]] const Inner& inner() const noexcept { return transport_; }
  [[nodiscard]] std::optional<TlsCounters> tls_counters() const noexcept { return tls_.counters(); }

 private:
  Inner transport_;
  Outer tls_;
};

template <class Layers>
class PollThreadOver final : public PollThread {
 public:
  template <class Options>
  PollThreadOver(const EngineConfig& config, std::uint32_t number, Application& application, SessionStores& stores,
                 const Options& options)
      : PollThread(config.idle), layers_(options), loop_(config, number, layers_.outer(), clock, application, stores) {}

  void start() override { loop_.start(); }
  std::size_t turn_loop(Duration max_wait) override { return loop_.turn(max_wait); }
  MonotonicTime turn_began() const noexcept override { return loop_.turn_began(); }
  void request_stop() noexcept override { loop_.request_stop(); }
  bool finished() const noexcept override { return loop_.finished(); }
  void wake() noexcept override { layers_.outer().wake(); }
  bool submit(std::size_t session, std::string_view msg_type, std::string_view body) noexcept override {
    return loop_.submit(session, msg_type, body);
  }
  std::size_t add(SessionSettings settings) override { return loop_.add(std::move(settings)); }
  bool remove(std::size_t session, std::string text) override { return loop_.remove(session, std::move(text)); }
  bool knows(const std::string& identity) override { return loop_.knows(identity); }
  SessionHandle* find(std::size_t session) noexcept override { return loop_.find(session); }
  std::optional<Endpoint> local_endpoint(const Endpoint& configured) const override {
    return loop_.local_endpoint(configured);
  }
  const PollLoopCounters& counters() const noexcept override { return loop_.counters(); }
  void log_to(LoopLogs logs) override { loop_.log_to(std::move(logs)); }
  void gather(ThreadFigures& into) const override {
    loop_.figures(into.sessions);
    into.loop = loop_.counters();
    into.transport = layers_.inner().counters();
    into.tls = layers_.tls_counters();
  }
  std::vector<std::string> transport_warnings() const override {
    std::vector<std::string> texts;
    for (const TransportWarning& each : layers_.inner().warnings())
      texts.push_back(each.text + " (" + std::to_string(each.count) + (each.count == 1 ? " socket)" : " sockets)"));
    return texts;
  }

 private:
  Layers layers_;
  PollLoop<typename Layers::Outer, CounterClock<>> loop_;
};

template <Transport Inner, class Options>
std::unique_ptr<PollThread> make_over(bool tls, const EngineConfig& config, std::uint32_t number,
                                      Application& application, SessionStores& stores, const Options& wished) {
  const Options options = transport_options(config, wished);
  if (tls) return std::make_unique<PollThreadOver<Encrypted<Inner>>>(config, number, application, stores, options);
  return std::make_unique<PollThreadOver<Plain<Inner>>>(config, number, application, stores, options);
}

}  // namespace

std::size_t PollThread::turn(Duration max_wait) {
  const std::size_t work = turn_loop(idle.max_wait(max_wait));
  gap.turn_began(turn_began());
  gap.turn_ended(work == 0 && idle.mode() == IdleMode::spin);
  if (figures.wanted()) [[unlikely]]
    publish();
  idle.idle(work);
  return work;
}

void PollThread::publish() {
  gather(gathered_);
  figures.publish(gathered_);
}

void PollThread::run() {
  MonotonicTime give_up = MonotonicTime::max();
  for (;;) {
    turn(give_up == MonotonicTime::max() ? Duration::max() : Duration{std::chrono::milliseconds{20}});
    if (!stop.load(std::memory_order_acquire)) continue;
    const MonotonicTime now = clock.monotonic();
    if (give_up == MonotonicTime::max()) {
      request_stop();
      give_up = now + longest_logout + stop_grace;
    }
    if (finished() || now >= give_up) return;
  }
}

TransportChoice choose_transport(const EngineConfig& config) {
  TransportChoice choice;
  choice.tls = std::ranges::any_of(config.sessions, &SessionSettings::tls_enabled);
  if (config.transport != TransportKind::io_uring) return choice;
  try {
    const IoUringFeatures features = probe_io_uring(config.io_uring);
    choice.io_uring = features.available;
    choice.text = features.available ? features.text : features.text + "; epoll instead";
  } catch (const std::invalid_argument& error) {
    throw ConfigError(std::string("io_uring: ") + error.what());
  }
  return choice;
}

std::unique_ptr<PollThread> make_poll_thread(const TransportChoice& choice, const EngineConfig& config,
                                             std::uint32_t number, Application& application, SessionStores& stores) {
  if (choice.io_uring) {
    return make_over<IoUringTransport>(choice.tls, config, number, application, stores, config.io_uring);
  }
  return make_over<EpollTransport>(choice.tls, config, number, application, stores, EpollOptions{});
}

}  // namespace nfx
