// Confirms every order, with its parties, through readers and builders made from a dictionary.
#include <nexusfix/engine/engine.hpp>

#include "fix44/execution_report.hpp"
#include "fix44/new_order_single.hpp"

namespace fix = nfx::fix44;

struct Desk : nfx::Application {
  void on_message(nfx::SessionHandle& session, const nfx::MessageView& message) override {
    if (message.msg_type() != fix::NewOrderSingle::msg_type) return;
    const fix::NewOrderSingle order{message};
    const auto side = order.side();           // std::expected<fix::Side, nfx::FieldError>
    const auto quantity = order.order_qty();  // std::expected<nfx::Decimal, nfx::FieldError>
    if (!side || !quantity) return;

    char space[1024];
    fix::ExecutionReportBuilder report{space};
    report.order_id("1").exec_id("1").exec_type(fix::ExecType::new_).ord_status(fix::OrdStatus::new_);
    report.cl_ord_id(order.cl_ord_id()).symbol(order.symbol()).side(*side).order_qty(*quantity);
    report.leaves_qty(*quantity).cum_qty(nfx::Decimal{0}).avg_px(nfx::Decimal{0});
    auto parties = report.no_party_ids(order.no_party_ids().size());
    for (const auto party : order.no_party_ids()) parties.add().party_id(party.party_id());
    if (report.missing().empty()) session.send(report);
  }
};
