// The flow with QuickFIX as users run it: socket threads, FileStore and FileLog.
#include <quickfix/FileLog.h>
#include <quickfix/FileStore.h>
#include <quickfix/Message.h>
#include <quickfix/Session.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketAcceptor.h>
#include <quickfix/SocketInitiator.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <thread>

#include "sustained/flow.hpp"

namespace nfx {
namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

void set(FIX::FieldMap& map, int tag, const std::string& text) { map.setField(tag, text); }

class Flow : public FIX::NullApplication {
 public:
  explicit Flow(const FlowPlan& plan) : plan_(plan) {}
  void onLogon(const FIX::SessionID& id) override {
    session_ = id;
    up = true;
  }
  void onLogout(const FIX::SessionID&) override { up = false; }

  std::atomic<bool> up{false};
  std::atomic<bool> wrong{false};
  std::atomic<std::uint64_t> messages{0};

 protected:
  const FlowPlan& plan_;
  FIX::SessionID session_;
};

class Venue final : public Flow {
 public:
  using Flow::Flow;
  void fromApp(const FIX::Message& order, const FIX::SessionID& id) throw(FIX::FieldNotFound, FIX::IncorrectDataFormat,
                                                                          FIX::IncorrectTagValue,
                                                                          FIX::UnsupportedMessageType) override {
    const std::string number = order.getField(11);
    if (number != std::to_string(next_++)) wrong = true;
    FIX::Message report;
    report.getHeader().setField(35, "8");
    set(report, 37, "X" + number);
    set(report, 11, number);
    set(report, 17, "E" + number);
    set(report, 150, "0");
    set(report, 39, "0");
    set(report, 55, order.getField(55));
    set(report, 54, "1");
    set(report, 38, order.getField(38));
    set(report, 151, order.getField(38));
    set(report, 14, "0");
    set(report, 6, "0");
    set(report, 58, std::string(flow_report_text, 'y'));
    FIX::Session::sendToTarget(report, id);
    messages += 2;
  }

 private:
  std::uint64_t next_ = 1;
};

class Trader final : public Flow {
 public:
  using Flow::Flow;
  void fromApp(const FIX::Message& report, const FIX::SessionID&) throw(FIX::FieldNotFound, FIX::IncorrectDataFormat,
                                                                        FIX::IncorrectTagValue,
                                                                        FIX::UnsupportedMessageType) override {
    if (report.getField(11) != std::to_string(next_in_++)) wrong = true;
    messages += 2;
    if (!stop) send();
  }
  // On the session's own thread, like all later orders: orders numbered by two threads would be sent in another order.
  void onLogon(const FIX::SessionID& id) override {
    Flow::onLogon(id);
    for (std::uint32_t i = 0; i < plan_.window; ++i) send();
  }
  std::atomic<bool> stop{false};

 private:
  void send() {
    FIX::Message order;
    order.getHeader().setField(35, "D");
    const std::uint64_t number = ++last_out_;
    set(order, 11, std::to_string(number));
    set(order, 55, number % 2 != 0 ? "MSFT" : "AAPL");
    set(order, 54, "1");
    set(order, 60, "20261121-12:00:00.123");
    set(order, 38, std::to_string(100 + number % 900));
    set(order, 40, "2");
    set(order, 44, "101.25");
    set(order, 58, std::string(flow_order_text, 'x'));
    FIX::Session::sendToTarget(order, session_);
  }

  std::uint64_t next_in_ = 1;
  std::uint64_t last_out_ = 0;
};

std::string settings_text(const FlowPlan& plan, bool venue) {
  std::ostringstream text;
  text << "[DEFAULT]\nBeginString=FIX.4.4\nStartTime=00:00:00\nEndTime=00:00:00\nHeartBtInt=30\nUseDataDictionary="
       << (plan.dictionary.empty() ? "N" : "Y") << '\n';
  if (!plan.dictionary.empty()) text << "DataDictionary=" << plan.dictionary << '\n';
  const std::string folder = plan.folder + (venue ? "/quickfix-venue" : "/quickfix-trader");
  text << "FileStorePath=" << folder << "/store\nFileLogPath=" << folder << "/log\n[SESSION]\n";
  if (venue) {
    text << "ConnectionType=acceptor\nSenderCompID=VENUE\nTargetCompID=TRADER\nSocketAcceptPort=" << plan.port << '\n';
  } else {
    text << "ConnectionType=initiator\nSenderCompID=TRADER\nTargetCompID=VENUE\nSocketConnectHost=127.0.0.1\n"
         << "SocketConnectPort=" << plan.port << "\nReconnectInterval=1\n";
  }
  text << "SocketNodelay=Y\n";
  return text.str();
}

void note(FlowResult& result, const std::string& text) {
  std::snprintf(result.problem, sizeof result.problem, "%s", text.c_str());
}

void wait_until(const std::atomic<bool>& flag, bool value, double seconds) {
  const auto give_up = Clock::now() + std::chrono::duration<double>(seconds);
  while (flag != value && Clock::now() < give_up) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

template <class Side, class Connector, class During>
FlowResult run(const FlowPlan& plan, bool venue, During during) {
  FlowResult result;
  try {
    std::istringstream text(settings_text(plan, venue));
    FIX::SessionSettings settings(text);
    FIX::FileStoreFactory store(settings);
    FIX::FileLogFactory log(settings);
    Side side(plan);
    Connector connector(side, store, settings, log);
    connector.start();
    if (venue) {
      const std::uint16_t port = plan.port;
      if (::write(plan.port_pipe, &port, sizeof port) != sizeof port) note(result, "cannot pass on the port");
    }
    wait_until(side.up, true, 10);
    if (!side.up) note(result, "no Logon within ten seconds");
    if (side.up) during(side, result);
    result.right = result.problem[0] == '\0' && !side.wrong && result.messages != 0;
    if (side.wrong) note(result, "an answer was wrong");
    connector.stop(true);
  } catch (const std::exception& error) {
    note(result, error.what());
  }
  return result;
}

}  // namespace

bool has_quickfix() { return true; }

FlowResult run_quickfix_venue(const FlowPlan& plan) {
  return run<Venue, FIX::SocketAcceptor>(plan, true, [&](Venue& side, FlowResult& result) {
    wait_until(side.up, false, plan.warm_up_s + plan.seconds + 30);
    result.messages = side.messages;
    result.rss_end_kib = resident_kib();
  });
}

FlowResult run_quickfix_trader(const FlowPlan& plan) {
  return run<Trader, FIX::SocketInitiator>(plan, false, [&](Trader& side, FlowResult& result) {
    std::this_thread::sleep_for(std::chrono::duration<double>(plan.warm_up_s));
    const std::uint64_t before = side.messages;
    const auto begin = Clock::now();
    result.rss_begin_kib = resident_kib();
    std::this_thread::sleep_for(std::chrono::duration<double>(plan.seconds));
    result.messages = side.messages - before;
    result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    result.rss_end_kib = resident_kib();
    side.stop = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  });
}

}  // namespace bench
}  // namespace nfx
