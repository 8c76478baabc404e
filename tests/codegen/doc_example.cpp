// Confirms every order, with its parties, through classes generated from a dictionary.
#include <nexusfix/engine/application.hpp>

#include "fix44/dispatch.hpp"
#include "fix44/execution_report.hpp"
#include "fix44/new_order_single.hpp"

namespace fix = nfx::fix44;

struct Desk : nfx::TypedApplication<Desk, fix::Messages> {
  nfx::Sent on(nfx::SessionHandle& session, const fix::NewOrderSingle& order) {
    auto report = session.create<fix::ExecutionReport>();
    report.order_id("1").exec_id("1").exec_type(fix::ExecType::new_).ord_status(fix::OrdStatus::new_);
    report.cl_ord_id(order.cl_ord_id()).symbol(order.symbol()).side(order.side()).order_qty(order.order_qty());
    report.leaves_qty(order.order_qty()).cum_qty(0).avg_px(0);
    auto parties = report.no_party_ids(order.no_party_ids().size());
    for (const auto party : order.no_party_ids()) parties.add().party_id(party.party_id());
    return report.send_or_reject(order);
  }
};
