// The metadata of DBN, and what happens at the edges of chunks.
#include "nexusfix/market/dbn.hpp"

#include <algorithm>
#include <charconv>

#include "market/partial_bytes.hpp"

namespace nfx::market {
namespace {

constexpr std::size_t dataset_size = 16;
constexpr std::size_t fixed_size = 100;  // of the metadata, in all versions
constexpr std::size_t symbol_size_v1 = 22;
constexpr std::size_t date_size = 4;
constexpr std::size_t count_size = 4;

constexpr std::array record_types{
    DbnRecordType{0x00, "trades"},    DbnRecordType{0x01, "mbp-1"},      DbnRecordType{0x0A, "mbp-10"},
    DbnRecordType{0x11, "ohlcv"},     DbnRecordType{0x12, "status"},     DbnRecordType{0x13, "definition"},
    DbnRecordType{0x14, "imbalance"}, DbnRecordType{0x15, "error"},      DbnRecordType{0x16, "symbol-mapping"},
    DbnRecordType{0x17, "system"},    DbnRecordType{0x18, "statistics"}, DbnRecordType{0x20, "ohlcv-1s"},
    DbnRecordType{0x21, "ohlcv-1m"},  DbnRecordType{0x22, "ohlcv-1h"},   DbnRecordType{0x23, "ohlcv-1d"},
    DbnRecordType{0x24, "ohlcv-eod"}, DbnRecordType{0xA0, "mbo"},        DbnRecordType{0xB1, "cmbp-1"},
    DbnRecordType{0xC0, "cbbo-1s"},   DbnRecordType{0xC1, "cbbo-1m"},    DbnRecordType{0xC2, "tcbbo"},
    DbnRecordType{0xC3, "bbo-1s"},    DbnRecordType{0xC4, "bbo-1m"},     DbnRecordType{0xC5, "tbbo"},
};

// A text in a field of fixed size, which zeros fill.
std::string text_of(std::span<const std::byte> field) {
  const auto end = std::ranges::find(field, std::byte{0});
  return {reinterpret_cast<const char*>(field.data()), static_cast<std::size_t>(end - field.begin())};
}

}  // namespace

std::string_view to_string(DbnProblem problem) noexcept {
  switch (problem) {
    case DbnProblem::none: return "no problem";
    case DbnProblem::not_dbn: return "is not DBN: it does not begin with \"DBN\"";
    case DbnProblem::unknown_version: return "has a version of DBN other than 1, 2 and 3";
    case DbnProblem::metadata_length: return "has metadata of an impossible length";
    case DbnProblem::metadata_content: return "has a list in its metadata that is longer than the metadata";
    case DbnProblem::record_length: return "has a record that is shorter than its type requires";
    case DbnProblem::truncated: return "ends within a record or the metadata";
  }
  return "unknown";
}

std::span<const DbnRecordType> dbn_record_types() noexcept { return record_types; }

bool DbnReader::fail(DbnProblem problem, std::uint64_t offset) noexcept {
  error_ = {problem, offset};
  in_records_ = false;
  return false;
}

void DbnReader::keep_partial(const std::byte* bytes, const std::byte* end) noexcept {
  partial_size_ = market::keep_partial(partial_, bytes, end);
}

bool DbnReader::complete_partial(const std::byte*& bytes, const std::byte* end, std::size_t size) noexcept {
  return market::complete_partial(partial_, partial_size_, bytes, end, size);
}

bool DbnReader::finish() noexcept {
  if (error_.problem != DbnProblem::none) return false;
  if (!in_records_ || partial_size_ != 0) return fail(DbnProblem::truncated, offset_);
  return true;
}

// Collects the bytes before the records until they are complete.
DbnReader::Begin DbnReader::read_metadata(const std::byte*& bytes, const std::byte* end) {
  const auto collect = [&](std::size_t size) {
    const std::size_t count = std::min(size - head_.size(), static_cast<std::size_t>(end - bytes));
    head_.insert(head_.end(), bytes, bytes + count);
    bytes += count;
    return head_.size() == size;
  };
  if (head_.size() < prelude_size) {
    const bool whole = collect(prelude_size);
    constexpr std::array magic{std::byte{'D'}, std::byte{'B'}, std::byte{'N'}};
    const std::size_t seen = std::min(head_.size(), magic.size());
    if (!std::equal(head_.begin(), head_.begin() + static_cast<std::ptrdiff_t>(seen), magic.begin())) {
      fail(DbnProblem::not_dbn, 0);
      return Begin::stopped;
    }
    if (!whole) return Begin::needs_more;
    const auto version = std::to_integer<std::uint8_t>(head_[3]);
    const auto length = load<std::uint32_t>(&head_[4]);
    if (version < 1 || version > 3) {
      fail(DbnProblem::unknown_version, 3);
      return Begin::stopped;
    }
    if (length < fixed_size || length > max_metadata) {
      fail(DbnProblem::metadata_length, 4);
      return Begin::stopped;
    }
  }
  const std::size_t size = prelude_size + load<std::uint32_t>(&head_[4]);
  if (head_.size() < size && !collect(size)) return Begin::needs_more;
  if (!parse_metadata()) return Begin::stopped;
  offset_ = size;
  in_records_ = true;
  head_ = {};
  return Begin::records;
}

//   version 1       dataset(16) schema(2) start(8) end(8) limit(8) records(8) in(1) out(1) send times(1) reserved(47)
//   versions 2, 3   dataset(16) schema(2) start(8) end(8) limit(8) in(1) out(1) send times(1) symbol size(2)
//   reserved(53)
bool DbnReader::parse_metadata() {
  const std::byte* const fields = head_.data() + prelude_size;
  DbnMetadata metadata;
  metadata.version = std::to_integer<std::uint8_t>(head_[3]);
  metadata.dataset = text_of({fields, dataset_size});
  metadata.schema = load<std::uint16_t>(fields + 16);
  metadata.start = time_of(fields + 18);
  metadata.end = time_of(fields + 26);
  const std::byte* const types = fields + (metadata.version == 1 ? 50 : 42);
  metadata.send_times = types[2] != std::byte{0};
  const std::size_t symbol_size = metadata.version == 1 ? symbol_size_v1 : load<std::uint16_t>(types + 3);
  metadata_ = std::move(metadata);
  if (parse_lists(symbol_size, prelude_size + fixed_size)) return true;
  metadata_.reset();
  return false;
}

//   schema definition: size(4) bytes; symbols, partial, not found: count(4) texts; mappings: count(4), each
//   text, count(4) intervals, each first day(4) last day(4) text
bool DbnReader::parse_lists(std::size_t symbol_size, std::size_t at) {
  const std::size_t end = head_.size();
  // Steps over `count` parts of `size` bytes, if the input has them.
  const auto skip = [&](std::uint64_t count, std::size_t size) {
    if (size != 0 && count > (end - at) / size) return false;
    at += static_cast<std::size_t>(count) * size;
    return true;
  };
  const auto text_at = [&](std::size_t place) { return text_of({&head_[0] + place, symbol_size}); };
  const auto bad = [&] { return fail(DbnProblem::metadata_content, at); };
  for (std::size_t list = 0; list < 4; ++list) {  // the first one is of bytes
    if (end - at < count_size) return bad();
    const auto count = load<std::uint32_t>(&head_[at]);
    at += count_size;
    if (!skip(count, list == 0 ? 1 : symbol_size)) return bad();
  }
  if (end - at < count_size) return bad();
  const auto mappings = load<std::uint32_t>(&head_[at]);
  at += count_size;
  for (std::uint32_t i = 0; i < mappings; ++i) {
    if (end - at < symbol_size + count_size) return bad();
    const std::string name = text_at(at);
    const auto intervals = load<std::uint32_t>(&head_[at + symbol_size]);
    at += symbol_size + count_size;
    const std::size_t first = at, interval_size = 2 * date_size + symbol_size;
    if (!skip(intervals, interval_size)) return bad();
    for (std::uint32_t k = 0; k < intervals; ++k) {
      // By default a symbol is mapped to an instrument's number.
      const std::string number = text_at(first + k * interval_size + 2 * date_size);
      std::uint32_t id = 0;
      const auto [rest, status] = std::from_chars(number.data(), number.data() + number.size(), id);
      if (number.empty() || status != std::errc{} || rest != number.data() + number.size()) continue;
      metadata_->symbols.push_back({InstrumentId{id}, name});
    }
  }
  return true;
}

}  // namespace nfx::market
