// The stream of one TLS connection whose handshake may run on another thread.
// Thread: the transport's; between send_away() and HandshakeReturns::take_all() the stream and the members written here
// belong to the executor's. Lifetime: a handshake that is away when its connection or transport ends is deleted later
// by the thread that holds it. Errors: as TlsStream.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

#include "transport/handshake_executor.hpp"
#include "transport/tls_facts.hpp"
#include "transport/tls_stream.hpp"

namespace nfx::detail {

// Collects finished tasks. Shared by a transport and its handshakes.
class HandshakeReturns {
 public:
  // `wake` is called on any thread when there are tasks to take.
  explicit HandshakeReturns(std::function<void()> wake) : wake_(std::move(wake)) {}

  [[nodiscard]] bool empty() const noexcept { return tasks_.empty(); }
  [[nodiscard]] HandshakeTask* take_all() noexcept { return tasks_.take_all(); }
  // False if closed: the task is not wanted back.
  [[nodiscard]] bool add(HandshakeTask& task) noexcept;
  // `wake` is not called any more.
  void close() noexcept;

 private:
  HandshakeTasks tasks_;
  std::mutex mutex_;  // for the executor's threads; the transport's thread takes it only in close()
  bool closed_ = false;
  std::function<void()> wake_;
};

class TlsHandshake : public HandshakeTask {
 public:
  TlsHandshake(const TlsContext& context, TlsSide side, std::string_view name, std::size_t send_buffer)
      : stream(context, side, name, send_buffer), server_(side == TlsSide::server) {}
  virtual ~TlsHandshake();

  // One step on this thread.
  [[nodiscard]] TlsStream::Status step() noexcept;

  // One step on another thread. The input is stored in the stream.
  void send_away(HandshakeExecutor& executor, std::shared_ptr<HandshakeReturns> to) noexcept;
  [[nodiscard]] bool away() const noexcept { return away_; }
  // The result of step() for a task that is back.
  [[nodiscard]] TlsStream::Status came_back() noexcept;
  // The connection has ended while its step is away: the step need not be computed.
  void abandon() noexcept { abandoned_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool abandoned() const noexcept { return abandoned_.load(std::memory_order_relaxed); }

  TlsStream stream;
  std::unique_ptr<TlsPeer> certificate;  // the client's certificate, when a server's handshake is finished

 private:
  void run() noexcept final;

  const bool server_;
  bool away_ = false;
  std::atomic<bool> abandoned_{false};
  TlsStream::Status status_ = TlsStream::Status::wants_input;
  std::shared_ptr<HandshakeReturns> returns_;  // set while it is away
};

}  // namespace nfx::detail
