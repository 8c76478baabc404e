// The recipes of docs/cookbook.md, as they are there, run against a peer in memory. Exit code 0: each did what it says.
#include <nexusfix/engine.hpp>
#include <nexusfix/engine/engine.hpp>
#include <nexusfix/fix44.hpp>
#include <nexusfix/fix44/names.hpp>
#include <nexusfix/testing.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fix = nfx::fix44;

namespace {

std::vector<std::string> lines;
void log(std::string_view line) { lines.emplace_back(line); }

struct Cookbook : nfx::TypedApplication<Cookbook, fix::Messages> {
  void send_order(nfx::SessionHandle& session) {
    auto order = session.create<fix::NewOrderSingle>();
    order.cl_ord_id("A1").symbol("ALFA").side(fix::Side::buy).order_qty(100);
    order.ord_type(fix::OrdType::limit).price(nfx::Decimal{1250, 2}).time_in_force(fix::TimeInForce::day);
    order.transact_time(session.now().utc);
    if (!order.send()) log(order.why());
  }

  void cancel(nfx::SessionHandle& session) {
    auto cancel = session.create<fix::OrderCancelRequest>();
    cancel.orig_cl_ord_id("A1").cl_ord_id("A2").symbol("ALFA").side(fix::Side::buy);
    cancel.order_qty(100).transact_time(session.now().utc);
    if (!cancel.send()) log(cancel.why());
  }

  void replace(nfx::SessionHandle& session) {
    auto replace = session.create<fix::OrderCancelReplaceRequest>();
    replace.orig_cl_ord_id("A1").cl_ord_id("A3").symbol("ALFA").side(fix::Side::buy).order_qty(200);
    replace.ord_type(fix::OrdType::limit).price(nfx::Decimal{126, 1}).transact_time(session.now().utc);
    if (!replace.send()) log(replace.why());
  }

  nfx::Sent on(nfx::SessionHandle& session, const fix::OrderCancelRequest& cancel) {
    auto reject = session.create<fix::OrderCancelReject>();
    reject.order_id("NONE").cl_ord_id(cancel.cl_ord_id()).orig_cl_ord_id(cancel.orig_cl_ord_id());
    reject.ord_status(fix::OrdStatus::rejected).cxl_rej_response_to(fix::CxlRejResponseTo::order_cancel_request);
    reject.cxl_rej_reason(fix::CxlRejReason::unknown_order).text("no such order");
    return reject.send_or_reject(cancel);
  }

  nfx::Sent on(nfx::SessionHandle& session, const fix::OrderStatusRequest& request) {
    return session.reject_business(request.view(), nfx::BusinessRejectReason::unknown_id,
                                   "no order " + std::string{request.cl_ord_id()});
  }

  nfx::Sent on(nfx::SessionHandle& session, const fix::NewOrderSingle& order) {
    if (order.symbol() != "ALFA") {
      auto report = session.create<fix::ExecutionReport>();
      report.order_id("NONE").exec_id("R1").exec_type(fix::ExecType::rejected).ord_status(fix::OrdStatus::rejected);
      report.cl_ord_id(order.cl_ord_id()).symbol(order.symbol()).side(order.side());
      report.leaves_qty(0).cum_qty(0).avg_px(0);
      report.ord_rej_reason(fix::OrdRejReason::unknown_symbol).text("only ALFA is traded here");
      return report.send_or_reject(order);
    }
    texts(order);
    optional(order);
    decimals(order);
    times(order);
    enumerations(order);
    custom(order);
    header(order);
    groups_in(order);
    send_order(session);
    cancel(session);
    replace(session);
    groups_out(session);
    nested(session);
    data(session);
    custom_out(session);
    header_out(session);
    untyped(session);
    all_or_nothing(session);
    auto report = session.create<fix::ExecutionReport>();
    report.order_id("V1").exec_id("E1").exec_type(fix::ExecType::trade).ord_status(fix::OrdStatus::partially_filled);
    report.cl_ord_id(order.cl_ord_id()).symbol(order.symbol()).side(order.side());
    report.last_qty(60).last_px(order.price()).leaves_qty(40).cum_qty(60).avg_px(order.price());
    return report.send_or_reject(order);
  }

  static void optional(const fix::NewOrderSingle& order) {
    const nfx::Decimal price = order.price().value_or(nfx::Decimal{0});  // missing or wrong: 0
    if (!order.has_account()) log("no account");
    if (const auto stop = order.stop_px(); !stop) log("stop price: " + std::string{to_string(stop.error())});
    log("price " + to_string(price));
  }

  void texts(const fix::NewOrderSingle& order) {
    const std::string id{order.cl_ord_id()};  // a copy: the text is gone after on()
    symbols[id] = order.symbol();
    if (order.account().empty()) log("account is missing or empty");
  }

  static void decimals(const fix::NewOrderSingle& order) {
    const nfx::Decimal price = order.price().value();
    const nfx::Decimal tick{1, 2};                         // 0.01
    const nfx::Decimal better = add(price, tick).value();  // exact; empty on overflow
    const nfx::Decimal limit = nfx::Decimal::parse("12.50").value();
    if (better > limit) log("above " + to_string(limit) + ": " + to_string(better));
  }

  static void times(const fix::NewOrderSingle& order) {
    const nfx::UtcTime sent = order.transact_time().value().time;  // nanoseconds since 1970, UTC
    const auto day = std::chrono::floor<std::chrono::days>(sent);
    const auto second_of_day = std::chrono::floor<std::chrono::seconds>(sent - day);
    log("second " + std::to_string(second_of_day.count()));
  }

  static void enumerations(const fix::NewOrderSingle& order) {
    switch (order.side().value_or(fix::Side::undisclosed)) {
      case fix::Side::buy: log("buys"); break;
      case fix::Side::sell: log("sells"); break;
      default: log("neither");
    }
    log(to_text(fix::Side::sell_short));  // SELL_SHORT, the dictionary's name
    if (nfx::generated::from_text<fix::Side>("BUY") == fix::Side::buy) log("by name");
  }

  static void custom(const fix::NewOrderSingle& order) {
    const std::string_view desk = order.view().get_view(nfx::Tag{9730});
    const std::int64_t strategy = order.view().get_int(nfx::Tag{9731}).value_or(0);
    log("desk " + std::string{desk} + ", strategy " + std::to_string(strategy));
  }

  static void header(const fix::NewOrderSingle& order) {
    const fix::Header header{order.view()};
    const auto number = header.msg_seq_num().value();
    const bool possibly_sent_before = header.poss_resend().value_or(false);
    log("message " + std::to_string(value(number)) + (possibly_sent_before ? ", again" : ", new"));
  }

  static void groups_in(const fix::NewOrderSingle& order) {
    for (const auto party : order.no_party_ids()) {
      const auto role = party.party_role();
      log("party " + std::string{party.party_id()} + (role ? " is " + std::string{to_text(*role)} : ""));
    }
  }

  static void groups_out(nfx::SessionHandle& session) {
    auto order = session.create<fix::NewOrderSingle>();
    order.cl_ord_id("G1").symbol("ALFA").side(fix::Side::buy).order_qty(100).ord_type(fix::OrdType::market);
    order.transact_time(session.now().utc);
    auto allocations = order.no_allocs(2);  // exactly two entries have to follow
    allocations.add().alloc_account("pension").alloc_qty(70);
    allocations.add().alloc_account("growth").alloc_qty(30);
    if (!order.send()) log(order.why());
  }

  static void nested(nfx::SessionHandle& session) {
    auto order = session.create<fix::NewOrderSingle>();
    order.cl_ord_id("N1").symbol("ALFA").side(fix::Side::buy).order_qty(100).ord_type(fix::OrdType::market);
    order.transact_time(session.now().utc);
    auto party = order.no_party_ids(1).add();
    party.party_id("BROKER").party_id_source(fix::PartyIDSource::proprietary).party_role(fix::PartyRole::client_id);
    party.no_party_sub_ids(1).add().party_sub_id("desk 7").party_sub_id_type(fix::PartySubIDType::application);
    if (!order.send()) log(order.why());
  }

  static void data(nfx::SessionHandle& session) {
    const std::string picture(1000, '\x01');
    auto news = session.create<fix::News>();
    news.headline("halted");
    news.no_lines_of_text(1).add().text("see the attachment");
    news.raw_data(picture);  // writes RawDataLength(95) too
    if (!news.send()) log(news.why());
  }

  static void custom_out(nfx::SessionHandle& session) {
    auto order = session.create<fix::NewOrderSingle>();
    order.cl_ord_id("T1").symbol("ALFA").side(fix::Side::buy).order_qty(100).ord_type(fix::OrdType::market);
    order.transact_time(session.now().utc);
    order.fields().append(nfx::Tag{9730}, "desk 7").append(nfx::Tag{9731}, 12);
    if (!order.send()) log(order.why());
  }

  static void header_out(nfx::SessionHandle& session) {
    std::array<char, 64> buffer;
    nfx::FieldWriter fields{buffer};
    fields.append(nfx::Tag::PossResend, true).append(nfx::Tag{115}, "CLIENT");  // ascending by tag
    auto order = session.create<fix::NewOrderSingle>(fields.view());
    order.cl_ord_id("H1").symbol("ALFA").side(fix::Side::buy).order_qty(100).ord_type(fix::OrdType::market);
    order.transact_time(session.now().utc);
    if (!order.send()) log(order.why());
  }

  static void untyped(nfx::SessionHandle& session) {
    auto news = session.create("B");
    news.append(nfx::Tag::Headline, "halted").append(nfx::Tag{33}, 1).append(nfx::Tag::Text, "until noon");
    if (!news.send()) log(news.why());
  }

  static void all_or_nothing(nfx::SessionHandle& session) {
    auto order = session.create<fix::NewOrderSingle>();
    order.cl_ord_id("I1").symbol("ALFA");
    if (const nfx::Sent sent = order.send(); !sent) log(std::string{to_string(sent.error())} + "; " + order.why());
  }

  void on(nfx::SessionHandle&, const fix::ExecutionReport& report) {
    if (report.exec_type() != fix::ExecType::trade) return;
    const auto quantity = report.last_qty().value(), price = report.last_px().value();
    log(std::string{report.cl_ord_id()} + " filled " + to_string(quantity) + " at " + to_string(price));
  }

  void on(nfx::SessionHandle&, const fix::News& news) {
    log(to_string(news));  // News | MsgSeqNum(34)=3 | ... | Headline(148)=halted | ...
    kept.emplace_back(news.view().bytes());
  }

  void parse_kept() const {
    nfx::MessageView view;  // reuse it: parsing allocates nothing
    for (const std::string& bytes : kept) {
      if (view.parse(bytes) != nfx::WireError::none) continue;
      log("kept " + std::string{fix::News{view}.headline()});
    }
  }

  nfx::Handled on(nfx::SessionHandle&, const fix::QuoteRequest& request) {
    if (!database_is_up) return nfx::Handled::not_now;  // it comes again, before any other message
    log("quote " + std::string{request.quote_req_id()});
    return nfx::Handled::done;
  }

  nfx::Duration on_turn(nfx::Instant now) override {
    if (now.monotonic < next_check) return next_check - now.monotonic;
    next_check = now.monotonic + std::chrono::seconds{5};
    log("five seconds have passed");
    return std::chrono::seconds{5};
  }

  void on_submitted(const nfx::Submitted& submitted) override {
    log(submitted.result ? "sent from another thread" : to_string(submitted.result.error()));
  }

  std::map<std::string, std::string> symbols;
  std::vector<std::string> kept;
  bool database_is_up = false;
  nfx::MonotonicTime next_check{};
};

// `engine` is an nfx::Engine in a program, and the test's engine here.
void submit_order(auto& engine, std::size_t session) {
  std::array<char, 512> buffer;
  fix::NewOrderSingleBuilder order{buffer};
  order.cl_ord_id("S1").symbol("ALFA").side(fix::Side::buy).order_qty(100).ord_type(fix::OrdType::market);
  order.transact_time(std::chrono::system_clock::now());
  const nfx::SubmitResult result = engine.submit(session, order, {.report = true});
  if (!result) log("not queued: " + std::string{to_string(result.status)});
}

// For an engine of the program, in place of the test's.
[[maybe_unused]] void find(nfx::Engine& engine) {
  const auto session = engine.find_session({.sender_comp_id = "DESK", .target_comp_id = "TRADER"});
  if (session) submit_order(engine, *session);
}

int failures = 0;
void expect_line(std::string_view part) {
  for (const std::string& line : lines) {
    if (line.contains(part)) return;
  }
  std::printf("no line with: %.*s\n", static_cast<int>(part.size()), part.data());
  ++failures;
}
void expect(bool right, const char* what) {
  if (right) return;
  std::printf("failed: %s\n", what);
  ++failures;
}

void run() {
  Cookbook cookbook;
  nfx::testing::Network network;
  auto& engine = network.engine(nfx::testing::acceptor("DESK", "TRADER"), cookbook);
  nfx::testing::Peer trader{network, "TRADER", "DESK"};
  trader.logon();
  trader.send({"D",
               "11=C1|55=ALFA|54=1|60=20240315-12:00:01|38=100|40=2|44=12.50|453=1|448=FUND|447=D|452=3|"
               "9730=desk 9|9731=4|"});
  network.run();
  std::map<std::string, nfx::testing::Received> sent;
  for (const auto& each : trader.received()) sent.emplace(std::string{each[11]} + std::string{each[148]}, each);
  for (const char* id : {"A1", "A2", "A3", "G1", "N1", "T1", "H1", "halted", "C1"}) expect(sent.contains(id), id);
  expect(!sent.contains("I1"), "an incomplete order is not sent");
  expect(sent.at("A1")[44] == "12.50" && sent.at("A3")[44] == "12.6", "prices are exact");
  expect(sent.at("G1").text().find("79=pension|80=70|79=growth|80=30") != std::string::npos, "both allocations");
  expect(sent.at("N1")[523] == "desk 7", "a nested group");
  expect(sent.at("T1")[9731] == "12", "a custom tag");
  expect(sent.at("H1")[115] == "CLIENT", "a header field");

  trader.send({"D", "11=C3|55=BETA|54=1|60=20240315-12:00:02|38=100|40=2|44=12.50|"});
  network.run();
  expect(trader.receive("8")[103] == "1", "an order is rejected with its reason");

  trader.send({"F", "11=C2|41=C0|55=ALFA|54=1|60=20240315-12:00:02|38=100|"});
  trader.send({"H", "11=C9|55=ALFA|54=1|"});
  trader.send({"B", "148=halted|33=1|58=until noon|"});
  trader.send({"8", "37=V1|17=E1|150=F|39=1|11=S1|55=ALFA|54=1|32=60|31=12.5|151=40|14=60|6=12.5|"});
  network.run();
  expect(trader.receive("9")[58] == "no such order", "a cancel is rejected");
  expect(trader.receive("j")[58] == "no order C9", "a status request is refused");
  cookbook.parse_kept();

  trader.send({"R", "131=Q1|146=1|55=ALFA|"});
  network.run();
  cookbook.database_is_up = true;
  network.advance(std::chrono::seconds{6});
  submit_order(engine, 0);
  network.run();

  for (const char* line :
       {"no account", "stop price: ", "price 12.50", "account is missing or empty", "above 12.50: 12.51",
        "second 43201", "buys", "SELL_SHORT", "by name", "desk desk 9, strategy 4", "message 2, new",
        "party FUND is CLIENT_ID", "a required field of the message is missing", "S1 filled 60 at 12.5",
        "Headline(148)=halted", "kept halted", "quote Q1", "five seconds have passed", "sent from another thread"}) {
    expect_line(line);
  }
}

}  // namespace

int main() try {
  run();
  if (failures != 0) {
    for (const std::string& line : lines) std::printf("  logged: %s\n", line.c_str());
  }
  return failures;
} catch (const std::exception& error) {
  std::printf("failed: %s\n", error.what());
  return 1;
}
