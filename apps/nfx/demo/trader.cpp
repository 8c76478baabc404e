// Sends the demonstration's orders, replaces and cancels by schedule or window, and records the latency of each answer.
#include "demo/trader.hpp"
#include "base/clocks.hpp"
#include "nexusfix/engine/engine_counters.hpp"

#include <chrono>
#include <utility>

#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::app::demo {
namespace {

constexpr std::uint32_t most_open_orders = 2000;  // beyond it, cancels keep the order books from growing

std::uint32_t most_requests_of(const std::vector<PhasePlan>& plan) {
  std::uint32_t total = 0;
  for (const PhasePlan& phase : plan) total += phase.may_repeat ? 2 * phase.requests : phase.requests;
  return total;
}

}  // namespace

Trader::Trader(std::vector<PhasePlan> plan, std::uint64_t seed)
    : random_(seed), requests_(most_requests_of(plan) + 1), orders_(requests_.size()) {
  phases_.resize(plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    phases_[i].plan = plan[i];
    planned_total_ += plan[i].requests;
  }
  open_.reserve(orders_.size());
}

void Trader::on_logon(SessionHandle& session) {
  session_ = &session;
  thread_before_ = read_thread_stats();
  begin_phase();
}

void Trader::on_logout(SessionHandle&, std::string_view) {
  thread_after_ = read_thread_stats();
  session_ = nullptr;
  done_.store(true, std::memory_order_release);
}

void Trader::on_reject(SessionHandle&, const MessageView&) { ++counts_.unexpected; }

void Trader::on_traffic(SessionHandle&, Direction direction, std::string_view message) {
  Traffic& traffic = direction == Direction::in ? traffic_in_ : traffic_out_;
  ++traffic.messages;
  traffic.bytes += message.size();
}

void Trader::begin_phase() {
  if (meter_ != nullptr) meter_->begin();
  phase_start_ = read_monotonic();
  sent_in_phase_ = answered_in_phase_ = 0;
  in_before_ = session_->counters().messages_in;
  out_before_ = session_->counters().messages_out;
}

void Trader::end_phase(MonotonicTime now) {
  PhaseResult& result = phases_[phase_];
  result.elapsed = now - phase_start_;
  result.messages_in = session_->counters().messages_in - in_before_;
  result.messages_out = session_->counters().messages_out - out_before_;
  if (meter_ != nullptr) result.disturbance = meter_->end();
  if (result.disturbance.spoilt() && result.plan.may_repeat && !result.first_run) {
    PhaseResult again;
    again.plan = result.plan;
    again.first_run = result.disturbance;
    result = std::move(again);
    planned_total_ += result.plan.requests;
    return begin_phase();
  }
  ++phase_;
  if (phase_ == phases_.size()) return session_->logout("demonstration complete");
  begin_phase();
}

Duration Trader::on_turn(Instant) {
  if (session_ == nullptr || !session_->logged_on() || completed()) return Duration::max();
  const MonotonicTime now = read_monotonic();
  send_due(now);
  const PhasePlan& plan = phases_[phase_].plan;
  if (plan.rate_per_s == 0 || sent_in_phase_ == plan.requests || is_window_full()) return Duration::max();
  return phase_start_ + Duration{std::int64_t{1'000'000'000} * sent_in_phase_ / plan.rate_per_s} - now;
}

// Sends due requests: by the schedule in the open loop, by free places in the window in the closed one. If the send
// buffer or the window is full in the open loop, the rest stays due, and its latency counts from its due time.
void Trader::send_due(MonotonicTime now) {
  const PhasePlan& plan = phases_[phase_].plan;
  while (sent_in_phase_ < plan.requests && !is_window_full()) {
    MonotonicTime due = now;
    if (plan.rate_per_s != 0) {
      due = phase_start_ + Duration{std::int64_t{1'000'000'000} * sent_in_phase_ / plan.rate_per_s};
      if (due > now) return;
    }
    if (!send_request(due)) return;
    ++sent_in_phase_;
  }
}

bool Trader::is_window_full() const noexcept {
  return sent_in_phase_ - answered_in_phase_ >= phases_[phase_].plan.window;
}

bool Trader::send_request(MonotonicTime due) {
  const std::uint32_t id = next_id_;
  requests_[id].due = due;
  const std::uint32_t dice = pick(100);
  const bool crowded = open_.size() >= most_open_orders;
  if (!open_.empty() && (dice < 40 || crowded)) {
    const std::uint32_t order = open_[pick(static_cast<std::uint32_t>(open_.size()))];
    if (!orders_[order].pending) return send_change(id, order, !crowded && dice < 20);
  }
  return send_new(id);
}

void Trader::append_instrument(FieldWriter& body, const Order& order, std::uint32_t price_ticks,
                               std::uint32_t quantity) {
  body.append(Tag::Symbol, symbols[order.symbol]).append(Tag::Side, order.side == Side::buy ? '1' : '2');
  body.append(Tag::TransactTime, session_->now().utc, 6).append(Tag::OrderQty, quantity).append(Tag::OrdType, '2');
  body.append(Tag::Price, price_of(price_ticks)).append(Tag::TimeInForce, '0');
}

bool Trader::send_new(std::uint32_t id) {
  Order& order = orders_[id];
  order.symbol = static_cast<std::uint8_t>(pick(symbols.size()));
  order.side = pick(2) == 0 ? Side::buy : Side::sell;
  order.price_ticks = price_levels / 2 - 10 + pick(20) + (order.side == Side::buy ? 0 : 1);
  order.quantity = 1 + pick(max_quantity / 10);
  order.cl_ord_id = id;
  FieldWriter body{buffer_};
  body.append(Tag::ClOrdID, id).append(Tag::Account, "NEXUS-DEMO");
  append_instrument(body, order, order.price_ticks, order.quantity);
  if (!session_->send({.msg_type = msg_type::new_order_single, .body = body.view()})) return false;
  requests_[id].order = id;
  ++counts_.orders;
  ++next_id_;
  return true;
}

bool Trader::send_change(std::uint32_t id, std::uint32_t order_id, bool is_replace) {
  Order& order = orders_[order_id];
  FieldWriter body{buffer_};
  body.append(Tag::OrigClOrdID, order.cl_ord_id).append(Tag::ClOrdID, id).append(Tag::Account, "NEXUS-DEMO");
  std::string_view type = msg_type::order_cancel_request;
  if (is_replace) {
    type = msg_type::order_cancel_replace_request;
    append_instrument(body, order, price_levels / 2 - 10 + pick(20), order.quantity + pick(5));
  } else {
    body.append(Tag::Symbol, symbols[order.symbol]).append(Tag::Side, order.side == Side::buy ? '1' : '2');
    body.append(Tag::TransactTime, session_->now().utc, 6).append(Tag::OrderQty, order.quantity);
  }
  if (!session_->send({.msg_type = type, .body = body.view()})) return false;
  requests_[id].order = order_id;
  order.pending = true;
  ++(is_replace ? counts_.replaces : counts_.cancels);
  ++next_id_;
  return true;
}

Handled Trader::on_message(SessionHandle&, const MessageView& message) {
  const std::string_view type = message.msg_type();
  if (type == msg_type::execution_report) {
    execution_report(message);
    return Handled::done;
  }
  const auto id = message.get_int(Tag::ClOrdID);
  if (type != msg_type::order_cancel_reject || !id || *id < 1 || *id >= next_id_) {
    ++counts_.unexpected;
    return Handled::done;
  }
  ++counts_.rejects;
  const auto request = static_cast<std::uint32_t>(*id);
  orders_[requests_[request].order].pending = false;
  // The callback's time is when the bytes arrived; a latency ends when the program sees the answer.
  answered(request, read_monotonic());
  return Handled::done;
}

void Trader::execution_report(const MessageView& message) {
  const MonotonicTime now = read_monotonic();
  const auto id = message.get_int(Tag::ClOrdID);
  const auto filled = message.get_int(Tag::CumQty);
  const auto exec_type = message.get_char(Tag::ExecType);
  if (!id || *id < 1 || *id >= next_id_ || !filled || !exec_type) {
    ++counts_.unexpected;
    return;
  }
  const auto request = static_cast<std::uint32_t>(*id);
  const std::uint32_t order_id = requests_[request].order;
  Order& order = orders_[order_id];
  switch (*exec_type) {
    case '0':
      order.state = OrderState::open;
      open_order(order_id);
      return answered(request, now);
    case '5': {
      const auto price = message.get_decimal(Tag::Price);
      const auto quantity = message.get_int(Tag::OrderQty);
      order.price_ticks = price ? static_cast<std::uint32_t>(price->mantissa() - lowest_price) : price_levels;
      order.quantity = static_cast<std::uint32_t>(quantity.value_or(0));
      order.cl_ord_id = request;
      order.pending = false;
      return answered(request, now);
    }
    case '4':
      order.state = OrderState::canceled;
      order.cl_ord_id = request;
      order.pending = false;
      close_order(order_id);
      return answered(request, now);
    case 'F':
      ++counts_.fills;
      order.filled = static_cast<std::uint32_t>(*filled);
      order.state = order.filled == order.quantity ? OrderState::filled : OrderState::partly_filled;
      if (order.state == OrderState::filled) close_order(order_id);
      return;
    case '8':
      ++counts_.rejects;
      order.state = OrderState::rejected;
      return answered(request, now);
    default: ++counts_.unexpected;
  }
}

void Trader::answered(std::uint32_t request, MonotonicTime now) {
  Request& entry = requests_[request];
  if (std::exchange(entry.answered, true)) {
    ++counts_.unexpected;
    return;
  }
  phases_[phase_].round_trip.record(now - entry.due);
  ++answered_in_phase_;
  answered_total_.store(answered_total_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (answered_in_phase_ == phases_[phase_].plan.requests) return end_phase(now);
  if (phases_[phase_].plan.rate_per_s == 0) send_due(now);
}

void Trader::open_order(std::uint32_t order) {
  orders_[order].place = static_cast<std::uint32_t>(open_.size());
  open_.push_back(order);
}

void Trader::close_order(std::uint32_t order) {
  const std::uint32_t place = std::exchange(orders_[order].place, no_order);
  if (place == no_order) return;
  open_[place] = open_.back();
  orders_[open_[place]].place = place;
  open_.pop_back();
  orders_[order].place = no_order;
}

std::vector<OrderSummary> Trader::summaries() const {
  std::vector<OrderSummary> result(orders_.size());
  for (std::size_t i = 0; i < orders_.size(); ++i) {
    const Order& order = orders_[i];
    if (order.state == OrderState::none || order.state == OrderState::rejected) continue;
    result[i] = {
        .price_ticks = order.price_ticks, .quantity = order.quantity, .filled = order.filled, .state = order.state};
  }
  return result;
}

}  // namespace nfx::app::demo
