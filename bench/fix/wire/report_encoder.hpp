// Encodes a report from its values with a header template and tags known at compile time: the intended way to write.
// Inline, so that it is compiled into a benchmark's loop as in an application.
// Thread: one per encoder. Lifetime: the result is a view of the encoder's buffer. Errors: none.
#pragma once

#include <chrono>
#include <string_view>

#include "nexusfix/wire/encoder.hpp"
#include "wire/order_values.hpp"

namespace nfx::bench {

inline UtcTime time_of(std::int64_t ms) noexcept { return UtcTime{std::chrono::milliseconds{ms}}; }

inline Decimal decimal_of(PriceValue value) noexcept { return Decimal{value.mantissa, value.scale}; }

inline std::string_view encode_report(Encoder& encoder, HeaderTemplate& header, const OrderValues& v) noexcept {
  encoder.begin(header, "8", SeqNum{v.seq_num}, time_of(v.sending_time_ms));
  encoder.fields()
      .append<Tag::OrderID>(v.order_id.view())
      .append<Tag::ClOrdID>(v.cl_ord_id.view())
      .append<Tag::ExecID>(v.exec_id.view())
      .append<Tag::ExecType>(v.exec_type)
      .append<Tag::OrdStatus>(v.ord_status)
      .append<Tag::Account>(v.account.view())
      .append<Tag::Symbol>(v.symbol.view())
      .append<Tag::Side>(v.side)
      .append<Tag::OrderQty>(v.order_qty)
      .append<Tag::OrdType>(v.ord_type)
      .append<Tag::Price>(decimal_of(v.price))
      .append<Tag::TimeInForce>(v.time_in_force)
      .append<Tag::LastQty>(v.last_qty)
      .append<Tag::LastPx>(decimal_of(v.last_px))
      .append<Tag::LeavesQty>(v.leaves_qty)
      .append<Tag::CumQty>(v.cum_qty)
      .append<Tag::AvgPx>(decimal_of(v.avg_px))
      .append<Tag::TransactTime>(time_of(v.transact_time_ms));
  return encoder.finish();
}

// The digits of CheckSum depend on every byte.
inline std::uint64_t fold_of(std::string_view message) noexcept {
  if (message.size() < 8) return 0;
  const char* const digits = message.data() + message.size() - 4;
  return message.size() * 4096 + static_cast<unsigned char>(digits[0]) * 256U +
         static_cast<unsigned char>(digits[1]) * 16U + static_cast<unsigned char>(digits[2]);
}

}  // namespace nfx::bench
