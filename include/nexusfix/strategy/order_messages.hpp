// Orders as FIX messages and back. NewOrderSingle, OrderCancelReplaceRequest and OrderCancelRequest come from templates
// that are laid out once for each instrument, so an order only patches the changed fields. ExecutionReport and the
// rejects are read.
// Thread: one owner. Cost: some patches, no allocation; building allocates. Lifetime: a message borrows the template
// until the next one. Errors: the constructor throws std::invalid_argument; a price or quantity that does not fit its
// digits gives no message.
//
// ClOrdID(11) is the order's number with leading zeros. The fields are as in FIX 4.2 and later. An ExecutionReport of
// 4.2 has ExecType 1 and 2 for fills, later versions have F.
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

  // The message for an intent that passed the risk gate: the sink of a Pipeline. Nothing: it does not fit the template.
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

// The report about an order in an ExecutionReport, OrderCancelReject or BusinessMessageReject. Nothing: another
// message, one that changes nothing, or one without the necessary fields. A fill that cannot be read has number 0: no
// order has it, so trading ends.
[[nodiscard]] std::optional<OwnOrders::VenueReport> read_report(const MessageView& message) noexcept;

// A decimal as a price in billionths. Nothing: it has more digits.
[[nodiscard]] std::optional<Price> price_of(Decimal decimal) noexcept;

}  // namespace nfx::strategy
