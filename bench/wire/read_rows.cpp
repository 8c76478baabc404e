// The index, and then what a handler reads: eight typed fields of an order or report, three of each market data entry.
#include "wire/read_rows.hpp"

#include "wire/rows.hpp"

namespace nfx::bench {
namespace {

using Read = std::uint64_t (*)(const MessageView&) noexcept;

// A template on the reading function, so that it is compiled into the loop as it would be into a handler.
template <Read read>
Row read_row(const Inputs& inputs, Kind kind, const kernels::KernelTable& table) {
  const Corpus& corpus = inputs.of(kind);
  const auto view = std::make_shared<MessageView>();
  Row row;
  row.section = section_of(corpus);
  row.name = std::string{"NexusFIX index + reads, "} + table.name;
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
  add_index_peer_read_rows(group.rows, inputs, Kind::execution_report);
  add_quickfix_read_rows(group.rows, inputs, Kind::execution_report);
  for (const auto* table : all_kernels()) {
    group.rows.push_back(read_row<read_order>(inputs, Kind::new_order_single, *table));
  }
  add_index_peer_read_rows(group.rows, inputs, Kind::new_order_single);
  add_quickfix_read_rows(group.rows, inputs, Kind::new_order_single);
  for (const auto* table : all_kernels()) {
    group.rows.push_back(read_row<read_entries>(inputs, Kind::market_data, *table));
  }
  add_index_peer_read_rows(group.rows, inputs, Kind::market_data);
  add_quickfix_read_rows(group.rows, inputs, Kind::market_data);
  return group;
}

}  // namespace nfx::bench
