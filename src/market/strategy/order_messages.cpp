// Lays out order messages once and patches them; reads what the venue answers.
#include "nexusfix/strategy/order_messages.hpp"

#include <array>
#include <utility>

#include "base/call_trace.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::strategy {
namespace {

constexpr unsigned number_digits = 12;

std::string field(Tag tag, std::string_view value) {
  return std::to_string(nfx::value(tag)) + '=' + std::string{value} + soh;
}

std::string_view type_of(Action action) noexcept {
  switch (action) {
    case Action::place: return msg_type::new_order_single;
    case Action::replace: return msg_type::order_cancel_replace_request;
    case Action::cancel: return msg_type::order_cancel_request;
  }
  return {};
}

std::optional<ReportKind> kind_of(char exec_type) noexcept {
  switch (exec_type) {
    case '0': return ReportKind::accepted;
    case '1':
    case '2':
    case 'F': return ReportKind::filled;
    case '3':  // done for the day
    case '4':
    case 'C': return ReportKind::canceled;  // expired
    case '5': return ReportKind::replaced;
    case '8': return ReportKind::rejected;
    default: return std::nullopt;  // pending, status, corrections of trades
  }
}

std::optional<OrderNumber> number_in(const MessageView& message, Tag tag) noexcept {
  const auto number = message.get_int(tag);
  if (!number || *number <= 0) return std::nullopt;
  return OrderNumber{static_cast<std::uint64_t>(*number)};
}

}  // namespace

OrderMessages::OrderMessages(const OrderMessageOptions& options)
    : place_(lay_out(options, Action::place)),
      replace_(lay_out(options, Action::replace)),
      cancel_(lay_out(options, Action::cancel)) {}

OrderMessages::Layout OrderMessages::lay_out(const OrderMessageOptions& options, Action action) {
  // The session writes its own header; this one only begins the template.
  const HeaderTemplate header{{.begin_string = "FIX.4.4", .sender_comp_id = "S", .target_comp_id = "T"}};
  MessageTemplateBuilder builder{header, type_of(action)};
  std::optional<IntSlot> original;
  if (action != Action::place) original = builder.integer(Tag::OrigClOrdID, number_digits);
  const IntSlot number = builder.integer(Tag::ClOrdID, number_digits);
  if (!options.account.empty()) builder.fields(field(Tag::Account, options.account));
  builder.fields(field(Tag::Symbol, options.symbol)).fields(options.more_fields);
  const CharSlot side = builder.character(Tag::Side);
  const TimeSlot time = builder.time(Tag::TransactTime, options.time_digits);
  const IntSlot quantity = builder.integer(Tag::OrderQty, options.quantity_digits);
  std::optional<DecimalSlot> price;
  std::optional<CharSlot> time_in_force;
  if (action != Action::cancel) {
    builder.fields(field(Tag::OrdType, "2"));
    price = builder.decimal(Tag::Price, {.whole_digits = options.price_digits, .scale = options.price_scale});
    time_in_force = builder.character(Tag::TimeInForce);
  }
  return {.text = builder.build(),
          .original = original,
          .number = number,
          .side = side,
          .time = time,
          .quantity = quantity,
          .price = price,
          .time_in_force = time_in_force};
}

std::optional<Outgoing> OrderMessages::message(const Intent& intent, const OwnOrder& order, UtcTime now) noexcept {
  NFX_TRACE();
  Layout& layout = intent.action == Action::place ? place_ : intent.action == Action::replace ? replace_ : cancel_;
  NFX_ASSERT((intent.action == Action::place) != order.changing());
  const auto number = [](OrderNumber of) { return static_cast<std::int64_t>(std::to_underlying(of)); };
  const Quantity quantity = intent.action == Action::cancel ? order.quantity : intent.quantity;
  bool fits = layout.text.patch(layout.number, number(order.request())) == PatchError::none;
  if (layout.original) fits &= layout.text.patch(*layout.original, number(order.number)) == PatchError::none;
  fits &= layout.text.patch(layout.side, order.side == Side::bid ? '1' : '2') == PatchError::none;
  fits &= layout.text.patch(layout.quantity, static_cast<std::int64_t>(quantity)) == PatchError::none;
  if (layout.price) fits &= layout.text.patch(*layout.price, intent.price.decimal()) == PatchError::none;
  if (layout.time_in_force) {
    const char value = intent.time_in_force == TimeInForce::day ? '0' : '3';
    fits &= layout.text.patch(*layout.time_in_force, value) == PatchError::none;
  }
  if (!fits) return std::nullopt;
  layout.text.patch(layout.time, now);
  return Outgoing{.msg_type = type_of(intent.action), .body = layout.text.fields()};
}

std::optional<Price> price_of(Decimal decimal) noexcept {
  std::int64_t nano = decimal.mantissa();
  for (unsigned scale = decimal.scale(); scale < Price::scale; ++scale) {
    if (__builtin_mul_overflow(nano, 10, &nano)) return std::nullopt;
  }
  for (unsigned scale = decimal.scale(); scale > Price::scale; --scale) {
    if (nano % 10 != 0) return std::nullopt;
    nano /= 10;
  }
  return Price{nano};
}

std::optional<OwnOrders::VenueReport> read_report(const MessageView& message) noexcept {
  const std::string_view type = message.msg_type();
  if (type == msg_type::execution_report) {
    const auto number = number_in(message, Tag::ClOrdID);
    const auto exec_type = message.get_char(Tag::ExecType);
    const auto kind = exec_type ? kind_of(*exec_type) : std::nullopt;
    if (!kind) return std::nullopt;
    if (!number)
      return *kind == ReportKind::filled ? std::optional{OwnOrders::VenueReport{.kind = *kind}} : std::nullopt;
    OwnOrders::VenueReport report{.number = *number, .kind = *kind};
    if (*kind != ReportKind::filled) return report;
    const auto quantity = message.get_int(Tag::LastQty);
    const auto decimal = message.get_decimal(Tag::LastPx);
    const auto price = decimal ? price_of(*decimal) : std::nullopt;
    // A fill that cannot be read is one of an unknown order.
    if (!quantity || *quantity <= 0 || !price) return OwnOrders::VenueReport{.kind = ReportKind::filled};
    report.quantity = static_cast<Quantity>(*quantity);
    report.price = *price;
    return report;
  }
  if (type == msg_type::order_cancel_reject) {
    const auto number = number_in(message, Tag::ClOrdID);
    if (!number) return std::nullopt;
    return OwnOrders::VenueReport{.number = *number, .kind = ReportKind::change_rejected};
  }
  if (type == "j") {
    const auto number = number_in(message, Tag::BusinessRejectRefID);
    if (!number) return std::nullopt;
    return OwnOrders::VenueReport{.number = *number, .kind = ReportKind::rejected};
  }
  return std::nullopt;
}

}  // namespace nfx::strategy
