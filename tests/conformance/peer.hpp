// What a scenario is played against: the wire as the counterparty sees it, the application of the session, and time. An
// implementation has the session under test, alone or inside a whole engine with a socket. What the session has not
// done yet when next_message, delivered or closed is called, the implementation waits for, up to a limit; so only what
// is expected is requested, and `quiet()` checks that nothing comes.
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

  // The wire. The counterparty of an acceptor opens a connection; that of an initiator lets one in.
  virtual void connect() = 0;
  virtual void cut() = 0;
  virtual void send(std::string_view bytes) = 0;
  // The next message that the session has sent, whole; nothing when none comes.
  [[nodiscard]] virtual std::optional<std::string> next_message() = 0;
  // Whether the session has closed the connection; bytes it sent before can still be read.
  [[nodiscard]] virtual bool closed() = 0;
  // Nothing more comes, on the wire or to the application, before time moves on.
  [[nodiscard]] virtual bool quiet() = 0;

  // The application.
  [[nodiscard]] virtual std::optional<std::string> delivered() = 0;  // the next message it got
  [[nodiscard]] virtual std::optional<std::string> reported() = 0;   // the next Reject it received
  [[nodiscard]] virtual bool app_send(const Outgoing& message) = 0;
  [[nodiscard]] virtual bool app_reject(std::string_view refused, BusinessRejectReason reason,
                                        std::string_view text) = 0;
  virtual void app_log_out(std::string_view text) = 0;
  virtual void app_reset() = 0;

  // Time, which passes only here.
  virtual void advance(Duration time) = 0;
  [[nodiscard]] virtual UtcTime now() const = 0;
};

// The oldest of what has gathered, taken out.
[[nodiscard]] inline std::optional<std::string> take_first(std::deque<std::string>& messages) {
  if (messages.empty()) return std::nullopt;
  std::string first = std::move(messages.front());
  messages.pop_front();
  return first;
}

}  // namespace nfx::conformance
