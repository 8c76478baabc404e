// A test of the program in desk.cpp: no network, no waiting. Prints what is wrong; exit code 0: nothing is.
#define main desk_main
#include "desk.cpp"
#undef main

#include <cstdio>
#include <nexusfix/testing.hpp>

using namespace std::chrono_literals;

struct DeskTest {
  nfx::testing::Network network;
  Desk desk;
  nfx::testing::TestEngine& engine = network.engine(nfx::testing::acceptor("DESK", "TRADER"), desk);
  nfx::testing::Peer trader{network, "TRADER", "DESK"};
  int failures = 0;

  void expect(bool right, const char* what) {
    if (!right) std::printf("failed: %s\n", what);
    failures += right ? 0 : 1;
  }
  void order(std::string_view id, std::optional<nfx::Decimal> quantity) {
    auto order = trader.create<fix::NewOrderSingle>();
    order.cl_ord_id(id).symbol("XYZ").side(fix::Side::buy).ord_type(fix::OrdType::market).order_qty(quantity);
    order.transact_time(network.now());
    order.send();
    network.run();
  }

  void run() {
    const std::int64_t before = desk.orders;
    trader.logon();
    order("A1", nfx::Decimal{100});
    const auto report = trader.receive<fix::ExecutionReport>();
    expect(report.cl_ord_id() == "A1", "a report names its order");
    expect(report.leaves_qty() == nfx::Decimal{100}, "nothing of an order is filled");

    order("A2", std::nullopt);
    expect(trader.receive("j")[nfx::Tag::BusinessRejectReason] == "5", "an order without a quantity is rejected");

    trader.send({"F", "11=C1|41=A1|55=XYZ|54=1|60=20240315-12:00:00|"});
    network.run();
    expect(trader.receive("j")[nfx::Tag::RefMsgType] == "F", "a message that the desk does not know is rejected");

    trader.set_answering(false);
    network.advance(2min);
    expect(!engine.session().logged_on(), "a trader that hangs is disconnected");
    expect(desk.orders - before == 2, "each order is counted once");
  }
};

int main() try {
  DeskTest test;
  test.run();
  return test.failures;
} catch (const std::exception& error) {
  std::printf("failed: %s\n", error.what());
  return 1;
}
