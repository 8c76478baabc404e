// The loop of a poll thread until all sessions are logged out, and the choice of its transport.
#include "engine/poll_thread.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine/loop_parts.hpp"
#include "engine/poll_thread_makers.hpp"

namespace nfx {
namespace {

// Sessions log out, then get this much longer than their own timeout to be closed.
constexpr std::chrono::seconds stop_grace{3};

const TransportMakers& makers_of(TransportKind kind) noexcept {
  switch (kind) {
    case TransportKind::automatic: break;
#define NFX_TRANSPORT_MAKERS(name, help) \
  case TransportKind::name: return name##_makers;
      NFX_TRANSPORTS(NFX_TRANSPORT_MAKERS)
#undef NFX_TRANSPORT_MAKERS
  }
  return epoll_makers;
}

}  // namespace

std::size_t PollThread::turn(Duration max_wait) {
  const std::size_t work = turn_loop(idle.max_wait(max_wait));
  const TurnTimes times = turn_times();
  gap.turn_began(times.began);
  gap.turn_ended(times.idle_from, work == 0 && idle.mode() == IdleMode::spin);
  if (figures.wanted()) [[unlikely]]
    publish();
  idle.idle(work);
  return work;
}

void PollThread::add_latency(LatencyReport& into) const { loop().add_latency(into); }

SlowRing& PollThread::slow() const noexcept { return loop().slow(); }

TraceRing* PollThread::traces() const noexcept { return loop().traces(); }

void PollThread::publish() {
  count_latency();
  gather(gathered_);
  figures.publish(gathered_);
}

void PollThread::run() {
  if (finished()) return;  // run() was called before
  turns_follow();
  MonotonicTime give_up = MonotonicTime::max();
  for (;;) {
    turn(give_up == MonotonicTime::max() ? Duration::max() : Duration{std::chrono::milliseconds{20}});
    if (!stop.load(std::memory_order_acquire)) continue;
    const MonotonicTime now = clock.monotonic();
    if (give_up == MonotonicTime::max()) {
      request_stop();
      give_up = now + longest_logout + stop_grace;
    }
    if (finished() || now >= give_up) {
      loop().submitted.end();
      return loop().context.loop_thread.leave();
    }
  }
}

TransportChoice choose_transport(const EngineConfig& config) {
  TransportChoice choice;
  choice.tls = std::ranges::any_of(config.sessions, &SessionSettings::tls_enabled);
  if (config.transport == TransportKind::automatic) return choice;
  const TransportMakers& makers = makers_of(config.transport);
  if (makers.probe == nullptr) {
    choice.kind = config.transport;
    return choice;
  }
  try {
    TransportProbe probed = makers.probe(config);
    if (probed.available) choice.kind = config.transport;
    choice.text = probed.available ? std::move(probed.text)
                                   : std::move(probed.text) + "; " + std::string{to_string(choice.kind)} + " instead";
  } catch (const std::invalid_argument& error) {
    throw ConfigError(std::string{to_string(config.transport)} + ": " + error.what());
  }
  return choice;
}

std::unique_ptr<PollThread> make_poll_thread(const TransportChoice& choice, const PollThreadOptions& options) {
  const TransportMakers& makers = makers_of(choice.kind);
  return choice.tls ? makers.with_tls(options) : makers.plain(options);
}

}  // namespace nfx
