// Indexes a message and reads fields like a handler: eight typed fields of an order or report, three of each market
// data entry.
#include "wire/read_rows.hpp"

#include <nexusfix/fix44/execution_report.hpp>
#include <nexusfix/fix44/header.hpp>
#include <nexusfix/fix44/new_order_single.hpp>

#include "wire/rows.hpp"

namespace nfx::bench {
namespace {

using Read = std::uint64_t (*)(const MessageView&) noexcept;

// The same eight with the typed messages.

template <typename Value>
[[gnu::always_inline]] inline void add_decimal(Fold& fold, std::size_t place, const Value& value) noexcept {
  value ? fold.decimal(place, value->mantissa(), value->scale()) : fold.unreadable(place);
}
template <typename Value>
[[gnu::always_inline]] inline void add_character(Fold& fold, std::size_t place, const Value& value) noexcept {
  value ? fold.character(place, static_cast<char>(*value)) : fold.unreadable(place);
}
[[gnu::always_inline]] inline void add_text(Fold& fold, std::size_t place, std::string_view value) noexcept {
  fold.text(place, value.data(), value.size());
}
template <typename Message>
[[gnu::always_inline]] inline void add_number_and_time(Fold& fold, const Message& message) noexcept {
  const auto number = fix44::Header{message.view()}.msg_seq_num();
  number ? fold.integer(0, static_cast<std::int64_t>(value(*number))) : fold.unreadable(0);
  const auto time = message.transact_time();
  time ? fold.integer(7, time->time.time_since_epoch().count()) : fold.unreadable(7);
}

std::uint64_t read_typed_report(const MessageView& view) noexcept {
  const fix44::ExecutionReport report{view};
  Fold fold;
  add_number_and_time(fold, report);
  add_text(fold, 1, report.cl_ord_id());
  add_character(fold, 2, report.exec_type());
  add_decimal(fold, 3, report.order_qty());
  add_decimal(fold, 4, report.price());
  add_decimal(fold, 5, report.last_qty());
  add_decimal(fold, 6, report.last_px());
  return fold.sum();
}

std::uint64_t read_typed_order(const MessageView& view) noexcept {
  const fix44::NewOrderSingle order{view};
  Fold fold;
  add_number_and_time(fold, order);
  add_text(fold, 1, order.cl_ord_id());
  add_text(fold, 2, order.symbol());
  add_character(fold, 3, order.side());
  add_character(fold, 4, order.ord_type());
  add_decimal(fold, 5, order.order_qty());
  add_decimal(fold, 6, order.price());
  return fold.sum();
}

// A template on the reading function, so that it is inlined into the loop as in a handler.
template <Read read>
Row read_row(const Inputs& inputs, Kind kind, const kernels::KernelTable& table, const char* name = "index + reads") {
  const Corpus& corpus = inputs.of(kind);
  const auto view = std::make_shared<MessageView>();
  Row row;
  row.section = section_of(corpus);
  row.name = std::string{"NexusFIX "} + name + ", " + table.name;
  row.bytes_per_item = corpus.mean_size();
  row.prepare = [&table] { kernels::use_kernels(table); };
  row.run = [&corpus, view](Order order) {
    MessageView& message = *view;
    std::uint64_t sum = 0;
    for (const std::uint32_t i : order) {
      if (message.parse(corpus[i]) == WireError::none) sum += read(message);
    }
    return sum;
  };
  row.check = [&inputs, kind, view](std::uint32_t i) -> std::optional<std::uint64_t> {
    const std::uint64_t expected = expected_readings(kind, inputs.plain_of(kind)[i], Prices::exact);
    if (view->parse(inputs.of(kind)[i]) != WireError::none || read(*view) != expected) return {};
    return expected;
  };
  return row;
}

}  // namespace

Group reads_group(const Inputs& inputs) {
  Group group{"reads",
              "index, then 8 typed fields (orders, reports) or 3 of each entry (market data)",
              corpus_messages,
              true,
              {}};
  for (const auto* table : all_kernels()) {
    group.rows.push_back(read_row<read_report>(inputs, Kind::execution_report, *table));
  }
  constexpr const char* typed = "index + typed messages";
  const kernels::KernelTable& best = *all_kernels().back();
  group.rows.push_back(read_row<read_typed_report>(inputs, Kind::execution_report, best, typed));
  add_quickfix_read_rows(group.rows, inputs, Kind::execution_report);
  for (const auto* table : all_kernels()) {
    group.rows.push_back(read_row<read_order>(inputs, Kind::new_order_single, *table));
  }
  group.rows.push_back(read_row<read_typed_order>(inputs, Kind::new_order_single, best, typed));
  add_quickfix_read_rows(group.rows, inputs, Kind::new_order_single);
  for (const auto* table : all_kernels()) {
    group.rows.push_back(read_row<read_entries>(inputs, Kind::market_data, *table));
  }
  add_quickfix_read_rows(group.rows, inputs, Kind::market_data);
  return group;
}

}  // namespace nfx::bench
