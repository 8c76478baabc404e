// Waits for SIGHUP on its own thread and calls the reload there; the signal is blocked in all other threads.
#include "engine/reload_on_hangup.hpp"

#include <pthread.h>

#include <utility>

namespace nfx {

ReloadOnHangup::ReloadOnHangup() {
  ::sigemptyset(&hangup_);
  ::sigaddset(&hangup_, SIGHUP);
  ::pthread_sigmask(SIG_BLOCK, &hangup_, &before_);
}

void ReloadOnHangup::end() {
  stop_.store(true, std::memory_order_release);
  if (!waiting_.joinable()) return;
  ::pthread_kill(waiting_.native_handle(), SIGHUP);
  waiting_.join();
}

ReloadOnHangup::~ReloadOnHangup() {
  end();
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void ReloadOnHangup::begin(std::function<void()> reload, InPlace in_place) {
  waiting_ = std::thread{[this, reload = std::move(reload), in_place = std::move(in_place)] {
    if (!in_place) return wait_for_signals(reload);
    in_place("nfx-reload", [&] { wait_for_signals(reload); });
  }};
}

void ReloadOnHangup::wait_for_signals(const std::function<void()>& reload) {
  for (;;) {
    int signal = 0;
    if (::sigwait(&hangup_, &signal) != 0 || stop_.load(std::memory_order_acquire)) return;
    reload();
  }
}

}  // namespace nfx
