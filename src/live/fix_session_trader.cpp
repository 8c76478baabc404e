// Which messages are of orders, and the session that takes them.
#include "nexusfix/live/fix_session_trader.hpp"

#include <utility>

#include "nexusfix/base/assert.hpp"

namespace nfx::market {

FixSessionTrader::FixSessionTrader(FixSessionTraderOptions options, FixSessionPorts& ports, FixHandler& handler,
                                   const FeedBooks& books)
    : FixSessionFeed(options.feed, ports, handler, books, options.recorder),
      options_(std::move(options)),
      messages_(options_.orders) {
  NFX_REQUIRE(options_.report != nullptr);  // fills would be lost
}

bool FixSessionTrader::send(const strategy::Intent& intent, const strategy::OwnOrder& order) noexcept {
  if (session_ == nullptr) return false;
  const auto message = messages_.message(intent, order, now_.utc);
  if (!message || !session_->send(*message)) return false;
  session_->flush();
  return true;
}

void FixSessionTrader::on_logon(SessionHandle& session) {
  NFX_ASSERT(session_ == nullptr);  // one session
  session_ = &session;
  now_ = session.now();
  FixSessionFeed::on_logon(session);
}

void FixSessionTrader::on_message(SessionHandle& session, const MessageView& message) {
  now_ = session.now();
  if (const auto report = strategy::read_report(message)) return options_.report(*report);
  FixSessionFeed::on_message(session, message);
}

void FixSessionTrader::on_logout(SessionHandle& session, std::string_view reason) {
  session_ = nullptr;
  FixSessionFeed::on_logout(session, reason);
}

}  // namespace nfx::market
