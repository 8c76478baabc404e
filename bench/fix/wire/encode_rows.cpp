// Encoding a whole message from an order's values: session header, BodyLength and CheckSum, prices exact.
#include <nexusfix/fix44/execution_report.hpp>
#include <nexusfix/fix44/new_order_single.hpp>

#include <array>

#include "nexusfix/wire/encoder.hpp"
#include "wire/report_encoder.hpp"
#include "wire/rows.hpp"

namespace nfx::bench {
namespace {

constexpr std::size_t buffer_size = 1024;

// The state that a session keeps between messages.
struct Session {
  std::array<char, buffer_size> bytes{};
  Encoder encoder{bytes};
  HeaderTemplate header;

  explicit Session(const OrderValues& v)
      : header({.begin_string = "FIX.4.4", .sender_comp_id = v.sender.view(), .target_comp_id = v.target.view()}) {}
};

// Header template and tags known at compile time: the intended way to write.
FieldWriter& begin(Session& session, std::string_view msg_type, const OrderValues& v) noexcept {
  session.encoder.begin(session.header, msg_type, SeqNum{v.seq_num}, time_of(v.sending_time_ms));
  return session.encoder.fields();
}

std::string_view encode_order(Session& session, const OrderValues& v) noexcept {
  begin(session, "D", v)
      .append<Tag::ClOrdID>(v.cl_ord_id.view())
      .append<Tag::Account>(v.account.view())
      .append<Tag::HandlInst>(v.handl_inst)
      .append<Tag::Symbol>(v.symbol.view())
      .append<Tag::Side>(v.side)
      .append<Tag::TransactTime>(time_of(v.transact_time_ms))
      .append<Tag::OrderQty>(v.order_qty)
      .append<Tag::OrdType>(v.ord_type)
      .append<Tag::Price>(decimal_of(v.price))
      .append<Tag::TimeInForce>(v.time_in_force);
  return session.encoder.finish();
}

// The same with the typed messages.
std::string_view build_order(Session& session, const OrderValues& v) noexcept {
  fix44::NewOrderSingleBuilder order{begin(session, "D", v)};
  order.cl_ord_id(v.cl_ord_id.view())
      .account(v.account.view())
      .handl_inst(fix44::HandlInst{v.handl_inst})
      .symbol(v.symbol.view())
      .side(fix44::Side{v.side})
      .transact_time(time_of(v.transact_time_ms))
      .order_qty(v.order_qty)
      .ord_type(fix44::OrdType{v.ord_type})
      .price(decimal_of(v.price))
      .time_in_force(fix44::TimeInForce{v.time_in_force});
  return order.ok() ? session.encoder.finish() : std::string_view{};
}

std::string_view build_report(Session& session, const OrderValues& v) noexcept {
  fix44::ExecutionReportBuilder report{begin(session, "8", v)};
  report.order_id(v.order_id.view())
      .cl_ord_id(v.cl_ord_id.view())
      .exec_id(v.exec_id.view())
      .exec_type(fix44::ExecType{v.exec_type})
      .ord_status(fix44::OrdStatus{v.ord_status})
      .account(v.account.view())
      .symbol(v.symbol.view())
      .side(fix44::Side{v.side})
      .order_qty(v.order_qty)
      .ord_type(fix44::OrdType{v.ord_type})
      .price(decimal_of(v.price))
      .time_in_force(fix44::TimeInForce{v.time_in_force})
      .last_qty(v.last_qty)
      .last_px(decimal_of(v.last_px))
      .leaves_qty(v.leaves_qty)
      .cum_qty(v.cum_qty)
      .avg_px(decimal_of(v.avg_px))
      .transact_time(time_of(v.transact_time_ms));
  return report.ok() ? session.encoder.finish() : std::string_view{};
}

std::string_view encode_typed_report(Session& session, const OrderValues& v) noexcept {
  return encode_report(session.encoder, session.header, v);
}

// The same with every tag a run-time number, and the header written field by field.
FieldWriter& begin_plainly(Session& session, std::string_view msg_type, const OrderValues& v) noexcept {
  session.encoder.begin("FIX.4.4", msg_type);
  return session.encoder.fields()
      .append(Tag::MsgSeqNum, v.seq_num)
      .append(Tag::SenderCompID, v.sender.view())
      .append(Tag::SendingTime, time_of(v.sending_time_ms))
      .append(Tag::TargetCompID, v.target.view());
}

std::string_view encode_order_plainly(Session& session, const OrderValues& v) noexcept {
  begin_plainly(session, "D", v)
      .append(Tag::ClOrdID, v.cl_ord_id.view())
      .append(Tag::Account, v.account.view())
      .append(Tag::HandlInst, v.handl_inst)
      .append(Tag::Symbol, v.symbol.view())
      .append(Tag::Side, v.side)
      .append(Tag::TransactTime, time_of(v.transact_time_ms))
      .append(Tag::OrderQty, v.order_qty)
      .append(Tag::OrdType, v.ord_type)
      .append(Tag::Price, decimal_of(v.price))
      .append(Tag::TimeInForce, v.time_in_force);
  return session.encoder.finish();
}

std::string_view encode_report_plainly(Session& session, const OrderValues& v) noexcept {
  begin_plainly(session, "8", v)
      .append(Tag::OrderID, v.order_id.view())
      .append(Tag::ClOrdID, v.cl_ord_id.view())
      .append(Tag::ExecID, v.exec_id.view())
      .append(Tag::ExecType, v.exec_type)
      .append(Tag::OrdStatus, v.ord_status)
      .append(Tag::Account, v.account.view())
      .append(Tag::Symbol, v.symbol.view())
      .append(Tag::Side, v.side)
      .append(Tag::OrderQty, v.order_qty)
      .append(Tag::OrdType, v.ord_type)
      .append(Tag::Price, decimal_of(v.price))
      .append(Tag::TimeInForce, v.time_in_force)
      .append(Tag::LastQty, v.last_qty)
      .append(Tag::LastPx, decimal_of(v.last_px))
      .append(Tag::LeavesQty, v.leaves_qty)
      .append(Tag::CumQty, v.cum_qty)
      .append(Tag::AvgPx, decimal_of(v.avg_px))
      .append(Tag::TransactTime, time_of(v.transact_time_ms));
  return session.encoder.finish();
}

using Encode = std::string_view (*)(Session&, const OrderValues&) noexcept;
using Plain = std::string (*)(const OrderValues&, HeaderOrder);

// A template on the encoding function, so that it is inlined into the loop as in an application.
template <Encode encode, Plain plain>
Row encode_row(const Inputs& inputs, Kind kind, const char* name) {
  const Corpus& corpus = inputs.of(kind);
  const auto session = std::make_shared<Session>(corpus.values.front());
  Row row;
  row.section = section_of(corpus);
  row.name = name;
  row.bytes_per_item = corpus.mean_size();
  row.prepare = use_best_kernel;
  row.run = [&corpus, session](Order order) {
    std::uint64_t sum = 0;
    for (const std::uint32_t i : order) sum += fold_of(encode(*session, corpus.values[i]));
    return sum;
  };
  row.check = [&corpus, session](std::uint32_t i) -> std::optional<std::uint64_t> {
    const std::string expected = plain(corpus.values[i], HeaderOrder::by_tag);
    if (encode(*session, corpus.values[i]) != expected) return {};
    return fold_of(expected);
  };
  return row;
}

constexpr const char* typed_name = "NexusFIX header template, typed tags";
constexpr const char* built_name = "NexusFIX typed messages";
constexpr const char* plain_name = "NexusFIX, tags at run time";

}  // namespace

Group encode_group(const Inputs& inputs) {
  Group group{"encode",
              "session header, body, BodyLength and CheckSum; prices exact (QuickFIX: double)",
              corpus_messages,
              true,
              {}};
  auto& rows = group.rows;
  rows.push_back(encode_row<encode_order, plain_new_order>(inputs, Kind::new_order_single, typed_name));
  rows.push_back(encode_row<build_order, plain_new_order>(inputs, Kind::new_order_single, built_name));
  rows.push_back(encode_row<encode_order_plainly, plain_new_order>(inputs, Kind::new_order_single, plain_name));
  add_quickfix_encode_rows(rows, inputs, Kind::new_order_single);
  rows.push_back(encode_row<encode_typed_report, plain_report>(inputs, Kind::execution_report, typed_name));
  rows.push_back(encode_row<build_report, plain_report>(inputs, Kind::execution_report, built_name));
  rows.push_back(encode_row<encode_report_plainly, plain_report>(inputs, Kind::execution_report, plain_name));
  add_quickfix_encode_rows(rows, inputs, Kind::execution_report);
  return group;
}

}  // namespace nfx::bench
