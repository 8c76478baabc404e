// Alternates QuickFIX's poll with sending due orders on one thread, so that a callback never runs during a send.
#include "quickfix_trader.hpp"

#include <poll.h>
#include <quickfix/Application.h>
#include <quickfix/Message.h>
#include <quickfix/MessageStore.h>
#include <quickfix/Session.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketInitiator.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>

namespace nfx {
namespace cluster_kill {
namespace {

constexpr int tag_cl_ord_id = 11, tag_msg_type = 35, tag_seq_num = 34, tag_symbol = 55, tag_side = 54;
constexpr int tag_order_qty = 38, tag_text = 58;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string time_of_day(std::time_t shift_s) {
  const std::time_t when = std::time(nullptr) + shift_s;
  std::tm parts{};
  gmtime_r(&when, &parts);
  char text[16];
  return {text, std::strftime(text, sizeof text, "%H:%M:%S", &parts)};
}

FIX::SessionSettings settings_of(const FIX::SessionID& id, const std::vector<std::uint16_t>& ports) {
  FIX::Dictionary session;
  session.setString("ConnectionType", "initiator");
  // QuickFIX has no session without an end, so its daily boundary is half a day away.
  constexpr std::time_t half_day_s = 12 * 60 * 60;
  session.setString("StartTime", time_of_day(half_day_s));
  session.setString("EndTime", time_of_day(half_day_s - 1));
  session.setInt("HeartBtInt", 1);
  session.setInt("LogonTimeout", 2);
  session.setInt("LogoutTimeout", 2);
  session.setInt("ReconnectInterval", 1);
  session.setString("SocketNodelay", "Y");
  session.setString("UseDataDictionary", "N");
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::string suffix = i == 0 ? "" : std::to_string(i);
    session.setString("SocketConnectHost" + suffix, "127.0.0.1");
    session.setInt("SocketConnectPort" + suffix, ports[i]);
  }
  FIX::SessionSettings all;
  all.set(session);  // QuickFIX reads ReconnectInterval only there
  all.set(id, session);
  return all;
}

class QuickFixTrader final : public FIX::Application, public Counterparty {
 public:
  QuickFixTrader(const std::vector<std::uint16_t>& ports, Load load)
      : Counterparty(load, now_ns()),
        id_("FIX.4.4", "TRADER", "VENUE"),
        initiator_(*this, store_, settings_of(id_, ports)),
        thread_([this] { run(); }) {}
  ~QuickFixTrader() override { stop(); }

  void stop() override {
    if (!thread_.joinable()) return;
    stopping_.store(true);
    thread_.join();
  }

 private:
  FIX::Session& session() const { return *FIX::Session::lookupSession(id_); }

  void run() {
    while (!stopping_.load()) {
      initiator_.poll(0.001);
      std::uint64_t due = orders_due(now_ns(), up_);
      if (due == 0) ::poll(nullptr, 0, 1);  // QuickFIX's own poll() never waits, whatever its argument
      for (; due > 0 && up_; --due) send_order();
    }
    session().logout();
    const std::int64_t end = now_ns() + 4000000000;
    while (up_ && now_ns() < end) initiator_.poll(0.001);
    ended(static_cast<std::uint64_t>(session().getExpectedTargetNum()),
          static_cast<std::uint64_t>(session().getExpectedSenderNum()));
    initiator_.stop(true);
  }

  // If the connection has ended meanwhile, QuickFIX stores the order and resends it.
  void send_order() {
    FIX::Message order;
    order.getHeader().setField(FIX::BeginString("FIX.4.4"));
    order.getHeader().setField(tag_msg_type, "D");
    order.setField(tag_cl_ord_id, std::to_string(next_order()));
    order.setField(tag_symbol, "NFX");
    order.setField(tag_side, "1");
    order.setField(tag_order_qty, "100");
    order_sent();
    session().send(order);
  }

  // QuickFIX declares its callbacks with exception specifications; these throw nothing, which satisfies all of them.
  void onCreate(const FIX::SessionID&) override {}
  void onLogon(const FIX::SessionID&) override {
    up_ = true;
    logged_on(static_cast<std::uint64_t>(session().getExpectedTargetNum()),
              static_cast<std::uint64_t>(session().getExpectedSenderNum()));
  }
  void onLogout(const FIX::SessionID&) override {
    up_ = false;
    note("logged out");
  }
  void toAdmin(FIX::Message&, const FIX::SessionID&) override {}
  void toApp(FIX::Message&, const FIX::SessionID&) noexcept override {}
  void fromAdmin(const FIX::Message& message, const FIX::SessionID&) noexcept override {
    if (message.isSetField(tag_text))
      note("type " + message.getHeader().getField(tag_msg_type) + ": " + message.getField(tag_text));
  }
  void fromApp(const FIX::Message& message, const FIX::SessionID&) noexcept override {
    const auto number = [](const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); };
    answer_came(number(message.getField(tag_cl_ord_id)), number(message.getHeader().getField(tag_seq_num)), now_ns());
  }

  const FIX::SessionID id_;
  FIX::MemoryStoreFactory store_;
  bool up_ = false;
  std::atomic<bool> stopping_{false};
  FIX::SocketInitiator initiator_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Counterparty> make_quickfix_trader(const std::vector<std::uint16_t>& ports, Load load) {
  return std::unique_ptr<Counterparty>(new QuickFixTrader(ports, load));
}

}  // namespace cluster_kill
}  // namespace nfx
