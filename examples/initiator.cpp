// An initiator that trades: it buys 100 ALFA after its first logon and follows the order to its end. It finds the order
// that a Reject or BusinessMessageReject refuses, and after a disconnect it asks for the state of every open order.
//   ./desk desk.toml              in another terminal: a venue that confirms orders and never fills them
//   ./initiator initiator.toml    then stop the desk and start it again
#include <nexusfix/engine.hpp>
#include <nexusfix/fix44.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <utility>

namespace fix = nfx::fix44;

struct Trader : nfx::TypedApplication<Trader, fix::Messages> {
  struct Order {
    std::string symbol;
    fix::Side side{};
    nfx::SeqNum unconfirmed{};  // MsgSeqNum of its message until the venue has confirmed it; 0 afterwards
    nfx::Decimal filled{};
  };

  void on_logon(nfx::SessionHandle& session) override {
    for (const auto& [id, order] : open) ask(session, id, order);
    if (!std::exchange(has_traded, true)) buy(session, "ALFA", nfx::Decimal{100}, nfx::Decimal{1250, 2});
  }

  void buy(nfx::SessionHandle& session, std::string_view symbol, nfx::Decimal quantity, nfx::Decimal price) {
    const nfx::UtcTime now = session.now().utc;
    const std::string id = std::to_string(now.time_since_epoch().count());  // not one of an earlier run
    auto order = session.create<fix::NewOrderSingle>();
    order.cl_ord_id(id).symbol(symbol).side(fix::Side::buy).order_qty(quantity);
    order.ord_type(fix::OrdType::limit).price(price).transact_time(now);
    const nfx::Sent sent = order.send();
    if (!sent) return say(id, "not sent: " + order.why());
    open[id] = {.symbol = std::string{symbol}, .side = fix::Side::buy, .unconfirmed = *sent};
    say(id, "sent");
  }

  void ask(nfx::SessionHandle& session, const std::string& id, const Order& order) {
    auto request = session.create<fix::OrderStatusRequest>();
    request.cl_ord_id(id).symbol(order.symbol).side(order.side);
    say(id, request.send() ? "state requested" : "state not requested: " + request.why());
  }

  void on(nfx::SessionHandle&, const fix::ExecutionReport& report) {
    const auto found = open.find(report.cl_ord_id());
    if (found == open.end()) return say(report.cl_ord_id(), "not an open order of ours");
    auto& [id, order] = *found;
    order.unconfirmed = {};
    order.filled = report.cum_qty().value_or(order.filled);  // no sum of LastQty: this may be a state, not a fill
    const fix::OrdStatus status = report.ord_status().value_or(fix::OrdStatus::new_);
    say(id, std::string{to_text(status)} + ", filled " + to_string(order.filled) + " " + std::string{report.text()});
    if (is_over(status)) open.erase(found);
  }

  static bool is_over(fix::OrdStatus status) {
    using enum fix::OrdStatus;
    return status == filled || status == canceled || status == rejected || status == expired || status == done_for_day;
  }

  // The venue could not read a message of ours, or does not support it. An order that it refuses so does not exist.
  void on_reject(nfx::SessionHandle&, const nfx::MessageView& message) override {
    const fix::Reject reject{message};
    refused(reject.ref_seq_num().value_or(nfx::SeqNum{}), reject.text());
  }
  void on(nfx::SessionHandle&, const fix::BusinessMessageReject& reject) {
    refused(reject.ref_seq_num().value_or(nfx::SeqNum{}), reject.text());
  }
  void refused(nfx::SeqNum number, std::string_view reason) {
    const auto order = std::ranges::find_if(open, [&](const auto& each) { return each.second.unconfirmed == number; });
    if (number == nfx::SeqNum{} || order == open.end())
      return say("none", "a message was refused: " + std::string{reason});
    say(order->first, "refused: " + std::string{reason});
    open.erase(order);
  }

  void on_logout(nfx::SessionHandle&, std::string_view reason) override {
    say("all", std::to_string(open.size()) + " open, session ended: " + std::string{reason});
  }
  // The connection was lost and is not back within cancel_delay_ms: the venue may go on filling what is open.
  void on_cancel(nfx::SessionHandle&, std::string_view) override {
    for (const auto& [id, order] : open) say(id, "cannot be cancelled from here: call the venue");
  }
  // Whether a missed message is sent to the venue again: not an order, because its price is old.
  bool on_resend(nfx::SessionHandle&, const nfx::MessageView& message) override {
    if (message.msg_type() != fix::NewOrderSingle::msg_type) return true;
    const auto order = open.find(fix::NewOrderSingle{message}.cl_ord_id());
    if (order == open.end()) return false;
    say(order->first, "missed by the venue, and not sent again");
    open.erase(order);
    return false;
  }

  static void say(std::string_view id, std::string_view text) {
    std::cout << "order " << id << ": " << text << std::endl;
  }

  std::map<std::string, Order, std::less<>> open;  // by ClOrdID; in memory: see OrderMassStatusRequest for restarts
  bool has_traded = false;
};

int main(int argc, char** argv) { return nfx::run<Trader>(argc, argv); }
