// Lets SIGINT and SIGTERM end a command in order; a second signal ends the program immediately.
// Thread: one object at a time, on the main thread.
#pragma once

#include <csignal>

namespace nfx::app::market {

class StopFlag {
 public:
  StopFlag() noexcept {
    wanted_ = 0;
    struct sigaction action{};
    action.sa_handler = [](int) { wanted_ = 1; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // a wait is interrupted; the next signal has its default effect
    for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
  }
  ~StopFlag() {
    for (const int number : {SIGINT, SIGTERM}) std::signal(number, SIG_DFL);
  }
  StopFlag(const StopFlag&) = delete;
  StopFlag& operator=(const StopFlag&) = delete;

  [[nodiscard]] bool wanted() const noexcept { return wanted_ != 0; }

 private:
  static inline volatile std::sig_atomic_t wanted_ = 0;
};

}  // namespace nfx::app::market
