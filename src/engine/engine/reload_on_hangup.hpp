// SIGHUP reloads certificates, keys and revocation lists on its own thread, so that no messages are delayed.
// Thread: made and destroyed by the thread that starts the engine, before any other thread, because threads inherit the
// blocked signals. Cost: a thread that sleeps.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <string_view>
#include <thread>

#include "nexusfix/base/language.hpp"

namespace nfx {

class ReloadOnHangup {
 public:
  // Blocks the signal; begin() starts to wait for it.
  ReloadOnHangup();
  ~ReloadOnHangup();
  ReloadOnHangup(const ReloadOnHangup&) = delete;
  ReloadOnHangup& operator=(const ReloadOnHangup&) = delete;

  // `in_place` runs its argument on the calling thread, as Engine::run_on_housekeeping does. Empty: it has no place.
  using InPlace = std::function<void(std::string_view name, const std::function<void()>& work)>;
  void begin(std::function<void()> reload, InPlace in_place = {});
  // No reload begins or runs any more when this returns. The signal stays blocked.
  void end();

 private:
  void wait_for_signals(const std::function<void()>& reload);

  sigset_t hangup_{};
  sigset_t before_{};
  std::atomic<bool> stop_{false};
  std::thread waiting_;
};

}  // namespace nfx
