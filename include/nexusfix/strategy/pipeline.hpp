// Events to orders: several models, chosen when the program is compiled, each called after every step of the exchange.
// Their intents pass the risk gate and become orders of the order table.
// Thread: one owner. Cost: as the models, and for an intent the gate and the table; no allocation after construction.
// Time is an argument. Errors: a request that is not sent is reported to its model as refused, and counted.
//
// The sink is called for requests that may leave: bool(const Intent&, const OwnOrder&). It encodes and sends, and
// returns whether it could. The request's number is OwnOrder::request().
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "nexusfix/base/call_hook.hpp"
#include "nexusfix/strategy/intent.hpp"
#include "nexusfix/strategy/risk_gate.hpp"

namespace nfx::strategy {

struct PipelineOptions {
  RiskLimits risk;
  std::vector<InstrumentLimits> instruments;  // by InstrumentIndex
  std::uint32_t orders = 256;                 // open at the same time
  std::uint64_t first_number = 1;             // see OwnOrdersOptions
};

// Reads no book and sends nothing: for measuring a program without orders.
struct NoModel {
  template <class Book>
  std::optional<Intent> on(const Book&, const Event&) noexcept {
    return std::nullopt;
  }
};

// A model that sees one instrument of a feed with many.
template <class M>
class OnlyFor {
 public:
  OnlyFor(market::InstrumentId instrument, M model) : instrument_(instrument), model_(std::move(model)) {}

  template <class Book>
    requires Model<M, Book>
  std::optional<Intent> on(const Book& book, const Event& event) noexcept {
    if (event.instrument != instrument_) return std::nullopt;
    return model_.on(book, event);
  }
  void report(const Report& report) noexcept {
    if constexpr (requires { model_.report(report); }) model_.report(report);
  }

 private:
  market::InstrumentId instrument_;
  M model_;
};

template <class... Models>
class Pipeline {
  static_assert(sizeof...(Models) >= 1 && sizeof...(Models) <= max_models);

 public:
  explicit Pipeline(const PipelineOptions& options, Models... models)
      : gate_(options.risk, options.instruments),
        orders_({.instruments = static_cast<std::uint32_t>(options.instruments.size()),
                 .orders = options.orders,
                 .first_number = options.first_number}),
        models_(std::move(models)...) {}

  // An event that the book has applied, of the instrument at `index`. Models see it when the exchange's step is
  // complete.
  template <ReadableBook Book, class Sink>
    requires(Model<Models, Book> && ...)
  void on(const Book& book, InstrumentIndex index, const Event& event, market::FeedState feed, Instant now,
          Sink&& sink) {
    trace_call();
    if (!event.last()) return;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (ask<I>(book, index, event, feed, now, sink), ...);
    }(std::index_sequence_for<Models...>{});
  }

  // The venue's report about an order, as order_messages.hpp reads it. The order's model sees it.
  void report(const OwnOrders::VenueReport& venue) noexcept {
    const auto seen = orders_.apply(venue);
    if (seen) return tell(*seen);
    if (venue.kind == ReportKind::filled) gate_.unknown_fill();
  }

  // Requests the cancel of every open order, for a book that became stale, or after kill(). Those with a change on
  // its way are left: call it again until open_orders() is 0.
  template <class Sink>
  void cancel_all(Instant now, Sink&& sink) {
    for (const OwnOrder& order : orders_.entries()) {
      if (!order.in_use || order.changing()) continue;
      submit({.instrument = order.instrument, .action = Action::cancel, .slot = order.slot}, order.model, {}, now,
             sink);
    }
  }

  [[nodiscard]] RiskGate& gate() noexcept { return gate_; }
  [[nodiscard]] const RiskGate& gate() const noexcept { return gate_; }
  [[nodiscard]] const OwnOrders& orders() const noexcept { return orders_; }
  template <std::size_t I>
  [[nodiscard]] const auto& model() const noexcept {
    return std::get<I>(models_);
  }

 private:
  template <std::size_t I, class Book, class Sink>
  void ask(const Book& book, InstrumentIndex index, const Event& event, market::FeedState feed, Instant now,
           Sink& sink) {
    std::optional<Intent> intent = std::get<I>(models_).on(book, event);
    if (!intent) [[likely]]
      return;
    intent->instrument = index;
    const auto bid = book.best(Side::bid), ask = book.best(Side::ask);
    const MarketView view{.feed = feed,
                          .book = book.state(),
                          .status = book.status(),
                          .bid = bid ? bid->price : Price::undefined(),
                          .ask = ask ? ask->price : Price::undefined(),
                          .received = event.receive_time,
                          .flags = event.flags};
    submit(*intent, static_cast<std::uint8_t>(I), view, now, sink);
  }

  template <class Sink>
  void submit(const Intent& intent, std::uint8_t model, const MarketView& view, Instant now, Sink& sink) {
    Refusal refusal = gate_.check(intent, model, view, orders_, now);
    if (refusal == Refusal::none) {
      const OwnOrder& order =
          intent.action == Action::place ? orders_.open(intent, model) : orders_.change(intent, model);
      if (sink(intent, order)) return gate_.count_sent(intent.action);
      orders_.take_back(order.request());
      refusal = Refusal::not_sent;
    }
    gate_.count(refusal);
    tell({.price = intent.price,
          .quantity = intent.quantity,
          .instrument = intent.instrument,
          .kind = ReportKind::refused,
          .side = intent.side,
          .action = intent.action,
          .model = model,
          .slot = intent.slot});
  }

  void tell(const Report& report) noexcept {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (tell_one<I>(report), ...);
    }(std::index_sequence_for<Models...>{});
  }
  template <std::size_t I>
  void tell_one(const Report& report) noexcept {
    auto& model = std::get<I>(models_);
    if constexpr (requires { model.report(report); }) {
      if (report.model == I) model.report(report);
    }
  }

  RiskGate gate_;
  OwnOrders orders_;
  std::tuple<Models...> models_;
};

}  // namespace nfx::strategy
