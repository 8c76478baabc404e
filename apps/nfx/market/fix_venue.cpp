// The venue's own orders, and the connection between its books and the publisher.
#include "market/fix_venue.hpp"

#include <chrono>
#include <string>

#include "demo/market.hpp"

namespace nfx::app::market {

using namespace nfx::market;

namespace {

constexpr std::uint32_t own_orders = 1000;

FixPublisherOptions publisher_options(const FixVenueOptions& options) {
  FixPublisherOptions made;
  for (const std::string_view symbol : demo::symbols) made.symbols.emplace_back(symbol);
  made.left_out = options.left_out;
  made.seed = options.seed;
  return made;
}

EngineConfig config_of(const FixVenueOptions& options) {
  EngineConfig config;
  config.idle = options.idle;
  SessionSettings session;
  session.session.role = Role::acceptor;
  session.session.sender_comp_id = "VENUE";
  session.session.target_comp_id = "*";
  session.session.timestamp_digits = 6;
  session.is_template = true;
  session.listen = options.listen;
  session.send_buffer_size = 4u << 20;
  config.max_message_size = 1u << 20;
  config.sessions = {session};
  return config;
}

}  // namespace

FixVenue::FixVenue(const FixVenueOptions& options)
    : names_(options.names),
      publisher_(publisher_options(options)),
      venue_(options.client_orders + own_orders, this),
      random_(options.seed) {
  for (std::uint32_t i = 0; i < own_orders; ++i) free_.push_back(options.client_orders + 1 + i);
  used_.reserve(own_orders);
  engine_.emplace(config_of(options), venue_);
  engine_->start();
}

// Adds more orders than it removes, until half of its places are used.
void FixVenue::step(UtcTime at) {
  step_ = at;
  while (!used_.empty()) {
    const std::size_t place = below(used_.size());
    const std::uint32_t id = used_[place];
    const bool open = venue_.is_open(id);
    const bool cancel = open && (used_.size() >= own_orders / 2 || below(100) < 45);
    if (open && !cancel) break;
    used_[place] = used_.back();
    used_.pop_back();
    free_.push_back(id);
    if (!open) continue;  // it was filled
    venue_.cancel_own(id, at);
    return;
  }
  const std::uint32_t id = free_.back();
  free_.pop_back();
  used_.push_back(id);
  const bool buy = below(2) == 0;
  const auto ticks = static_cast<std::uint32_t>(demo::price_levels / 2 - 40 + below(60) + (buy ? 0 : 20));
  venue_.add_own(id, static_cast<std::uint32_t>(below(names_)), buy ? demo::Side::buy : demo::Side::sell, ticks,
                 static_cast<std::uint32_t>(1 + below(100)), at);
}

void FixVenue::end() {
  engine_->stop();
  while (!engine_->finished()) engine_->turn(std::chrono::milliseconds{10});
}

FixPublisher::Order FixVenue::order_of(const demo::BookChange& change) {
  return {change.symbol, OrderId{change.order}, change.side == demo::Side::buy ? Side::bid : Side::ask,
          Price{demo::price_of(change.price_ticks).mantissa() * 10'000'000}, change.quantity};
}

UtcTime FixVenue::time_of(const demo::BookChange& change) const noexcept {
  if (change.at == step_) return step_;
  return UtcTime{Duration{change.at.time_since_epoch().count() | 1}};
}

void FixVenue::added(const demo::BookChange& change) { publisher_.added(order_of(change), time_of(change)); }
void FixVenue::reduced(const demo::BookChange& change) { publisher_.changed(order_of(change), time_of(change)); }
void FixVenue::removed(const demo::BookChange& change) { publisher_.removed(order_of(change), time_of(change)); }
void FixVenue::traded(const demo::BookChange& change) { publisher_.traded(order_of(change), time_of(change)); }
void FixVenue::done() { publisher_.flush(); }
bool FixVenue::on_message(SessionHandle& session, const MessageView& message) {
  return publisher_.on_message(session, message);
}
void FixVenue::on_logout(SessionHandle& session) { publisher_.on_logout(session); }

}  // namespace nfx::app::market
