// Whether a server of the cluster is of use: tries to store, or to read what a takeover needs, against those that
// succeeded. Thread: one. Cost: two comparisons. Errors: none.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "nexusfix/base/time.hpp"

namespace nfx::gateway {

class Tries {
 public:
  // Shorter than an election of the servers, which takes 4 to 9 seconds: a server that does not reach the others cannot
  // be distinguished from one that waits for them, and a change of the server in an election costs nothing.
  static constexpr Duration shortest{std::chrono::seconds{3}};
  // As most clusters have. After that many it is not the server, and the time is doubled.
  static constexpr int servers = 3, doublings_max = 2;

  static constexpr Duration last_wait{std::chrono::milliseconds{250}};

  // After a pause, in which there was nothing to try, these are new ones.
  void note_try(MonotonicTime now) noexcept {
    if (!since_ || now - last_ > shortest) since_ = now;
    last_ = now;
  }
  void note_success() noexcept { *this = {}; }
  // The next server has as long.
  void note_change() noexcept {
    since_.reset();
    ++changes_;
  }
  [[nodiscard]] Duration longest() const noexcept {
    return shortest * (1 << std::min(changes_ / servers, doublings_max));
  }
  // They were repeated for `longest()`, and none succeeded; the last one may be the first after an election.
  [[nodiscard]] bool in_vain(MonotonicTime now) const noexcept {
    return since_ && last_ - *since_ >= longest() && now - last_ >= last_wait;
  }

 private:
  MonotonicTime last_{};
  std::optional<MonotonicTime> since_;  // the first one since the last success or change
  int changes_ = 0;                     // of the server, since the last success
};

}  // namespace nfx::gateway
