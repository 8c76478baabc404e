// QuickFIX's rows. QuickFIX also validates by its dictionary, which the index does not. So there is also a row without
// validation, and both comparisons are possible.
#include "wire/readings.hpp"
#include "wire/rows.hpp"

namespace nfx::bench {
namespace {

using Parse = bool (QuickFixPeer::*)(std::uint32_t) noexcept;

std::uint32_t keep_messages(QuickFixPeer& peer, const Corpus& corpus) {
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < corpus.size(); ++i) last = peer.keep_message(corpus[i].data(), corpus[i].size());
  return last + 1 - corpus.size();
}

// Compares every field of the plain reading, including those in group entries, and checks that there are no others.
bool equals_plain_reading(QuickFixPeer& peer, const PlainMessage& plain) {
  unsigned entry = 0;
  for (const PlainField& field : plain) {
    if (field.tag == 279) ++entry;
    const unsigned where = field.tag == 10 ? 0 : entry;
    if (peer.value_of(field.tag, where) != field.text) return false;
  }
  return peer.field_count() == plain.size();
}

Row parse_row(const Inputs& inputs, Kind kind, std::uint32_t first, Parse parse) {
  QuickFixPeer& peer = *inputs.quickfix;
  Row row;
  row.section = section_of(inputs.of(kind));
  row.bytes_per_item = inputs.of(kind).mean_size();
  row.run = [&peer, first, parse](Order order) {
    std::uint64_t good = 0;
    for (const std::uint32_t i : order) good += (peer.*parse)(first + i) ? 1 : 0;
    return good;
  };
  row.check = [&inputs, &peer, kind, first, parse](std::uint32_t i) -> std::optional<std::uint64_t> {
    if (!(peer.*parse)(first + i) || !equals_plain_reading(peer, inputs.plain_of(kind)[i])) return {};
    return 1;
  };
  return row;
}

std::uint64_t read_fields(QuickFixPeer& peer, Kind kind) noexcept {
  switch (kind) {
    case Kind::execution_report: return peer.read(report_readings);
    case Kind::new_order_single: return peer.read(order_readings);
    case Kind::market_data: return peer.read_entries();
    case Kind::heartbeat: return 0;
  }
  return 0;
}

Row read_row(const Inputs& inputs, Kind kind, std::uint32_t first, Parse parse) {
  QuickFixPeer& peer = *inputs.quickfix;
  Row row;
  row.section = section_of(inputs.of(kind));
  row.bytes_per_item = inputs.of(kind).mean_size();
  row.run = [&peer, kind, first, parse](Order order) {
    std::uint64_t sum = 0;
    for (const std::uint32_t i : order) {
      if ((peer.*parse)(first + i)) sum += read_fields(peer, kind);
    }
    return sum;
  };
  row.check = [&inputs, &peer, kind, first, parse](std::uint32_t i) -> std::optional<std::uint64_t> {
    const std::uint64_t expected = expected_readings(kind, inputs.plain_of(kind)[i], Prices::binary);
    if (!(peer.*parse)(first + i) || read_fields(peer, kind) != expected) return {};
    return expected;
  };
  return row;
}

// Whether the fields have the same values as in the corpus message, in any order; a price may lose trailing zeros.
bool says_the_same(const std::string& text, const PlainMessage& plain) {
  const auto encoded = read_plainly(text);
  if (!encoded || encoded->size() != plain.size()) return false;
  for (const PlainField& field : plain) {
    if (field.tag == 9 || field.tag == 10) continue;
    if (!same_value(plain_text(*encoded, field.tag), field.text)) return false;
  }
  return true;
}

using Encode = const std::string& (QuickFixPeer::*)(std::uint32_t) noexcept;

std::uint64_t fold_of(const std::string& text) noexcept {
  Fold fold;
  fold.text(0, text.data() + text.size() - 4, 3);  // the digits of CheckSum
  return fold.sum() + text.size();
}

}  // namespace

void add_quickfix_index_rows(std::vector<Row>& rows, const Inputs& inputs, Kind kind) {
  if (!inputs.quickfix) return;
  const std::uint32_t first = keep_messages(*inputs.quickfix, inputs.of(kind));
  rows.push_back(parse_row(inputs, kind, first, &QuickFixPeer::parse));
  rows.back().name = "QuickFIX parse, not validated";
  rows.push_back(parse_row(inputs, kind, first, &QuickFixPeer::parse_and_validate));
  rows.back().name = "QuickFIX";
  rows.back().baseline = true;
}

void add_quickfix_read_rows(std::vector<Row>& rows, const Inputs& inputs, Kind kind) {
  if (!inputs.quickfix) return;
  const std::uint32_t first = keep_messages(*inputs.quickfix, inputs.of(kind));
  rows.push_back(read_row(inputs, kind, first, &QuickFixPeer::parse));
  rows.back().name = "QuickFIX parse + reads, not validated";
  rows.push_back(read_row(inputs, kind, first, &QuickFixPeer::parse_and_validate));
  rows.back().name = "QuickFIX";
  rows.back().baseline = true;
}

void add_quickfix_encode_rows(std::vector<Row>& rows, const Inputs& inputs, Kind kind) {
  if (!inputs.quickfix) return;
  QuickFixPeer& peer = *inputs.quickfix;
  const Corpus& corpus = inputs.of(kind);
  std::uint32_t last = 0;
  for (const OrderValues& values : corpus.values) last = peer.keep_values(values);
  const std::uint32_t first = last + 1 - corpus.size();
  const Encode encode = kind == Kind::new_order_single ? &QuickFixPeer::encode_order : &QuickFixPeer::encode_report;
  Row row;
  row.section = section_of(corpus);
  row.name = "QuickFIX";
  row.baseline = true;
  row.bytes_per_item = corpus.mean_size();
  row.run = [&peer, first, encode](Order order) {
    std::uint64_t sum = 0;
    for (const std::uint32_t i : order) sum += fold_of((peer.*encode)(first + i));
    return sum;
  };
  row.check = [&inputs, &peer, kind, first, encode](std::uint32_t i) -> std::optional<std::uint64_t> {
    const std::string& text = (peer.*encode)(first + i);
    if (!says_the_same(text, inputs.plain_of(kind)[i])) return {};
    return fold_of(text);
  };
  rows.push_back(std::move(row));
}

}  // namespace nfx::bench
