// A desk that confirms every order: ./desk desk.toml
#include <nexusfix/engine/run.hpp>
#include <nexusfix/wire/field_writer.hpp>

struct Desk : nfx::Application {
  void on_message(nfx::SessionHandle& session, const nfx::MessageView& order) override {
    using nfx::Tag;
    ++orders;
    char space[512];
    nfx::FieldWriter report{space};
    report.append(Tag::OrderID, orders)
        .append(Tag::ExecID, orders)
        .append(Tag::ExecType, '0')
        .append(Tag::OrdStatus, '0');
    report.append(Tag::ClOrdID, order.get_view(Tag::ClOrdID)).append(Tag::Symbol, order.get_view(Tag::Symbol));
    report.append(Tag::Side, order.get_view(Tag::Side)).append(Tag::LeavesQty, order.get_view(Tag::OrderQty));
    report.append(Tag::CumQty, 0).append(Tag::AvgPx, 0);
    session.send({.msg_type = "8", .body = report.view()});
  }
  std::uint64_t orders = 0;
};

int main(int argc, char** argv) {
  Desk desk;
  return nfx::run(argc, argv, desk);
}
