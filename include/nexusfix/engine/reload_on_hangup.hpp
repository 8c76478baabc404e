// SIGHUP reloads certificates, keys and revocation lists, on a thread of its own, so that no messages are delayed.
// Thread: made and destroyed by the one that starts the engine, before any other thread, since threads inherit what is
// blocked. Cost: a thread that sleeps.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
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

  void begin(std::function<void()> reload);
  // No reload begins or runs any more when this returns. The signal stays blocked.
  void end();

 private:
  sigset_t hangup_{};
  sigset_t before_{};
  std::atomic<bool> stop_{false};
  std::thread waiting_;
};

}  // namespace nfx
