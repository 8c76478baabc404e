// Market data and orders by one FIX session: a FixSessionFeed that also sends what a pipeline wants, and passes on what
// the venue reports of it. Thread: the session's poll thread. Cost: that of the feed; an order is that of OrderMessages
// and a system call. Lifetime: as of FixSessionFeed. Errors: counters and state(); send() is false for what did not
// leave.
#pragma once

#include <functional>

#include "nexusfix/live/fix_session_feed.hpp"
#include "nexusfix/strategy/order_messages.hpp"

namespace nfx::market {

struct FixSessionTraderOptions {
  LiveFeedOptions feed{};
  strategy::OrderMessageOptions orders;
  // For each ExecutionReport and reject of an order: usually Pipeline::report.
  std::function<void(const strategy::OrderTable::VenueReport&)> report;
  Recorder* recorder = nullptr;  // of everything that is received
};

class FixSessionTrader final : public FixSessionFeed {
 public:
  // `ports` are those of the handler.
  FixSessionTrader(FixSessionTraderOptions options, FixSessionPorts& ports, FixHandler& handler,
                   const FeedBooks& books);

  // The sink of a Pipeline. False: the session is not logged on, has no space, or the order does not fit its template.
  bool send(const strategy::Intent& intent, const strategy::OwnOrder& order) noexcept;
  // Of the message under way: the time that a Pipeline is given.
  [[nodiscard]] const Instant& now() const noexcept { return now_; }
  [[nodiscard]] const SessionHandle* session() const noexcept { return session_; }  // null: it is not logged on

  void on_logon(SessionHandle& session) override;
  void on_message(SessionHandle& session, const MessageView& message) override;
  void on_logout(SessionHandle& session, std::string_view reason) override;

 private:
  FixSessionTraderOptions options_;
  strategy::OrderMessages messages_;
  SessionHandle* session_ = nullptr;
  Instant now_{};
};

}  // namespace nfx::market
