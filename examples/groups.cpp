// Repeating groups in both directions: a request for market data and its snapshots, and an order of two legs, each with
// groups of its own. The program is both ends; the role in its configuration says which.
//   ./groups desk.toml      in one terminal
//   ./groups trader.toml    in another one
#include <nexusfix/engine.hpp>
#include <nexusfix/fix44.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <string_view>

namespace fix = nfx::fix44;

struct Quote {
  std::string_view symbol;
  nfx::Decimal bid, offer;
};
constexpr std::array quotes{Quote{"ALFA", nfx::Decimal{995, 2}, nfx::Decimal{1005, 2}},
                            Quote{"BETA", nfx::Decimal{2010, 2}, nfx::Decimal{2020, 2}}};

struct Groups : nfx::TypedApplication<Groups, fix::Messages> {
  // The initiator asks for bids and offers of two instruments.
  void on_logon(nfx::SessionHandle& session) override {
    if (session.config().role != nfx::Role::initiator) return;
    auto request = session.create<fix::MarketDataRequest>();
    request.md_req_id("1").subscription_request_type(fix::SubscriptionRequestType::snapshot).market_depth(1);
    auto types = request.no_md_entry_types(2);  // NoMDEntryTypes=2; exactly two entries have to follow
    types.add().md_entry_type(fix::MDEntryType::bid);
    types.add().md_entry_type(fix::MDEntryType::offer);
    auto instruments = request.no_related_sym(quotes.size());
    for (const Quote& quote : quotes) instruments.add().symbol(quote.symbol);
    if (!request.send()) say("not sent: " + request.why());
  }

  // The acceptor answers with one snapshot for each instrument.
  void on(nfx::SessionHandle& session, const fix::MarketDataRequest& request) {
    for (const auto instrument : request.no_related_sym()) {
      const auto* const quote = std::ranges::find(quotes, instrument.symbol(), &Quote::symbol);
      if (quote == quotes.end()) {
        auto reject = session.create<fix::MarketDataRequestReject>();
        reject.md_req_id(request.md_req_id()).md_req_rej_reason(fix::MDReqRejReason::unknown_symbol);
        reject.text(instrument.symbol());
        if (!reject.send()) say("not sent: " + reject.why());
        continue;
      }
      auto snapshot = session.create<fix::MarketDataSnapshotFullRefresh>();
      snapshot.md_req_id(request.md_req_id()).symbol(quote->symbol);
      auto entries = snapshot.no_md_entries(request.no_md_entry_types().size());
      for (const auto wanted : request.no_md_entry_types()) {
        auto entry = entries.add();  // begins with its first field, the others follow in the dictionary's order
        entry.md_entry_type(wanted.md_entry_type());
        entry.md_entry_px(wanted.md_entry_type() == fix::MDEntryType::bid ? quote->bid : quote->offer);
      }
      if (!snapshot.send()) say("not sent: " + snapshot.why());
    }
  }

  // The initiator prints each book. With the last one it buys the first instrument and sells the second in one order.
  void on(nfx::SessionHandle& session, const fix::MarketDataSnapshotFullRefresh& snapshot) {
    for (const auto entry : snapshot.no_md_entries()) {
      const fix::MDEntryType type = entry.md_entry_type().value_or(fix::MDEntryType::trade);
      say(std::string{snapshot.symbol()} + " " + std::string{to_text(type)} + " " + text(entry.md_entry_px()));
    }
    if (snapshot.symbol() != quotes.back().symbol) return;
    auto order = session.create<fix::NewOrderMultileg>();
    order.cl_ord_id("spread-1").side(fix::Side::as_defined).ord_type(fix::OrdType::market);
    order.order_qty(10).transact_time(session.now().utc);
    auto legs = order.no_legs(2);
    for (const char side : {'1', '2'}) {  // LegSide(624) has Side's values, but the dictionary does not list them
      auto leg = legs.add();
      leg.leg_symbol(side == '1' ? "ALFA" : "BETA").leg_ratio_qty(1).leg_side(side);
      auto allocs = leg.no_leg_allocs(2);  // a group in a group: its entries follow before the leg goes on
      allocs.add().leg_alloc_account("pension").leg_alloc_qty(7);
      allocs.add().leg_alloc_account("growth").leg_alloc_qty(3);
      leg.no_nested_party_ids(1).add().nested_party_id("CLEARER").nested_party_id_source('D').nested_party_role(4);
    }
    if (!order.send()) say("not sent: " + order.why());
  }

  // The acceptor prints the order and confirms it.
  nfx::Sent on(nfx::SessionHandle& session, const fix::NewOrderMultileg& order) {
    for (const auto leg : order.no_legs()) {
      say(std::string{leg.leg_symbol()} + " side " + leg.leg_side().value_or('?') + ", ratio " +
          text(leg.leg_ratio_qty()));
      for (const auto alloc : leg.no_leg_allocs())
        say("  " + text(alloc.leg_alloc_qty()) + " for " + std::string{alloc.leg_alloc_account()});
      for (const auto party : leg.no_nested_party_ids()) say("  cleared by " + std::string{party.nested_party_id()});
    }
    auto report = session.create<fix::ExecutionReport>();
    report.order_id("1").exec_id("1").exec_type(fix::ExecType::new_).ord_status(fix::OrdStatus::new_);
    report.cl_ord_id(order.cl_ord_id()).side(order.side());
    report.leaves_qty(order.order_qty()).cum_qty(0).avg_px(0);
    return report.send_or_reject(order);
  }

  void on(nfx::SessionHandle&, const fix::ExecutionReport& report) {
    say("confirmed: " + std::string{report.cl_ord_id()});
  }

  static std::string text(const std::expected<nfx::Decimal, nfx::FieldError>& value) {
    return value ? to_string(*value) : "none";
  }
  static void say(std::string_view line) { std::cout << line << std::endl; }
};

int main(int argc, char** argv) { return nfx::run<Groups>(argc, argv); }
