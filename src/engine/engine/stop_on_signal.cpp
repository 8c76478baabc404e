// Signal handlers for SIGINT and SIGTERM: the first stops the engine, the second has its default effect.
#include "nexusfix/engine/engine.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>

namespace nfx {
namespace {

std::atomic<Engine*> engine_to_stop{nullptr};
std::atomic<bool> was_signalled{false};
static_assert(std::atomic<Engine*>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "a signal handler may only use what takes no lock");

extern "C" void stop_engine(int signal_number) {
  const int error = errno;
  Engine* engine = engine_to_stop.load();
  if (engine == nullptr || was_signalled.exchange(true)) {
    // The default action: it takes effect when this handler returns and unblocks the signal.
    std::signal(signal_number, SIG_DFL);
    std::raise(signal_number);
  } else {
    engine->stop();
  }
  errno = error;
}

void handle(void (*handler)(int)) noexcept {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
}

}  // namespace

StopOnSignal::StopOnSignal(Engine& engine) noexcept {
  was_signalled = false;
  engine_to_stop = &engine;
  handle(stop_engine);
}

StopOnSignal::~StopOnSignal() {
  handle(SIG_DFL);
  engine_to_stop = nullptr;
}

bool StopOnSignal::signalled() const noexcept { return was_signalled.load(); }

}  // namespace nfx
