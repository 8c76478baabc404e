// A venue with messages and fields of its own: PauseRequest (U1), its answer PauseReport (U2), and OrderUrgency (9001)
// of orders. venue.xml defines them; CMakeLists.txt generates their classes, and venue.toml has messages checked.
//   ./custom_dictionary venue.toml    in one terminal
//   nfx connect trader.toml           in another one; type these lines, of which the second order is rejected
//     35=D|11=first|55=ALFA|54=1|38=100|40=1|60=20240102-12:00:00
//     35=U1|9002=1
//     35=D|11=second|55=ALFA|54=1|38=100|40=1|60=20240102-12:00:00
//     35=D|11=third|55=ALFA|54=1|38=100|40=1|60=20240102-12:00:00|9001=H
#include <nexusfix/engine.hpp>

#include <string>

#include "venue/messages.hpp"

namespace venue = nfx::venue;

struct Venue : nfx::TypedApplication<Venue, venue::Messages> {
  nfx::Sent on(nfx::SessionHandle& session, const venue::PauseRequest& request) {
    paused = request.pause_action() == venue::PauseAction::pause;
    auto report = session.create<venue::PauseReport>();
    report.pause_action(request.pause_action()).orders_so_far(orders);
    return report.send_or_reject(request);
  }

  // While orders are paused, only urgent ones are taken.
  nfx::Sent on(nfx::SessionHandle& session, const venue::NewOrderSingle& order) {
    const bool taken = !paused || order.order_urgency() == venue::OrderUrgency::high;
    const std::string id = std::to_string(++orders);
    auto report = session.create<venue::ExecutionReport>();
    report.order_id(id).exec_id(id).cl_ord_id(order.cl_ord_id()).symbol(order.symbol()).side(order.side());
    report.exec_type(taken ? venue::ExecType::new_ : venue::ExecType::rejected);
    report.ord_status(taken ? venue::OrdStatus::new_ : venue::OrdStatus::rejected);
    if (taken) {
      report.leaves_qty(order.order_qty());
    } else {
      report.leaves_qty(0).text("orders are paused");
    }
    report.cum_qty(0).avg_px(0).order_urgency(order.order_urgency());  // left out when the order has none
    return report.send_or_reject(order);
  }

  bool paused = false;
  int orders = 0;
};

int main(int argc, char** argv) { return nfx::run<Venue>(argc, argv); }
