// The trader and the venue of the session rows: orders and reports with the byte counts of the raw rows, checked.
#include "transport/order_sides.hpp"

#include <algorithm>
#include <string_view>

#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::bench {

namespace {

constexpr std::array<std::string_view, 4> symbols{"MSFT", "AAPL", "NVDA", "AMZN"};
constexpr std::string_view padding =
    "................................................................"
    "................................................................";

constexpr std::size_t digits(std::uint64_t number) noexcept {
  std::size_t count = 1;
  for (; number >= 10; number /= 10) ++count;
  return count;
}

}  // namespace

OrderSide::Terms OrderSide::terms_of(std::uint64_t number) const noexcept {
  const std::uint64_t dice = (number + seed_) * 0x9E3779B97F4A7C15 >> 20;
  return {symbols[dice % symbols.size()], (dice >> 8 & 1) != 0 ? '1' : '2', 100 + (dice >> 9) % 900,
          Decimal{static_cast<std::int64_t>(10'000 + (dice >> 20) % 80'000), 2}};
}

void OrderSide::append(FieldWriter& body, const Terms& terms) {
  body.append(Tag::Symbol, terms.symbol).append(Tag::Side, terms.side);
  body.append(Tag::OrderQty, terms.quantity).append(Tag::Price, terms.price);
}

bool OrderSide::says(const MessageView& message, const Terms& terms) {
  const auto price = message.get_decimal(Tag::Price);
  return message.get_view(Tag::Symbol) == terms.symbol &&
         message.get_view(Tag::Side) == std::string_view{&terms.side, 1} &&
         message.get_int(Tag::OrderQty) == static_cast<std::int64_t>(terms.quantity) && price && *price == terms.price;
}

// Learns from every message how much the session adds to a body, so that the next message gets the right length.
void OrderSide::on_traffic(SessionHandle&, Direction direction, std::string_view message) {
  if (direction != Direction::out || body_size_ == 0) return;
  if (envelope_ != 0 && message.size() != message_size_)
    note("a message has " + std::to_string(message.size()) + " bytes instead of " + std::to_string(message_size_));
  envelope_ = message.size() - body_size_ - seq_digits_;
  body_size_ = 0;
}

void OrderSide::send(SessionHandle& session, std::string_view type, FieldWriter& body, std::uint64_t number) {
  constexpr std::size_t text_field = 4;  // "58=" and SOH
  seq_digits_ = digits(value(session.next_outbound()));
  const std::size_t around = envelope_ + seq_digits_ + body.view().size() + text_field;
  const std::size_t room = message_size_ > around ? message_size_ - around : 1;
  body.append(Tag::Text, padding.substr(0, std::clamp<std::size_t>(room, 1, padding.size())));
  body_size_ = body.view().size();
  if (!session.send({.msg_type = type, .body = body.view(), .header_fields = {}}))
    note("message " + std::to_string(number) + " could not be sent");
}

Handled OrderVenue::on_message(SessionHandle& session, const MessageView& order) {
  const std::uint64_t number = answered_ + 1;
  const Terms terms = terms_of(number);
  if (order.msg_type() != msg_type::new_order_single ||
      order.get_int(Tag::ClOrdID) != static_cast<std::int64_t>(number) || !says(order, terms)) {
    note("order " + std::to_string(number) + " came in changed");
    session.logout("wrong order");
    return Handled::done;
  }
  FieldWriter body{buffer_};
  body.append(Tag::OrderID, number).append(Tag::ExecID, number).append(Tag::ExecType, '0').append(Tag::OrdStatus, '0');
  body.append(Tag::ClOrdID, number);
  append(body, terms);
  body.append(Tag::LeavesQty, terms.quantity).append(Tag::CumQty, 0).append(Tag::AvgPx, 0);
  body.append(Tag::TransactTime, session.now().utc, 6);
  answered_ = number;
  send(session, msg_type::execution_report, body, number);
  return Handled::done;
}

void OrderTrader::send_next(SessionHandle& session) {
  const std::uint64_t number = answered_ + 1;
  FieldWriter body{buffer_};
  body.append(Tag::ClOrdID, number);
  append(body, terms_of(number));
  body.append(Tag::TransactTime, session.now().utc, 6).append(Tag::OrdType, '2');
  begin_ = std::chrono::steady_clock::now();
  send(session, msg_type::new_order_single, body, number);
}

Handled OrderTrader::on_message(SessionHandle& session, const MessageView& report) {
  const auto elapsed = std::chrono::steady_clock::now() - begin_;
  const std::uint64_t number = answered_ + 1;
  const auto is = [&](Tag tag) { return report.get_int(tag) == static_cast<std::int64_t>(number); };
  if (report.msg_type() != msg_type::execution_report || !is(Tag::ClOrdID) || !is(Tag::OrderID) || !is(Tag::ExecID) ||
      report.get_view(Tag::ExecType) != "0" || !says(report, terms_of(number))) {
    note("the answer to order " + std::to_string(number) + " is not its report");
    session.logout("wrong report");
    return Handled::done;
  }
  answered_ = number;
  if (number > warm_up_) round_trip.record(elapsed);
  if (number < all_ && problem.empty()) {
    send_next(session);
  } else {
    session.logout("done");
  }
  return Handled::done;
}

}  // namespace nfx::bench
