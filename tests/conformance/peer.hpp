// The counterparty of a scenario: the wire as the counterparty sees it, the application of the session, and time. An
// implementation contains the session under test, alone or inside a whole engine with a socket. next_message, delivered
// and closed wait, up to a limit, for things that the session has not done yet. So only expected events are requested,
// and `quiet()` checks that nothing else happens.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "nexusfix/base/time.hpp"
#include "nexusfix/session/session.hpp"

namespace nfx::conformance {

class Peer {
 public:
  virtual ~Peer() = default;

  // The wire. An acceptor's counterparty opens a connection; an initiator's accepts one.
  virtual void connect() = 0;
  virtual void cut() = 0;
  virtual void send(std::string_view bytes) = 0;
  // The next whole message from the session; nothing if there is none.
  [[nodiscard]] virtual std::optional<std::string> next_message() = 0;
  // Whether the session has closed the connection; bytes sent before can still be read.
  [[nodiscard]] virtual bool closed() = 0;
  // Whether nothing more arrives, on the wire or at the application, before time advances.
  [[nodiscard]] virtual bool quiet() = 0;

  // The application.
  [[nodiscard]] virtual std::optional<std::string> delivered() = 0;  // the next message it received
  [[nodiscard]] virtual std::optional<std::string> reported() = 0;   // the next Reject it received
  [[nodiscard]] virtual bool app_send(const Outgoing& message) = 0;
  [[nodiscard]] virtual bool app_reject(std::string_view refused, BusinessRejectReason reason,
                                        std::string_view text) = 0;
  virtual void app_log_out(std::string_view text) = 0;
  virtual void app_reset() = 0;

  // Time, which advances only here.
  virtual void advance(Duration time) = 0;
  [[nodiscard]] virtual UtcTime now() const = 0;
};

// Removes and returns the oldest item.
[[nodiscard]] inline std::optional<std::string> take_first(std::deque<std::string>& messages) {
  if (messages.empty()) return std::nullopt;
  std::string first = std::move(messages.front());
  messages.pop_front();
  return first;
}

}  // namespace nfx::conformance
