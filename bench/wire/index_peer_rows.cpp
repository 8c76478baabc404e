// The rows of the experimental index.
#include "nexusfix/base/time.hpp"
#include "wire/index_peer.hpp"
#include "wire/rows.hpp"

namespace nfx::bench {
namespace {

std::int64_t read_time(const char* text, std::size_t size) noexcept {
  const auto time = parse_utc_timestamp({text, size});
  return time ? time->time.time_since_epoch().count() : 0;
}

PeerCorpus peer_view(const Corpus& corpus) noexcept { return {corpus.bytes.data(), corpus.offsets.data()}; }

bool equals_plain_reading(std::string_view message, const PlainMessage& plain) {
  std::array<PeerField, 512> fields{};
  const int count = index_peer_fields(message.data(), message.size(), fields.data(), static_cast<int>(fields.size()));
  if (count != static_cast<int>(plain.size())) return false;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (fields[i].tag != plain[i].tag || fields[i].offset != plain[i].offset ||
        fields[i].size != plain[i].text.size()) {
      return false;
    }
  }
  return true;
}

using Read = std::uint64_t (*)(const PeerCorpus&, PeerOrder, PeerReadTime) noexcept;

Read reader_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::execution_report: return index_peer_read_reports;
    case Kind::new_order_single: return index_peer_read_orders;
    case Kind::market_data: return index_peer_read_entries;
    case Kind::heartbeat:
    case Kind::wide: return nullptr;
  }
  return nullptr;
}

}  // namespace

void add_index_peer_rows(std::vector<Row>& rows, const Inputs& inputs, Kind kind) {
  if (!index_peer_available()) return;
  const Corpus& corpus = inputs.of(kind);
  Row row;
  row.section = section_of(corpus);
  row.name = "experimental header";
  row.bytes_per_item = corpus.mean_size();
  row.run = [&corpus](Order order) { return index_peer_count(peer_view(corpus), {order.data(), order.size()}); };
  row.check = [&inputs, kind](std::uint32_t i) -> std::optional<std::uint64_t> {
    const PlainMessage& plain = inputs.plain_of(kind)[i];
    if (!equals_plain_reading(inputs.of(kind)[i], plain)) return {};
    return plain.size();
  };
  rows.push_back(std::move(row));
}

void add_index_peer_read_rows(std::vector<Row>& rows, const Inputs& inputs, Kind kind) {
  const Read read = reader_of(kind);
  if (!index_peer_available() || read == nullptr) return;
  const Corpus& corpus = inputs.of(kind);
  Row row;
  row.section = section_of(corpus);
  row.name = "experimental header + reads";
  row.bytes_per_item = corpus.mean_size();
  row.run = [&corpus, read](Order order) { return read(peer_view(corpus), {order.data(), order.size()}, read_time); };
  row.check = [&inputs, kind, read](std::uint32_t i) -> std::optional<std::uint64_t> {
    const std::uint64_t expected = expected_readings(kind, inputs.plain_of(kind)[i], Prices::exact);
    if (read(peer_view(inputs.of(kind)), {&i, 1}, read_time) != expected) return {};
    return expected;
  };
  rows.push_back(std::move(row));
}

}  // namespace nfx::bench
