// Runs a handshake step on another thread and returns its result.
#include "transport/tls_handshake.hpp"

#include <utility>

#include "nexusfix/base/assert.hpp"

namespace nfx::detail {

// Only the first of several tasks needs to wake the transport, which takes all.
bool HandshakeReturns::add(HandshakeTask& task) noexcept {
  const std::lock_guard lock{mutex_};
  if (closed_) return false;
  if (tasks_.add(task)) wake_();
  return true;
}

void HandshakeReturns::close() noexcept {
  const std::lock_guard lock{mutex_};
  closed_ = true;
}

TlsHandshake::~TlsHandshake() = default;

TlsStream::Status TlsHandshake::step() noexcept {
  const TlsStream::Status status = stream.handshake();
  if (status == TlsStream::Status::done && server_) certificate = stream.peer();
  return status;
}

void TlsHandshake::send_away(HandshakeExecutor& executor, std::shared_ptr<HandshakeReturns> to) noexcept {
  NFX_ASSERT(!away_ && !abandoned());
  away_ = true;
  returns_ = std::move(to);
  executor.post(*this);
}

TlsStream::Status TlsHandshake::came_back() noexcept {
  NFX_ASSERT(away_);
  away_ = false;
  return status_;
}

void TlsHandshake::run() noexcept {
  if (!abandoned()) status_ = step();
  if (abandoned()) stream.discard();  // done here, so that the transport's thread has less to do
  // After add() the task and the transport may no longer exist.
  const std::shared_ptr<HandshakeReturns> returns = std::move(returns_);
  if (!returns->add(*this)) delete this;
}

}  // namespace nfx::detail
