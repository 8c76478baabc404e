#include "engine/poll_thread.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine/poll_thread_makers.hpp"
#include "nexusfix/transport/io_uring_transport.hpp"

namespace nfx {
namespace {

// Sessions are told to log out, then given this much longer than their own timeout to be closed.
constexpr std::chrono::seconds stop_grace{3};

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

std::unique_ptr<PollThread> make_poll_thread(const TransportChoice& choice, const PollThreadOptions& options) {
  if (choice.io_uring) return choice.tls ? make_io_uring_tls_thread(options) : make_io_uring_thread(options);
  return choice.tls ? make_epoll_tls_thread(options) : make_epoll_thread(options);
}

}  // namespace nfx
