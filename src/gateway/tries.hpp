// Whether a server of the cluster is of use: tries to store, or to read what a takeover needs, against those that
// succeeded. Thread: one. Cost: two comparisons. Errors: none.
#pragma once

#include <optional>

#include "nexusfix/base/time.hpp"

namespace nfx::gateway {

class Tries {
 public:
  // Elections of the servers, which take 4 to 9 seconds, are not in vain.
  static constexpr Duration longest{std::chrono::seconds{10}};

  // After a pause, in which there was nothing to try, these are new ones.
  void note_try(MonotonicTime now) noexcept {
    if (!since_ || now - last_ > longest) since_ = now;
    last_ = now;
  }
  void note_success() noexcept { since_.reset(); }
  // They were repeated for `longest`, and none succeeded.
  [[nodiscard]] bool in_vain() const noexcept { return since_ && last_ - *since_ >= longest; }

 private:
  MonotonicTime last_{};
  std::optional<MonotonicTime> since_;  // the first one since the last success
};

}  // namespace nfx::gateway
