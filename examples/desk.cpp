// A desk that confirms every order: ./desk desk.toml
#include <ctime>

#include <nexusfix/engine.hpp>
#include <nexusfix/fix44.hpp>
namespace fix = nfx::fix44;

struct Desk : nfx::TypedApplication<Desk, fix::Messages> {
  nfx::Sent on(nfx::SessionHandle& session, const fix::NewOrderSingle& order) {
    const std::string id = std::to_string(++orders);
    auto report = session.create<fix::ExecutionReport>();
    report.order_id(id).exec_id(id).exec_type(fix::ExecType::new_).ord_status(fix::OrdStatus::new_);
    report.cl_ord_id(order.cl_ord_id()).symbol(order.symbol()).side(order.side());
    report.leaves_qty(order.order_qty()).cum_qty(0).avg_px(0);
    return report.send_or_reject(order);  // rejects an order without OrderQty(38), for example
  }
  std::int64_t orders = std::time(nullptr) * 1'000'000;  // so that IDs stay unique after a restart
};

int main(int argc, char** argv) { return nfx::run<Desk>(argc, argv); }
