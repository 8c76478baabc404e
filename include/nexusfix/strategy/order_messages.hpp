// Orders as FIX messages and back: NewOrderSingle, OrderCancelReplaceRequest and OrderCancelRequest from templates that
// are laid out once for each instrument, so that an order costs the patches of what changed; ExecutionReport and the
// rejects that answer them.
// Thread: one owner. Cost: some patches, no allocation; building allocates. Lifetime: a message borrows the template
// until the next one. Errors: the constructor throws std::invalid_argument; a price or quantity that does not fit its
// digits gives no message.
//
// ClOrdID(11) is the order's number with leading zeros. The fields are those of FIX 4.2 and later; an ExecutionReport
// of 4.2 has its ExecType 1 and 2 for fills, later ones F.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nexusfix/base/time.hpp"
#include "nexusfix/session/outgoing.hpp"
#include "nexusfix/strategy/intent.hpp"
#include "nexusfix/wire/message_template.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::strategy {

struct OrderMessageOptions {
  std::string symbol;
  std::string account{};      // empty: no Account(1)
  std::string more_fields{};  // complete fields "tag=value<SOH>" of every message, after Symbol(55)
  unsigned price_digits = 7;  // before the point
  unsigned price_scale = 2;   // after it
  unsigned quantity_digits = 7;
  unsigned time_digits = 6;  // fraction of TransactTime(60)
};

class OrderMessages {
 public:
  explicit OrderMessages(const OrderMessageOptions& options);

  // What an intent that passed the risk gate sends: the sink of a Pipeline. Nothing: it does not fit the template.
  [[nodiscard]] std::optional<Outgoing> message(const Intent& intent, const OwnOrder& order, UtcTime now) noexcept;

 private:
  struct Layout {
    MessageTemplate text;
    std::optional<IntSlot> original;  // OrigClOrdID(41)
    IntSlot number;
    CharSlot side;
    TimeSlot time;
    IntSlot quantity;
    std::optional<DecimalSlot> price;
    std::optional<CharSlot> time_in_force;
  };
  [[nodiscard]] static Layout lay_out(const OrderMessageOptions& options, Action action);

  Layout place_;
  Layout replace_;
  Layout cancel_;
};

// What an ExecutionReport, OrderCancelReject or BusinessMessageReject reports of an order. Nothing: another message,
// one that changes nothing, or without the fields for it. A fill that cannot be read has number 0: no order has it, so
// that trading ends.
[[nodiscard]] std::optional<OwnOrders::VenueReport> read_report(const MessageView& message) noexcept;

// A decimal as a price in billionths. Nothing: it has more digits.
[[nodiscard]] std::optional<Price> price_of(Decimal decimal) noexcept;

}  // namespace nfx::strategy
