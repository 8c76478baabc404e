// The queue of connections that are handed on.
#include "engine/handed_on.hpp"

#include <unistd.h>

#include "nexusfix/base/secret.hpp"

namespace nfx {

HandedOn& HandedOn::operator=(HandedOn&& other) noexcept {
  if (this == &other) return *this;
  replica = std::move(other.replica);
  session = std::move(other.session);
  peer = std::move(other.peer);
  bytes = std::move(other.bytes);
  std::swap(socket, other.socket);
  return *this;
}

HandedOn::~HandedOn() {
  clear_text(bytes);  // they begin with a Logon
  if (socket >= 0) ::close(socket);
}

bool HandOnQueue::push(HandedOn& connection) {
  const std::lock_guard lock{mutex_};
  if (!pushed_ || connections_.size() >= waiting_max) return false;
  connections_.push_back(std::move(connection));
  waiting_.store(true, std::memory_order_release);
  pushed_();
  return true;
}

std::vector<HandedOn> HandOnQueue::take() {
  const std::lock_guard lock{mutex_};
  waiting_.store(false, std::memory_order_release);
  return std::exchange(connections_, {});
}

void HandOnQueue::call_on_push(std::function<void()> pushed) {
  const std::lock_guard lock{mutex_};
  pushed_ = std::move(pushed);
  if (pushed_) return;
  connections_.clear();
  waiting_.store(false, std::memory_order_release);
}

void HandOnQueue::count(std::uint64_t HandOnCounters::* counter) {
  const std::lock_guard lock{mutex_};
  ++(counters_.*counter);
}

HandOnCounters HandOnQueue::counters() const {
  const std::lock_guard lock{mutex_};
  return counters_;
}

}  // namespace nfx
