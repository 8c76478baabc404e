// The league's peer of QuickFIX, version 1.15 as Debian packages it.
#include <quickfix/FileStore.h>
#include <quickfix/Message.h>
#include <quickfix/Session.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketAcceptor.h>
#include <quickfix/SocketInitiator.h>
#include <quickfix/fix44/ExecutionReport.h>
#include <quickfix/fix44/NewOrderSingle.h>
#include <quickfix/fix50sp2/NewOrderSingle.h>

#include <atomic>
#include <memory>
#include <sstream>
#include <thread>

#include "peer.hpp"

namespace {

using namespace league;

std::uint64_t sum_of(const FIX::Message& message) {
  FIX::MsgSeqNum seq;
  FIX::ClOrdID id;
  FIX::ExecType type;
  FIX::OrderQty quantity;
  FIX::Price price;
  FIX::LastQty last_quantity;
  FIX::LastPx last_price;
  FIX::Symbol symbol;
  message.getHeader().getField(seq);
  for (FIX::FieldBase* field :
       {static_cast<FIX::FieldBase*>(&id), static_cast<FIX::FieldBase*>(&type), static_cast<FIX::FieldBase*>(&quantity),
        static_cast<FIX::FieldBase*>(&price), static_cast<FIX::FieldBase*>(&last_quantity),
        static_cast<FIX::FieldBase*>(&last_price), static_cast<FIX::FieldBase*>(&symbol)}) {
    message.getField(*field);
  }
  Fold fold;
  fold.integer(0, seq);
  fold.text(1, id.getString().data(), id.getString().size());
  fold.integer(2, type);
  fold.integer(3, static_cast<std::int64_t>(quantity));
  fold.price(4, price);
  fold.integer(5, static_cast<std::int64_t>(last_quantity));
  fold.price(6, last_price);
  fold.text(7, symbol.getString().data(), symbol.getString().size());
  return fold.sum();
}

void read_messages(const Options& options) {
  const std::vector<std::string> messages = lines_of(options.text("messages"));
  std::uint64_t sum = 0;
  FIX::Message message;
  const Times times = time_batches(messages.size(), options.number("repeats"), [&](std::size_t i) {
    message.setString(messages[i], true);
    sum += sum_of(message);
  });
  times.write(options.text("times"));
  std::cout << "sum " << sum << std::endl;
}

void set_header(FIX::Message& message, std::size_t seq) {
  FIX::Header& header = message.getHeader();
  header.setField(FIX::SenderCompID("TRADER"));
  header.setField(FIX::TargetCompID("VENUE"));
  header.setField(FIX::MsgSeqNum(static_cast<int>(seq)));
  header.setField(FIX::SendingTime(FIX::UtcTimeStamp(), 3));
}

void encode_order(const Values& v, std::size_t seq, std::string& text) {
  FIX44::NewOrderSingle order(FIX::ClOrdID(v.cl_ord_id), FIX::Side(v.side), FIX::TransactTime(FIX::UtcTimeStamp(), 3),
                              FIX::OrdType(v.ord_type));
  order.set(FIX::Account(v.account));
  order.set(FIX::Symbol(v.symbol));
  order.set(FIX::OrderQty(v.order_qty));
  order.set(FIX::Price(v.price_cents / 100.0));
  order.set(FIX::TimeInForce(v.time_in_force));
  set_header(order, seq);
  order.toString(text);
}

void encode_report(const Values& v, std::size_t seq, std::string& text) {
  FIX44::ExecutionReport report(FIX::OrderID(v.order_id), FIX::ExecID(v.exec_id), FIX::ExecType(v.exec_type),
                                FIX::OrdStatus(v.ord_status), FIX::Side(v.side), FIX::LeavesQty(v.leaves_qty),
                                FIX::CumQty(v.cum_qty), FIX::AvgPx(v.avg_px_cents / 100.0));
  report.set(FIX::ClOrdID(v.cl_ord_id));
  report.set(FIX::Account(v.account));
  report.set(FIX::Symbol(v.symbol));
  report.set(FIX::OrderQty(v.order_qty));
  report.set(FIX::OrdType(v.ord_type));
  report.set(FIX::Price(v.price_cents / 100.0));
  report.set(FIX::TimeInForce(v.time_in_force));
  report.set(FIX::LastQty(v.last_qty));
  report.set(FIX::LastPx(v.last_px_cents / 100.0));
  report.set(FIX::TransactTime(FIX::UtcTimeStamp(), 3));
  set_header(report, seq);
  report.toString(text);
}

void encode_messages(const Options& options) {
  const std::vector<Values> values = values_of(options.text("values"));
  const bool report = options.text("type") == "8";
  std::string text;
  std::uint64_t bytes = 0;
  const auto write = [&](std::size_t i) {
    report ? encode_report(values[i], i + 1, text) : encode_order(values[i], i + 1, text);
  };
  time_batches(values.size(), options.number("repeats"), [&](std::size_t i) {
    write(i);
    bytes += text.size();
  }).write(options.text("times"));
  std::ofstream out(options.text("out"), std::ios::binary);
  for (std::size_t i = 0; i < values.size(); ++i) {
    write(i);
    out << text << '\n';
  }
  std::cout << "bytes " << bytes << std::endl;
}

class Trader : public FIX::NullApplication {
 public:
  void onLogon(const FIX::SessionID& id) override {
    session = id;
    up = true;
  }
  FIX::SessionID session;
  std::atomic<bool> up{false};
};

void send_orders(const Options& options) {
  std::ostringstream text;
  text << "[DEFAULT]\nConnectionType=initiator\nStartTime=00:00:00\nEndTime=00:00:00\nHeartBtInt=60\n"
       << "UseDataDictionary=N\nReconnectInterval=1\nSocketNodelay=Y\nTimestampPrecision=9\n"
       << "FileStorePath=" << options.text("store") << "\n[SESSION]\nBeginString=FIXT.1.1\nDefaultApplVerID=FIX.5.0\n"
       << "SenderCompID=CLIENT1\nTargetCompID=EXECUTOR\n"
       << "SocketConnectHost=127.0.0.1\nSocketConnectPort=" << options.text("port") << '\n';
  std::istringstream in(text.str());
  const FIX::SessionSettings settings(in);
  FIX::FileStoreFactory store(settings);
  Trader trader;
  FIX::SocketInitiator initiator(trader, store, settings);
  leave(options.number("cpu"));
  initiator.start();
  pin(options.number("cpu"));
  while (!trader.up) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  Pacer pacer(options);
  while (!pacer.done()) {
    if (!pacer.due()) continue;
    pacer.call([&](std::uint64_t number) {
      FIX50SP2::NewOrderSingle order(FIX::ClOrdID(std::to_string(number)), FIX::Side('1'),
                                     FIX::TransactTime(FIX::UtcTimeStamp(), 9), FIX::OrdType('2'));
      order.getHeader().setField(FIX::SenderSubID("SNDR_SUB"));
      order.getHeader().setField(FIX::TargetSubID("SRVR_SUB"));
      order.set(FIX::Symbol("NOKIA.HE"));
      order.set(FIX::OrderQty(10));
      order.set(FIX::Price(10000));
      order.set(FIX::TimeInForce('0'));
      FIX50SP2::NewOrderSingle::NoPartyIDs party;
      party.set(FIX::PartyID("PARTY1"));
      party.set(FIX::PartyIDSource('D'));
      party.set(FIX::PartyRole(1));
      order.addGroup(party);
      party.set(FIX::PartyID("PARTY2"));
      party.set(FIX::PartyRole(3));
      order.addGroup(party);
      return FIX::Session::sendToTarget(order, trader.session);
    });
  }
  pacer.finish(options);
  initiator.stop();
}

class Venue : public FIX::NullApplication {
 public:
  void fromApp(const FIX::Message& order,
               const FIX::SessionID& session) throw(FIX::FieldNotFound, FIX::IncorrectDataFormat,
                                                    FIX::IncorrectTagValue, FIX::UnsupportedMessageType) override {
    FIX::ClOrdID id;
    FIX::Symbol symbol;
    FIX::Side side;
    FIX::OrderQty quantity;
    order.getField(id);
    order.getField(symbol);
    order.getField(side);
    order.getField(quantity);
    FIX44::ExecutionReport report(FIX::OrderID(id.getString()), FIX::ExecID(id.getString()), FIX::ExecType('0'),
                                  FIX::OrdStatus('0'), side, FIX::LeavesQty(quantity), FIX::CumQty(0), FIX::AvgPx(0));
    report.set(id);
    report.set(symbol);
    report.set(quantity);
    report.set(FIX::TransactTime(FIX::UtcTimeStamp(), 3));
    FIX::Session::sendToTarget(report, session);
  }
};

void serve_clients(const Options& options) {
  std::ostringstream text;
  text << "[DEFAULT]\nConnectionType=acceptor\nStartTime=00:00:00\nEndTime=00:00:00\nBeginString=FIX.4.4\n"
       << "SocketAcceptPort=" << options.text("port") << "\nSocketReuseAddress=Y\nSocketNodelay=Y\n"
       << "FileStorePath=" << options.text("store") << "\nSenderCompID=VENUE\n";
  if (options.has("dictionary")) {
    text << "UseDataDictionary=Y\nDataDictionary=" << options.text("dictionary") << '\n';
  } else {
    text << "UseDataDictionary=N\n";
  }
  for (std::uint64_t i = 0; i < options.number("sessions"); ++i) text << "[SESSION]\nTargetCompID=CLIENT" << i << '\n';
  std::istringstream in(text.str());
  const FIX::SessionSettings settings(in);
  FIX::FileStoreFactory store(settings);
  Venue venue;
  FIX::SocketAcceptor acceptor(venue, store, settings);
  pin(options.number("cpu"));  // its one thread inherits it
  acceptor.start();
  ready();
  wait_for_end();
  acceptor.stop(true);
}

// Passes the orders of the acceptor's session on to the initiator's.
class Proxy : public FIX::NullApplication {
 public:
  void fromApp(const FIX::Message& order, const FIX::SessionID&) throw(FIX::FieldNotFound, FIX::IncorrectDataFormat,
                                                                       FIX::IncorrectTagValue,
                                                                       FIX::UnsupportedMessageType) override {
    FIX::ClOrdID id;
    FIX::Symbol symbol;
    FIX::Side side;
    FIX::TransactTime time;
    FIX::OrderQty quantity;
    FIX::OrdType type;
    FIX::Price price;
    FIX::TimeInForce in_force;
    order.getField(id);
    order.getField(symbol);
    order.getField(side);
    order.getField(time);
    order.getField(quantity);
    order.getField(type);
    order.getField(price);
    order.getField(in_force);
    FIX44::NewOrderSingle passed(id, side, time, type);
    passed.set(symbol);
    passed.set(quantity);
    passed.set(price);
    passed.set(in_force);
    FIX::Session::sendToTarget(passed, FIX::SessionID("FIX.4.4", "PROXY", "MARKET"));
  }
};

void pass_on(const Options& options) {
  const std::string common =
      "StartTime=00:00:00\nEndTime=00:00:00\nBeginString=FIX.4.4\nHeartBtInt=600\nUseDataDictionary=N\nSocketNodelay="
      "Y\n"
      "FileStorePath=" +
      options.text("store") + '\n';
  std::istringstream client("[DEFAULT]\nConnectionType=acceptor\n" + common +
                            "SocketAcceptPort=" + options.text("port") +
                            "\nSocketReuseAddress=Y\n[SESSION]\nSenderCompID=VENUE\nTargetCompID=CLIENT0\n");
  std::istringstream market("[DEFAULT]\nConnectionType=initiator\nReconnectInterval=1\n" + common +
                            "SocketConnectHost=127.0.0.1\nSocketConnectPort=" + options.text("to_port") +
                            "\n[SESSION]\nSenderCompID=PROXY\nTargetCompID=MARKET\n");
  const FIX::SessionSettings client_settings(client), market_settings(market);
  FIX::FileStoreFactory client_store(client_settings), market_store(market_settings);
  Proxy proxy;
  FIX::SocketInitiator initiator(proxy, market_store, market_settings);
  FIX::SocketAcceptor acceptor(proxy, client_store, client_settings);
  initiator.start();
  pin(options.number("cpu"));  // the acceptor's thread, which passes on
  acceptor.start();
  ready();
  wait_for_end();
  acceptor.stop(true);
  initiator.stop(true);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "QuickFIX",
             {{"read", read_messages},
              {"encode", encode_messages},
              {"send", send_orders},
              {"serve", serve_clients},
              {"hop", pass_on}});
}
