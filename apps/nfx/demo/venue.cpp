// Turns the demonstration's requests into orders of the order book, and its results into ExecutionReports.
#include "demo/venue.hpp"

#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::app::demo {
namespace {

char order_status(OrderState state) noexcept {
  switch (state) {
    case OrderState::none:
    case OrderState::open: return '0';
    case OrderState::partly_filled: return '1';
    case OrderState::filled: return '2';
    case OrderState::canceled: return '4';
    case OrderState::rejected: return '8';
  }
  return '0';
}

// A price in ticks of the venue's grid; price_levels if it is not on the grid.
std::uint32_t ticks_of(const MessageView& message) {
  const auto price = message.get_decimal(Tag::Price);
  if (!price || price->scale() > 2) return price_levels;
  std::int64_t cents = price->mantissa();
  for (int scale = price->scale(); scale < 2; ++scale) cents *= 10;
  cents -= lowest_price;
  return cents < 0 || cents >= price_levels ? price_levels : static_cast<std::uint32_t>(cents);
}

}  // namespace

Venue::Venue(std::uint32_t max_requests, BookListener* listener)
    : orders_(max_requests + 1),
      book_orders_(max_requests + 1),
      order_of_request_(max_requests + 1, no_order),
      books_(symbols.size(), Book{price_levels}),
      listener_(listener) {}

void Venue::on_logon(SessionHandle&) { thread_before_ = read_thread_stats(); }

void Venue::on_logout(SessionHandle& session, std::string_view) {
  thread_after_ = read_thread_stats();
  done_ = true;
  if (listener_ != nullptr) listener_->on_logout(session);
}

void Venue::on_removed(SessionHandle& session) {
  for (Order& order : orders_) {
    if (order.owner == &session) order.owner = nullptr;
  }
}

Handled Venue::on_message(SessionHandle& session, const MessageView& message) {
  dispatch(session, message);
  if (listener_ != nullptr) listener_->done();
  return Handled::done;
}

void Venue::dispatch(SessionHandle& session, const MessageView& message) {
  const std::string_view type = message.msg_type();
  if (type == msg_type::new_order_single) return new_order(session, message);
  if (type == msg_type::order_cancel_replace_request) return replace(session, message);
  if (type == msg_type::order_cancel_request) return cancel(session, message);
  if (listener_ != nullptr && listener_->on_message(session, message)) return;
  const auto refused = session.reject_business(message, BusinessRejectReason::unsupported_message_type,
                                               "this venue takes orders, replaces and cancels");
  if (!refused) ++counts_.unsent;
}

Venue::Request Venue::read_request(const MessageView& message) const {
  Request request;
  const auto id = message.get_int(Tag::ClOrdID);
  const auto quantity = message.get_decimal(Tag::OrderQty);
  const std::string_view side = message.get_view(Tag::Side);
  const std::string_view symbol = message.get_view(Tag::Symbol);
  const auto known = std::ranges::find(symbols, symbol);
  request.price_ticks = ticks_of(message);
  if (!id || *id < 1 || *id >= static_cast<std::int64_t>(orders_.size()) || !quantity || quantity->scale() != 0 ||
      quantity->mantissa() < 1 || quantity->mantissa() > max_quantity || (side != "1" && side != "2") ||
      known == symbols.end() || request.price_ticks == price_levels) {
    return request;
  }
  request.id = static_cast<std::uint32_t>(*id);
  request.quantity = static_cast<std::uint32_t>(quantity->mantissa());
  request.side = side == "1" ? Side::buy : Side::sell;
  request.symbol = static_cast<std::uint8_t>(known - symbols.begin());
  request.valid = order_of_request_[request.id] == no_order;
  return request;
}

// The session's open order whose latest ClOrdID is the message's OrigClOrdID, or no_order.
std::uint32_t Venue::find_open(const SessionHandle& session, const MessageView& message) const {
  const auto id = message.get_int(Tag::OrigClOrdID);
  if (!id || *id < 1 || *id >= static_cast<std::int64_t>(orders_.size())) return no_order;
  const std::uint32_t order = order_of_request_[static_cast<std::size_t>(*id)];
  if (order == no_order || orders_[order].cl_ord_id != static_cast<std::uint32_t>(*id) ||
      orders_[order].owner != &session) {
    return no_order;
  }
  const OrderState state = orders_[order].state;
  return state == OrderState::open || state == OrderState::partly_filled ? order : no_order;
}

void Venue::new_order(SessionHandle& session, const MessageView& message) {
  const Request request = read_request(message);
  if (!request.valid)
    return reject_order(session, message, "unknown symbol, price off the grid, bad quantity or used ClOrdID");
  ++counts_.orders;
  order_of_request_[request.id] = request.id;
  Order& order = orders_[request.id];
  order = {.quantity = request.quantity,
           .cl_ord_id = request.id,
           .symbol = request.symbol,
           .state = OrderState::open,
           .owner = &session};
  book_orders_[request.id] = {.price_ticks = request.price_ticks, .leaves = request.quantity, .side = request.side};
  report(request.id, '0', 0, 0, 0);
  match(request.id, session.now().utc);
}

void Venue::add_own(std::uint32_t id, std::uint32_t symbol, Side side, std::uint32_t price_ticks,
                    std::uint32_t quantity, UtcTime at) {
  order_of_request_[id] = id;
  orders_[id] = {
      .quantity = quantity, .cl_ord_id = id, .symbol = static_cast<std::uint8_t>(symbol), .state = OrderState::open};
  book_orders_[id] = {.price_ticks = price_ticks, .leaves = quantity, .side = side};
  match(id, at);
  if (listener_ != nullptr) listener_->done();
}

bool Venue::cancel_own(std::uint32_t id, UtcTime at) {
  if (!is_open(id)) return false;
  Order& order = orders_[id];
  if (listener_ != nullptr) listener_->removed(change_of(id, at));
  books_[order.symbol].remove(book_orders_, id);
  book_orders_[id].leaves = 0;
  order.state = OrderState::canceled;
  if (listener_ != nullptr) listener_->done();
  return true;
}

BookChange Venue::change_of(std::uint32_t id, UtcTime at) const noexcept {
  const BookOrder& order = book_orders_[id];
  return {id, orders_[id].symbol, order.price_ticks, order.leaves, order.side, at};
}

void Venue::replace(SessionHandle& session, const MessageView& message) {
  const Request request = read_request(message);
  const std::uint32_t id = find_open(session, message);
  if (!request.valid || id == no_order || orders_[id].symbol != request.symbol ||
      book_orders_[id].side != request.side) {
    return reject_cancel(session, message, '2', "no such open order");
  }
  Order& order = orders_[id];
  if (request.quantity <= order.filled)
    return reject_cancel(session, message, '2', "already filled beyond that quantity");
  ++counts_.replaces;
  BookOrder& book_order = book_orders_[id];
  Book& book = books_[order.symbol];
  if (listener_ != nullptr) listener_->removed(change_of(id, session.now().utc));
  book.remove(book_orders_, id);
  order_of_request_[request.id] = id;
  const std::uint32_t previous_id = std::exchange(order.cl_ord_id, request.id);
  order.quantity = request.quantity;
  book_order.price_ticks = request.price_ticks;
  book_order.leaves = request.quantity - order.filled;
  report(id, '5', previous_id, 0, 0);
  match(id, session.now().utc);
}

void Venue::cancel(SessionHandle& session, const MessageView& message) {
  const auto request = message.get_int(Tag::ClOrdID);
  const std::uint32_t id = find_open(session, message);
  if (id == no_order || !request || *request < 1 || *request >= static_cast<std::int64_t>(orders_.size()) ||
      order_of_request_[static_cast<std::size_t>(*request)] != no_order) {
    return reject_cancel(session, message, '1', "no such open order");
  }
  ++counts_.cancels;
  Order& order = orders_[id];
  if (listener_ != nullptr) listener_->removed(change_of(id, session.now().utc));
  books_[order.symbol].remove(book_orders_, id);
  book_orders_[id].leaves = 0;
  order_of_request_[static_cast<std::size_t>(*request)] = id;
  const std::uint32_t previous_id = std::exchange(order.cl_ord_id, static_cast<std::uint32_t>(*request));
  order.state = OrderState::canceled;
  report(id, '4', previous_id, 0, 0);
}

void Venue::match(std::uint32_t id, UtcTime at) {
  const std::uint32_t symbol = orders_[id].symbol;
  books_[symbol].add(book_orders_, id, [&](std::uint32_t resting, std::uint32_t quantity, std::uint32_t ticks) {
    fill(id, quantity, ticks);
    fill(resting, quantity, ticks);
    if (listener_ == nullptr) return;
    listener_->traded({id, symbol, ticks, quantity, book_orders_[id].side, at});
    const BookChange left = change_of(resting, at);
    left.quantity == 0 ? listener_->removed(left) : listener_->reduced(left);
  });
  if (listener_ != nullptr && book_orders_[id].resting) listener_->added(change_of(id, at));
}

void Venue::fill(std::uint32_t id, std::uint32_t quantity, std::uint32_t ticks) {
  Order& order = orders_[id];
  order.filled += quantity;
  order.notional_ticks += std::uint64_t{quantity} * static_cast<std::uint64_t>(lowest_price + ticks);
  order.state = order.filled == order.quantity ? OrderState::filled : OrderState::partly_filled;
  ++counts_.fills;
  report(id, 'F', 0, quantity, ticks);
}

void Venue::report(std::uint32_t id, char exec_type, std::uint32_t orig_cl_ord_id, std::uint32_t last_quantity,
                   std::uint32_t last_ticks) {
  const Order& order = orders_[id];
  if (order.owner == nullptr || !order.owner->logged_on()) return;
  SessionHandle& session = *order.owner;
  const BookOrder& book_order = book_orders_[id];
  FieldWriter body{buffer_};
  body.append(Tag::OrderID, id).append(Tag::ExecID, next_exec_id_++).append(Tag::ExecType, exec_type);
  body.append(Tag::OrdStatus, order_status(order.state)).append(Tag::ClOrdID, order.cl_ord_id);
  if (orig_cl_ord_id != 0) body.append(Tag::OrigClOrdID, orig_cl_ord_id);
  body.append(Tag::Symbol, symbols[order.symbol]).append(Tag::Side, book_order.side == Side::buy ? '1' : '2');
  body.append(Tag::OrderQty, order.quantity)
      .append(Tag::OrdType, '2')
      .append(Tag::Price, price_of(book_order.price_ticks));
  body.append(Tag::TimeInForce, '0');
  if (last_quantity != 0) body.append(Tag::LastQty, last_quantity).append(Tag::LastPx, price_of(last_ticks));
  body.append(Tag::LeavesQty, order.state == OrderState::canceled ? 0 : order.quantity - order.filled);
  body.append(Tag::CumQty, order.filled);
  // Rounded down to four digits, because an average may have no finite decimal form.
  const std::uint64_t average = order.filled == 0 ? 0 : order.notional_ticks * 100 / order.filled;
  body.append(Tag::AvgPx, Decimal{static_cast<std::int64_t>(average), 4})
      .append(Tag::TransactTime, session.now().utc, 6);
  send(session, msg_type::execution_report, body);
}

void Venue::reject_order(SessionHandle& session, const MessageView& message, std::string_view text) {
  ++counts_.rejects;
  FieldWriter body{buffer_};
  body.append(Tag::OrderID, "NONE")
      .append(Tag::ExecID, next_exec_id_++)
      .append(Tag::ExecType, '8')
      .append(Tag::OrdStatus, '8');
  body.append(Tag::ClOrdID, message.get_view(Tag::ClOrdID)).append(Tag::Symbol, message.get_view(Tag::Symbol));
  body.append(Tag::Side, message.get_view(Tag::Side))
      .append(Tag::LeavesQty, 0)
      .append(Tag::CumQty, 0)
      .append(Tag::AvgPx, 0);
  body.append(Tag::Text, text);
  send(session, msg_type::execution_report, body);
}

void Venue::reject_cancel(SessionHandle& session, const MessageView& message, char response_to, std::string_view text) {
  ++counts_.rejects;
  FieldWriter body{buffer_};
  body.append(Tag::OrderID, "NONE").append(Tag::ClOrdID, message.get_view(Tag::ClOrdID));
  body.append(Tag::OrigClOrdID, message.get_view(Tag::OrigClOrdID)).append(Tag::OrdStatus, '8');
  body.append(Tag::CxlRejResponseTo, response_to).append(Tag::CxlRejReason, 1).append(Tag::Text, text);
  send(session, msg_type::order_cancel_reject, body);
}

void Venue::send(SessionHandle& session, std::string_view type, const FieldWriter& body) {
  if (!body.ok() || !session.send({.msg_type = type, .body = body.view()})) ++counts_.unsent;
}

std::vector<OrderSummary> Venue::summaries() const {
  std::vector<OrderSummary> result(orders_.size());
  for (std::size_t i = 0; i < orders_.size(); ++i) {
    if (orders_[i].state == OrderState::none) continue;
    result[i] = {.price_ticks = book_orders_[i].price_ticks,
                 .quantity = orders_[i].quantity,
                 .filled = orders_[i].filled,
                 .state = orders_[i].state};
  }
  return result;
}

}  // namespace nfx::app::demo
