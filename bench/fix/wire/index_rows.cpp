// One pass over each message: every field's tag, offset and length, BodyLength and CheckSum verified. Compared with the
// baseline, which only sums the bytes, and with QuickFIX.
#include <cmath>

#include "nexusfix/wire/message_view.hpp"
#include "wire/rows.hpp"

namespace nfx::bench {
namespace {

Row floor_row(const Inputs& inputs, Kind kind, const kernels::KernelTable& table) {
  const Corpus& corpus = inputs.of(kind);
  Row row;
  row.section = section_of(corpus);
  row.name = std::string{"floor: sum of bytes, "} + table.name;
  row.bytes_per_item = corpus.mean_size();
  row.prepare = [&table] { kernels::use_kernels(table); };
  row.run = [&corpus](Order order) {
    const auto check_sum = kernels::kernels().check_sum;
    std::uint64_t sum = 0;
    for (const std::uint32_t i : order) sum += check_sum(corpus[i].data(), corpus[i].size());
    return sum;
  };
  row.check = [&corpus](std::uint32_t i) {
    unsigned sum = 0;
    for (const char c : corpus[i]) sum += static_cast<unsigned char>(c);
    return std::optional<std::uint64_t>{sum % 256};
  };
  return row;
}

bool equals_plain_reading(const MessageView& view, const PlainMessage& plain) {
  if (view.size() != plain.size()) return false;
  for (std::uint32_t i = 0; i < view.size(); ++i) {
    const Field field = view[i];
    if (value(field.tag) != plain[i].tag || view.offset_at(i) != plain[i].offset || field.value != plain[i].text) {
      return false;
    }
  }
  return true;
}

Row index_row(const Inputs& inputs, Kind kind, const kernels::KernelTable& table) {
  const Corpus& corpus = inputs.of(kind);
  const auto view = std::make_shared<MessageView>();
  Row row;
  row.section = section_of(corpus);
  row.name = std::string{"NexusFIX index, "} + table.name;
  row.bytes_per_item = corpus.mean_size();
  row.prepare = [&table] { kernels::use_kernels(table); };
  row.run = [&corpus, view](Order order) {
    MessageView& message = *view;
    std::uint64_t fields = 0;
    for (const std::uint32_t i : order) {
      if (message.parse(corpus[i]) == WireError::none) fields += message.size();
    }
    return fields;
  };
  row.check = [&inputs, kind, view](std::uint32_t i) -> std::optional<std::uint64_t> {
    const PlainMessage& plain = inputs.plain_of(kind)[i];
    if (view->parse(inputs.of(kind)[i]) != WireError::none || !equals_plain_reading(*view, plain)) return {};
    return plain.size();
  };
  return row;
}

}  // namespace

std::string section_of(const Corpus& corpus) {
  return std::string{to_string(corpus.kind)} + ", " + std::to_string(std::lround(corpus.mean_size())) + " bytes";
}

Group index_group(const Inputs& inputs) {
  Group group{"index", "all fields found, BodyLength and CheckSum verified", corpus_messages, true, {}};
  for (const Kind kind : {Kind::execution_report, Kind::new_order_single, Kind::market_data, Kind::heartbeat}) {
    for (const auto* table : all_kernels()) group.rows.push_back(floor_row(inputs, kind, *table));
    for (const auto* table : all_kernels()) group.rows.push_back(index_row(inputs, kind, *table));
    add_quickfix_index_rows(group.rows, inputs, kind);
  }
  return group;
}

}  // namespace nfx::bench
