// docs/datagram-to-order.md against the code: its list of the functions that a datagram passes, from the socket to the
// bytes of an order, is compared with the calls that an engine makes.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/call_trace.hpp"
#include "base/clocks.hpp"
#include "engine/call_list.hpp"
#include "live_support.hpp"
#include "market/mold_packets.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/live/itch_handler.hpp"
#include "nexusfix/live/session_trader.hpp"

namespace nfx::market {
namespace {

#ifdef NDEBUG

TEST(DatagramToOrderPage, lists_the_functions_that_a_datagram_passes_in_their_order) {
  GTEST_SKIP() << "calls are recorded in builds with assertions: PRESET=debug ./dev test --only live";
}

#else

using namespace test;
using nfx::test::Calls;

constexpr std::uint16_t locate = 7;

struct OrderTaker final : Application {
  Handled on_message(SessionHandle&, const MessageView&) override {
    ++orders;
    return Handled::done;
  }
  std::size_t orders = 0;
};

// An order for each step of the exchange, in the next slot.
struct EachTime {
  std::uint8_t slot = 0;
  template <class Book>
  std::optional<strategy::Intent> on(const Book& book, const Event&) noexcept {
    const auto bid = book.best(Side::bid);
    if (!bid || slot == strategy::model_slots) return std::nullopt;
    nfx::detail::trace_call("Model::on", "include/nexusfix/strategy/intent.hpp");
    return strategy::Intent{.price = bid->price, .quantity = 1, .side = Side::bid, .slot = slot++};
  }
};

SessionSettings settings_of(Role role, std::string_view own, std::string_view peer) {
  SessionSettings settings;
  settings.session.role = role;
  settings.session.sender_comp_id = own;
  settings.session.target_comp_id = peer;
  return settings;
}

// An exchange, a trader and its venue in this thread, over this host's loopback interface.
class OneDatagram {
 public:
  OneDatagram() {
    EngineConfig config;
    config.transport = TransportKind::epoll;
    config.idle = IdleMode::block;
    config.sessions = {settings_of(Role::acceptor, "VENUE", "TRADER")};
    config.sessions[0].listen = {"127.0.0.1", 0};
    venue_engine_ = std::make_unique<Engine>(config, venue_);
    venue_engine_->start();
    config.sessions = {settings_of(Role::initiator, "TRADER", "VENUE")};
    config.sessions[0].connect = {*venue_engine_->local_endpoint(0)};
    engine_ = std::make_unique<Engine>(config, application_);
    engine_->wake_when_readable(sockets_.udp()->descriptor(0));
    EXPECT_TRUE(turn_until([this] { turn(); }, [this] { return trader_.venue().session() != nullptr; }));
    send(itch::Message<itch::StockDirectory>{locate, 0}.set(itch::StockDirectory::stock, "XYZ").bytes());
    send(itch::Message<itch::TradingAction>{locate, 0}.set(itch::TradingAction::state, 'T').bytes());
    EXPECT_TRUE(turn_until([this] { turn(); }, [this] { return trader_.newest().count != 0; }));
  }

  // The calls of the iteration that receives a datagram, from the one that reads it to the one that sends the order.
  Calls record() {
    const std::size_t before = trader_.sent().size();
    send(itch::Message<itch::AddOrder>{locate, 0}
             .set(itch::AddOrder::order, sequence_)
             .set(itch::AddOrder::side, 'B')
             .set(itch::AddOrder::shares, 100)
             .set(itch::AddOrder::stock, "XYZ")
             .set(itch::AddOrder::price, 120'0000)
             .bytes());
    nfx::detail::CallTrace trace;
    EXPECT_TRUE(turn_until(
        [&] {
          trace.clear();
          const nfx::detail::InstallCallTrace installed{trace};
          engine_->turn(1ms);
        },
        [&] { return trader_.sent().size() != before; }));
    EXPECT_FALSE(trace.full()) << "raise CallTrace::capacity";
    EXPECT_TRUE(turn_until([this] { turn(); }, [this] { return venue_.orders == trader_.sent().size(); }));
    Calls calls;
    for (const nfx::detail::TracedCall& call : trace.calls())
      calls.push_back({nfx::test::short_name(call.function), nfx::test::path_in_tree(call.file, NFX_SOURCE_DIR)});
    const auto named = [](const char* name) {
      return [name](const nfx::test::Call& call) { return call.function == name; };
    };
    calls.erase(calls.begin(), std::ranges::find_if(calls, named("SessionTrader::on_turn")));
    const auto sent = std::ranges::find_if(calls, named("EpollTransport::try_send"));
    if (sent != calls.end()) calls.erase(sent + 1, calls.end());
    return calls;
  }

 private:
  using T = Trader<ItchHandlerOptions, OrderBooks, FixSessionVenue, NoObserver, EachTime>;

  static FeedSocketsOptions line() {
    FeedSocketsOptions options;
    options.udp.push_back({.line = ItchLines::a, .udp = {.name = "A", .address = {"127.0.0.1", 0, ""}}});
    return options;
  }
  static ItchHandlerOptions feed() {
    return {{.midnight = std::chrono::floor<std::chrono::days>(read_utc())}, {"XYZ"}};
  }
  static TraderOptions limits() { return {.risk = {.max_event_age = 1h}, .books = {.orders = 64, .levels = 64}}; }

  void send(std::span<const std::byte> message) {
    const auto packet = mold_packet(session_of("ONE"), sequence_++, std::vector{message});
    EXPECT_EQ(sender_.send({reinterpret_cast<const char*>(packet.data()), packet.size()}), UdpSent::sent);
  }
  void turn() {
    engine_->turn(Duration::zero());
    venue_engine_->turn(1ms);
  }

  std::uint64_t sequence_ = 1;
  FeedSockets sockets_{line()};
  UdpSender sender_{sockets_.udp()->lines()[0].address};
  T trader_{feed(), limits(), FixSessionVenue{{.symbol = "XYZ"}}, EachTime{}};
  SessionTrader<T> application_{trader_, sockets_, nullptr, {.feed = {.lag_max = Duration::zero()}}};
  OrderTaker venue_;
  std::unique_ptr<Engine> venue_engine_, engine_;
};

TEST(DatagramToOrderPage, lists_the_functions_that_a_datagram_passes_in_their_order) {
  const nfx::test::CallList list =
      nfx::test::call_list_of(nfx::test::text_of(NFX_SOURCE_DIR "/docs/datagram-to-order.md"));
  ASSERT_EQ(list.problem, "");
  OneDatagram datagram;
  datagram.record();  // the first order of a session, and of the instrument
  for (int i = 0; i < 2; ++i) {
    const Calls called = datagram.record();
    EXPECT_EQ(nfx::test::difference(list.calls, called), "") << "called were:\n" << nfx::test::rows_of(called);
  }
}

#endif

}  // namespace
}  // namespace nfx::market
