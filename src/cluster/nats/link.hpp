// A link is a connection to one nats-server; an attempt makes one.
// Thread: one, except calls by libnats; an attempt has its own thread. Bounds: for each server, one attempt that was
// given up. Errors: NatsError for an operator's mistake; else the status of libnats.
#pragma once

#include <nats/nats.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nats/nats_stream.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx::nats {

struct Destroy {
  void operator()(natsConnection* connection) const { natsConnection_Destroy(connection); }
  void operator()(natsOptions* options) const { natsOptions_Destroy(options); }
  void operator()(natsMsg* message) const { natsMsg_Destroy(message); }
  void operator()(natsSubscription* subscription) const { natsSubscription_Destroy(subscription); }
};
template <class T>
using Owned = std::unique_ptr<T, Destroy>;

// A connection to one server, until that is lost: libnats does not connect again. Its subscriptions end with it, and
// not before: libnats 3.4 writes into one that is destroyed while its message is received.
struct Link {
  Link() = default;
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  std::string server;                // its address
  std::atomic<bool> is_lost{false};  // for ever: libnats receives nothing more
  Owned<natsConnection> handle;
  std::vector<Owned<natsSubscription>> subscriptions;
  std::string batch_inbox;                    // of all reads; empty before the first one
  natsSubscription* batch_answers = nullptr;  // to it
  std::uint64_t batches = 0;
};

// Connects to one server, on its own thread. libnats before 3.8 does not return from a server that is lost during a TLS
// handshake: such an attempt is given up, and its thread ends when that connection does. Until then no other attempt is
// made at that server, so each server has at most one such thread.
class Attempt {
 public:
  static constexpr std::chrono::milliseconds spare{500};  // of libnats, to end within the time

  // Ends after `longest`, and `spare` at most.
  Attempt(const NatsOptions& options, const std::string& url, std::chrono::milliseconds longest);
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  // For this time at most: it has ended, or is to be given up.
  [[nodiscard]] bool wait(std::chrono::milliseconds most);
  // NATS_OK: `link` is the connection.
  [[nodiscard]] natsStatus take(std::unique_ptr<Link>& link);

 private:
  struct Result;

  const std::string address_;
  const MonotonicTime end_;
  const std::shared_ptr<Result> result_;
};

// The replacement text, between the address and the text of libnats.
[[nodiscard]] std::string refusal_of(natsStatus status, const NatsOptions& options);
// Without users and passwords.
[[nodiscard]] std::string shown_url(std::string_view urls);
void require(natsStatus status, const std::string& what);

}  // namespace nfx::nats
