// Reads and builds ten messages with generated classes: compile_time.py compares its compilation with that of
// quickfix_messages.cpp, which does the same.
#include <array>
#include <cstdio>

#include "fix44/execution_report.hpp"
#include "fix44/market_data_incremental_refresh.hpp"
#include "fix44/market_data_request.hpp"
#include "fix44/market_data_snapshot_full_refresh.hpp"
#include "fix44/new_order_single.hpp"
#include "fix44/order_cancel_reject.hpp"
#include "fix44/order_cancel_replace_request.hpp"
#include "fix44/order_cancel_request.hpp"
#include "fix44/quote.hpp"
#include "fix44/quote_request.hpp"
#include "nexusfix/wire/encoder.hpp"

namespace {

using namespace nfx;
using namespace nfx::fix44;

constexpr UtcTime now{std::chrono::seconds{1710504000}};
long sum = 0;

void add(std::string_view text) { sum += static_cast<long>(text.size()); }
void add(generated::Result<Decimal> value) { sum += value ? static_cast<long>(value->mantissa()) : 1; }
template <typename Enum>
  requires std::is_enum_v<Enum>
void add(generated::Result<Enum> value) {
  sum += value ? static_cast<long>(*value) : 1;
}

void read(const NewOrderSingle& m) {
  add(m.cl_ord_id()), add(m.symbol()), add(m.side()), add(m.order_qty()), add(m.price());
}
void read(const ExecutionReport& m) {
  add(m.order_id()), add(m.exec_id()), add(m.exec_type()), add(m.ord_status()), add(m.last_qty()), add(m.last_px());
}
void read(const OrderCancelRequest& m) { add(m.orig_cl_ord_id()), add(m.cl_ord_id()), add(m.side()); }
void read(const OrderCancelReplaceRequest& m) { add(m.orig_cl_ord_id()), add(m.cl_ord_id()), add(m.price()); }
void read(const OrderCancelReject& m) { add(m.cl_ord_id()), add(m.ord_status()), add(m.cxl_rej_response_to()); }
void read(const MarketDataRequest& m) {
  add(m.md_req_id());
  for (const auto entry : m.no_related_sym()) add(entry.symbol());
}
void read(const MarketDataSnapshotFullRefresh& m) {
  add(m.symbol());
  for (const auto entry : m.no_md_entries()) add(entry.md_entry_type()), add(entry.md_entry_px());
}
void read(const MarketDataIncrementalRefresh& m) {
  for (const auto entry : m.no_md_entries()) add(entry.md_update_action()), add(entry.md_entry_px());
}
void read(const QuoteRequest& m) {
  add(m.quote_req_id());
  for (const auto entry : m.no_related_sym()) add(entry.symbol());
}
void read(const Quote& m) { add(m.quote_id()), add(m.symbol()), add(m.bid_px()), add(m.offer_px()); }

void build(NewOrderSingleBuilder<FieldWriter&> m) {
  m.cl_ord_id("1").symbol("XYZ").side(Side::buy).transact_time(now).order_qty(Decimal{100}).ord_type(OrdType::limit);
  m.price(Decimal{10125, 2});
}
void build(ExecutionReportBuilder<FieldWriter&> m) {
  m.order_id("1").exec_id("1").exec_type(ExecType::trade).ord_status(OrdStatus::filled).symbol("XYZ").side(Side::buy);
  m.leaves_qty(Decimal{0})
      .cum_qty(Decimal{100})
      .avg_px(Decimal{10125, 2})
      .last_qty(Decimal{100})
      .last_px(Decimal{10125, 2});
}
void build(OrderCancelRequestBuilder<FieldWriter&> m) {
  m.orig_cl_ord_id("1").cl_ord_id("2").symbol("XYZ").side(Side::buy).transact_time(now);
}
void build(OrderCancelReplaceRequestBuilder<FieldWriter&> m) {
  m.orig_cl_ord_id("1").cl_ord_id("2").symbol("XYZ").side(Side::buy).transact_time(now).ord_type(OrdType::limit);
  m.price(Decimal{10125, 2});
}
void build(OrderCancelRejectBuilder<FieldWriter&> m) {
  m.order_id("1").cl_ord_id("2").orig_cl_ord_id("1").ord_status(OrdStatus::filled);
  m.cxl_rej_response_to(CxlRejResponseTo::order_cancel_request);
}
void build(MarketDataRequestBuilder<FieldWriter&> m) {
  m.md_req_id("1").subscription_request_type(SubscriptionRequestType{'1'}).market_depth(1);
  m.no_md_entry_types(1).add().md_entry_type(MDEntryType::bid);
  m.no_related_sym(1).add().symbol("XYZ");
}
void build(MarketDataSnapshotFullRefreshBuilder<FieldWriter&> m) {
  m.symbol("XYZ").no_md_entries(1).add().md_entry_type(MDEntryType::bid).md_entry_px(Decimal{10125, 2});
}
void build(MarketDataIncrementalRefreshBuilder<FieldWriter&> m) {
  m.no_md_entries(1).add().md_update_action(MDUpdateAction::new_).md_entry_px(Decimal{10125, 2});
}
void build(QuoteRequestBuilder<FieldWriter&> m) { m.quote_req_id("1").no_related_sym(1).add().symbol("XYZ"); }
void build(QuoteBuilder<FieldWriter&> m) { m.quote_id("1").symbol("XYZ").bid_px(Decimal{101}).offer_px(Decimal{102}); }

template <typename Message, template <typename> typename Builder>
void round_trip() {
  static std::array<char, 1024> space;
  static MessageView view;
  Encoder encoder{space};
  encoder.begin("FIX.4.4", Message::msg_type);
  build(Builder<FieldWriter&>{encoder.fields()});
  if (view.parse(encoder.finish()) == WireError::none) read(Message{view});
}

}  // namespace

int main() {
  round_trip<NewOrderSingle, NewOrderSingleBuilder>();
  round_trip<ExecutionReport, ExecutionReportBuilder>();
  round_trip<OrderCancelRequest, OrderCancelRequestBuilder>();
  round_trip<OrderCancelReplaceRequest, OrderCancelReplaceRequestBuilder>();
  round_trip<OrderCancelReject, OrderCancelRejectBuilder>();
  round_trip<MarketDataRequest, MarketDataRequestBuilder>();
  round_trip<MarketDataSnapshotFullRefresh, MarketDataSnapshotFullRefreshBuilder>();
  round_trip<MarketDataIncrementalRefresh, MarketDataIncrementalRefreshBuilder>();
  round_trip<QuoteRequest, QuoteRequestBuilder>();
  round_trip<Quote, QuoteBuilder>();
  std::printf("%ld\n", sum);
}
