// The league's peer of this engine, written with what a user of the installed headers has.
#include <nexusfix/engine.hpp>
#include <nexusfix/engine/program.hpp>
#include <nexusfix/fix.hpp>
#include <nexusfix/fix44/execution_report.hpp>
#include <nexusfix/fix44/header.hpp>
#include <nexusfix/fix44/new_order_single.hpp>

#include <poll.h>

#include <array>
#include <fstream>
#include <memory>
#include <utility>

#include "peer.hpp"

namespace {

using namespace nfx;
using namespace league;
namespace fix = nfx::fix44;

std::uint64_t sum_of(const MessageView& view) {
  const fix::ExecutionReport report{view};
  const auto cents = [](const auto& price) {
    const Decimal value = price.value();
    return value.scale() == 2 ? value.mantissa() : value.mantissa() * (value.scale() == 0 ? 100 : 10);
  };
  Fold fold;
  fold.integer(0, static_cast<std::int64_t>(value(fix::Header{view}.msg_seq_num().value())));
  fold.text(1, report.cl_ord_id().data(), report.cl_ord_id().size());
  fold.integer(2, static_cast<char>(report.exec_type().value()));
  fold.integer(3, report.order_qty().value().mantissa());
  fold.integer(4, cents(report.price()));
  fold.integer(5, report.last_qty().value().mantissa());
  fold.integer(6, cents(report.last_px()));
  fold.text(7, report.symbol().data(), report.symbol().size());
  return fold.sum();
}

void read_messages(const Options& options) {
  const std::vector<std::string> messages = lines_of(options.text("messages"));
  std::uint64_t sum = 0;
  MessageView view;
  const Times times = time_batches(messages.size(), options.number("repeats"), [&](std::size_t i) {
    if (view.parse(messages[i]) != WireError::none) throw std::runtime_error("a message is refused");
    sum += sum_of(view);
  });
  times.write(options.text("times"));
  std::cout << "sum " << sum << std::endl;
}

std::string_view encode_order(Encoder& encoder, HeaderTemplate& header, const Values& v, std::uint64_t seq) {
  const UtcTime now = std::chrono::system_clock::now();
  encoder.begin(header, "D", SeqNum{seq}, now);
  fix::NewOrderSingleBuilder order{encoder.fields()};
  order.cl_ord_id(v.cl_ord_id).account(v.account).symbol(v.symbol).side(fix::Side{v.side}).transact_time(now);
  order.order_qty(v.order_qty).ord_type(fix::OrdType{v.ord_type}).price(Decimal{v.price_cents, 2});
  order.time_in_force(fix::TimeInForce{v.time_in_force});
  return order.ok() ? encoder.finish() : std::string_view{};
}

std::string_view encode_report(Encoder& encoder, HeaderTemplate& header, const Values& v, std::uint64_t seq) {
  const UtcTime now = std::chrono::system_clock::now();
  encoder.begin(header, "8", SeqNum{seq}, now);
  fix::ExecutionReportBuilder report{encoder.fields()};
  report.order_id(v.order_id).cl_ord_id(v.cl_ord_id).exec_id(v.exec_id).exec_type(fix::ExecType{v.exec_type});
  report.ord_status(fix::OrdStatus{v.ord_status}).account(v.account).symbol(v.symbol).side(fix::Side{v.side});
  report.order_qty(v.order_qty).ord_type(fix::OrdType{v.ord_type}).price(Decimal{v.price_cents, 2});
  report.time_in_force(fix::TimeInForce{v.time_in_force}).last_qty(v.last_qty).last_px(Decimal{v.last_px_cents, 2});
  report.leaves_qty(v.leaves_qty).cum_qty(v.cum_qty).avg_px(Decimal{v.avg_px_cents, 2}).transact_time(now);
  return report.ok() ? encoder.finish() : std::string_view{};
}

void encode_messages(const Options& options) {
  const std::vector<Values> values = values_of(options.text("values"));
  const bool report = options.text("type") == "8";
  std::array<char, 1024> buffer;
  Encoder encoder{buffer};
  HeaderTemplate header{{.begin_string = "FIX.4.4", .sender_comp_id = "TRADER", .target_comp_id = "VENUE"}};
  const auto write = [&](std::size_t i) {
    return report ? encode_report(encoder, header, values[i], i + 1) : encode_order(encoder, header, values[i], i + 1);
  };
  std::uint64_t bytes = 0;
  time_batches(values.size(), options.number("repeats"), [&](std::size_t i) {
    bytes += write(i).size();
  }).write(options.text("times"));
  std::ofstream out{options.text("out"), std::ios::binary};
  for (std::size_t i = 0; i < values.size(); ++i) out << write(i) << '\n';
  std::cout << "bytes " << bytes << std::endl;
}

// A journal in the given folder: with its default durability, a power loss costs at most its last 10 ms.
SessionSettings settings_of(const Options& options) {
  SessionSettings settings;
  settings.store_kind = StoreKind::journal;
  settings.journal.directory = options.text("store");
  return settings;
}

bool send_order(SessionHandle& session, std::uint64_t number);

// A strategy that sends its orders in on_turn(): one when it is due, or up to 16 in one iteration when they all are.
struct Trader : Application {
  void on_logon(SessionHandle& session) override { handle = &session; }
  void on_logout(SessionHandle&, std::string_view) override { handle = nullptr; }
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
  Duration on_turn(Instant) override {
    if (handle == nullptr || pacer == nullptr) return nothing_done;
    const auto send = [this](std::uint64_t number) { return send_order(*handle, number); };
    for (int i = 0; i < 16 && pacer->due() && pacer->call(send); ++i) {
    }
    return nothing_done;
  }
  Pacer* pacer = nullptr;
  SessionHandle* handle = nullptr;
};

// llfix's message.
bool send_order(SessionHandle& session, std::uint64_t number) {
  auto order = session.create("D");
  order.append<Tag::ClOrdID>(number).append<Tag::Symbol>("NOKIA.HE").append<Tag::Side>('1').append<Tag::OrderQty>(10);
  order.append<Tag::Price>(10000).append<Tag::OrdType>('2').append<Tag::TimeInForce>('0').append<Tag::NoPartyIDs>(2);
  order.append<Tag::PartyID>("PARTY1").append<Tag::PartyIDSource>('D').append<Tag::PartyRole>(1);
  order.append<Tag::PartyID>("PARTY2").append<Tag::PartyIDSource>('D').append<Tag::PartyRole>(3);
  order.append<Tag::TransactTime>(session.now().utc, 9U);
  if (!order.send()) return false;
  session.flush();
  return true;
}

void send_orders(const Options& options) {
  Trader trader;
  EngineConfig config;
  config.idle = IdleMode::spin;
  SessionSettings settings = settings_of(options);
  settings.session.role = Role::initiator;
  settings.session.begin_string = "FIXT.1.1";
  settings.session.default_appl_ver_id = "7";
  settings.session.sender_comp_id = "CLIENT1";
  settings.session.target_comp_id = "EXECUTOR";
  settings.session.sender_sub_id = "SNDR_SUB";
  settings.session.target_sub_id = "SRVR_SUB";
  settings.session.heartbeat_interval = std::chrono::seconds{60};
  settings.session.timestamp_digits = 9;
  settings.connect = {{"127.0.0.1", static_cast<std::uint16_t>(options.number("port"))}};
  settings.prefault = true;
  config.sessions.push_back(std::move(settings));
  leave(options.number("cpu"));  // the journal's thread
  Engine engine{std::move(config), trader};
  engine.start();
  pin(options.number("cpu"));
  while (trader.handle == nullptr) engine.turn(Duration::zero());
  Pacer pacer{options};
  trader.pacer = &pacer;
  while (!pacer.done()) engine.turn(Duration::zero());
  pacer.finish(options);
  engine.stop();
  while (!engine.finished()) engine.turn(Duration::zero());
}

struct Venue : Application {
  Handled on_message(SessionHandle& session, const MessageView& message) override {
    const fix::NewOrderSingle order{message};
    auto report = session.create<fix::ExecutionReport>();
    report.order_id(order.cl_ord_id()).cl_ord_id(order.cl_ord_id()).exec_id(order.cl_ord_id());
    report.exec_type(fix::ExecType::new_).ord_status(fix::OrdStatus::new_).symbol(order.symbol());
    report.side(order.side()).order_qty(order.order_qty()).leaves_qty(order.order_qty()).cum_qty(0).avg_px(0);
    report.transact_time(session.now().utc);
    return report.send();
  }
};

void serve_until_end(Engine& engine, Duration max_wait) {
  ready();
  pollfd input{0, POLLIN, 0};
  for (std::uint32_t turns = 0; turns % 1024 != 0 || ::poll(&input, 1, 0) == 0; ++turns) engine.turn(max_wait);
  engine.stop();
  while (!engine.finished()) engine.turn(std::chrono::milliseconds{1});
}

void serve_clients(const Options& options) {
  Venue venue;
  EngineConfig config;
  config.idle = options.has("spin") ? IdleMode::spin : IdleMode::block;
  std::shared_ptr<const Dictionary> dictionary;
  if (options.has("dictionary"))
    dictionary = std::make_shared<const Dictionary>(load_dictionary(options.text("dictionary")));
  for (std::uint64_t i = 0; i < options.number("sessions"); ++i) {
    SessionSettings settings = settings_of(options);
    settings.session.role = Role::acceptor;
    settings.session.sender_comp_id = "VENUE";
    settings.session.target_comp_id = "CLIENT" + std::to_string(i);
    settings.dictionary = dictionary;
    settings.listen = {"127.0.0.1", static_cast<std::uint16_t>(options.number("port"))};
    config.sessions.push_back(std::move(settings));
  }
  leave(options.number("cpu"));
  Engine engine{std::move(config), venue};
  engine.start();
  pin(options.number("cpu"));
  serve_until_end(engine, options.has("spin") ? Duration::zero() : Duration{std::chrono::milliseconds{1}});
}

// Passes the orders of its first session on to its second one.
struct Proxy : Application {
  void on_logon(SessionHandle& session) override {
    if (session.id() == 1) market = &session;
  }
  void on_logout(SessionHandle& session, std::string_view) override {
    if (&session == market) market = nullptr;
  }
  Handled on_message(SessionHandle&, const MessageView& message) override {
    if (market == nullptr) return Handled::not_now;
    const fix::NewOrderSingle order{message};
    auto passed = market->create<fix::NewOrderSingle>();
    passed.cl_ord_id(order.cl_ord_id()).symbol(order.symbol()).side(order.side()).transact_time(order.transact_time());
    passed.order_qty(order.order_qty()).ord_type(order.ord_type()).price(order.price());
    passed.time_in_force(order.time_in_force());
    return passed.send();
  }
  SessionHandle* market = nullptr;
};

void pass_on(const Options& options) {
  Proxy proxy;
  EngineConfig config;
  config.idle = IdleMode::spin;
  SessionSettings client = settings_of(options);
  client.session.sender_comp_id = "VENUE";
  client.session.target_comp_id = "CLIENT0";
  client.listen = {"127.0.0.1", static_cast<std::uint16_t>(options.number("port"))};
  SessionSettings market = settings_of(options);
  market.session.role = Role::initiator;
  market.session.sender_comp_id = "PROXY";
  market.session.target_comp_id = "MARKET";
  market.connect = {{"127.0.0.1", static_cast<std::uint16_t>(options.number("to_port"))}};
  client.prefault = market.prefault = true;
  config.sessions = {std::move(client), std::move(market)};
  leave(options.number("cpu"));
  Engine engine{std::move(config), proxy};
  engine.start();
  pin(options.number("cpu"));
  serve_until_end(engine, Duration::zero());
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "NexusFIX",
             {{"read", read_messages},
              {"encode", encode_messages},
              {"send", send_orders},
              {"serve", serve_clients},
              {"hop", pass_on}});
}
