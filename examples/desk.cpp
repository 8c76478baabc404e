// A desk that confirms every order: ./desk desk.toml
#include <nexusfix/engine/run.hpp>

struct Desk : nfx::Application {
  void on_message(nfx::SessionHandle& session, const nfx::MessageView& order) override {
    const auto sent = answer(session, order);
    if (!sent && is_back_pressure(sent.error())) session.logout("an order could not be answered");
  }
  std::expected<nfx::SeqNum, nfx::SendError> answer(nfx::SessionHandle& session, const nfx::MessageView& order) {
    using nfx::Tag;
    if (order.msg_type() != "D")
      return session.reject_business(order, nfx::BusinessRejectReason::unsupported_message_type, "only orders");
    auto report = session.create("8");
    report.append(Tag::OrderID, ++orders).append(Tag::ExecType, '0').append(Tag::OrdStatus, '0');
    report.append(Tag::ExecID, orders).append(Tag::ClOrdID, order.get_view(Tag::ClOrdID));
    report.append(Tag::Symbol, order.get_view(Tag::Symbol)).append(Tag::Side, order.get_view(Tag::Side));
    report.append(Tag::LeavesQty, order.get_view(Tag::OrderQty)).append(Tag::CumQty, 0).append(Tag::AvgPx, 0);
    return report.send_or_reject(order);  // rejects an order without OrderQty(38), for example
  }
  std::uint64_t orders = 0;
};

int main(int argc, char** argv) {
  Desk desk;
  return nfx::run(argc, argv, desk);
}
