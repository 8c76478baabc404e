// A poll thread over one transport, plain or with TLS. Included by the files that instantiate it, one for each
// transport.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/poll_loop_impl.hpp"
#include "engine/poll_thread.hpp"
#include "engine/poll_thread_makers.hpp"
#include "transport/connection_places.hpp"
#include "transport/tcp_parts.hpp"
#include "transport/tls_transport.hpp"

namespace nfx {

[[nodiscard]] inline PlaceLimits handshake_limits(const EngineConfig& config) noexcept {
  return {.unknown = config.max_tls_handshakes,
          .per_address = config.max_pending_logons_per_address,
          .per_network = config.max_pending_logons_per_network,
          .known = config.max_tls_handshakes};
}

template <class Options>
Options transport_options(const EngineConfig& config, Options options) {
  // All sessions, all connections before their Logon, and as many again that are delivering their last bytes.
  const std::size_t pending = std::size_t{config.max_pending_logons} + config.max_pending_known_logons;
  options.max_connections = 2 * (config.sessions.size() + config.max_dynamic_sessions + pending) + 16;
  const PlaceLimits handshakes = handshake_limits(config);
  if (std::ranges::any_of(config.sessions, &SessionSettings::tls_enabled))
    options.max_connections += handshakes.unknown + handshakes.known;
  options.max_listeners = std::min<std::size_t>(config.sessions.size() + config.max_dynamic_sessions + 1, 1024);
  return options;
}

// A transport by itself.
template <Transport Inner>
class Plain {
 public:
  using Outer = Inner;
  template <class Options>
  Plain(const PollThreadOptions& thread, const Options& options)
      : transport_(transport_options(thread.config, options)) {}
  [[nodiscard]] Inner& outer() noexcept { return transport_; }
  [[nodiscard]] const Inner& inner() const noexcept { return transport_; }
  [[nodiscard]] std::optional<TlsCounters> tls_counters() const noexcept { return std::nullopt; }

 private:
  Inner transport_;
};

// A transport with TLS for the connections that are configured to use it.
template <Transport Inner>
class Encrypted {
 public:
  using Outer = TlsTransport<Inner>;
  template <class Options>
  Encrypted(const PollThreadOptions& thread, const Options& options)
      : transport_(transport_options(thread.config, options)),
        tls_(transport_, {.handshakes = handshake_limits(thread.config), .executor = thread.handshakes}) {}
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
  PollThreadOver(const PollThreadOptions& thread, const Options& options)
      : PollThread(thread.idle),
        layers_(thread, options),
        loop_(thread.config, thread.number, layers_.outer(), clock, thread.callbacks, thread.stores) {}

  void start() override {
    loop_.start();
    const Duration silence = loop_.context.config.warm_up_interval;
    if (idle.mode() != IdleMode::block && silence > Duration::zero()) loop_.warm_up_every(silence);
  }
  void turns_follow() noexcept override { loop_.turns_follow(); }
  void count_latency() noexcept override { loop_.count_latency(); }
  std::size_t turn_loop(Duration max_wait) override { return loop_.turn(max_wait); }
  TurnTimes turn_times() const noexcept override { return loop_.turn_times(); }
  void request_stop() noexcept override { loop_.request_stop(); }
  bool finished() const noexcept override { return loop_.finished(); }
  void wake() noexcept override { layers_.outer().wake(); }
  void wake_when_readable(int descriptor) override { layers_.outer().wake_when_readable(descriptor); }
  LoopParts& loop() noexcept override { return loop_; }
  std::optional<Endpoint> local_endpoint(const Endpoint& configured) const override {
    return loop_.local_endpoint(configured);
  }
  void gather(ThreadFigures& into) const override {
    loop_.figures(into.sessions);
    gather_loop(into);
  }
  void gather_loop(ThreadFigures& into) const override {
    into.loop = loop_.counters();
    into.submitted_bytes = loop_.submitted.queue().queued_bytes();
    into.latency = loop_.latency();
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

// `options_of` takes the transport's options from the configuration.
template <Transport Inner, auto options_of>
constexpr TransportMakers makers_over(TransportProbe (*probe)(const EngineConfig& config) = nullptr) {
  return {.plain = [](const PollThreadOptions& of) -> std::unique_ptr<PollThread> {
            return std::make_unique<PollThreadOver<Plain<Inner>>>(of, options_of(of.config));
          },
          .with_tls = [](const PollThreadOptions& of) -> std::unique_ptr<PollThread> {
            return std::make_unique<PollThreadOver<Encrypted<Inner>>>(of, options_of(of.config));
          },
          .probe = probe};
}

}  // namespace nfx
