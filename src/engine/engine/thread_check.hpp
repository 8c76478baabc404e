// For assertions: whether a function is always called by one thread, the one that called it first.
// Thread: any.
#pragma once

#include <thread>

namespace nfx {

class ThreadCheck {
 public:
  [[nodiscard]] bool is_same_thread() noexcept {
    if (first_ == std::thread::id{}) first_ = std::this_thread::get_id();
    return first_ == std::this_thread::get_id();
  }

 private:
  std::thread::id first_;
};

}  // namespace nfx
