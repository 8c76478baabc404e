// Databento Binary Encoding (DBN), versions 1 to 3: bytes in, events out. The market-by-order records become events;
// records of other types are counted by type and left out.
// Thread: one owner. Cost: some ns a record, read in place; only a record that two chunks share is copied. It allocates
// for the metadata alone. Lifetime: a chunk is borrowed for the call.
// Errors: the first one ends the reading: DbnError gives what is wrong and at which byte of the input. Bounds: metadata
// of DbnReader::max_metadata bytes; a record has at most 1020 bytes.
//
//   input   "DBN" version(1) length(4) metadata(length), then records
//   record  length in words(1) type(1) publisher(2) instrument(4) event time(8) fields(4 * length - 16)
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/market/event.hpp"

namespace nfx::market {

enum class DbnProblem : std::uint8_t {
  none,
  not_dbn,           // does not begin with "DBN"
  unknown_version,   // not 1, 2 or 3
  metadata_length,   // shorter than its fixed part, or beyond max_metadata
  metadata_content,  // a list in it has more than its length allows
  record_length,     // shorter than a record header, or than the fields of its type
  truncated,         // the input ends within the metadata or a record
};
[[nodiscard]] std::string_view to_string(DbnProblem problem) noexcept;

struct DbnError {
  DbnProblem problem = DbnProblem::none;
  std::uint64_t offset = 0;  // of the byte at which what is wrong begins
};

// The input's description of itself.
struct DbnMetadata {
  struct Symbol {
    InstrumentId instrument;
    std::string name;
  };

  std::uint8_t version = 0;
  std::string dataset;
  std::uint16_t schema = 0;  // 0: market by order; 0xffff: mixed
  UtcTime start{};
  UtcTime end{};
  bool send_times = false;      // each record ends with a time of sending
  std::vector<Symbol> symbols;  // of the days that the input is about
};

// The type of a record, as DBN numbers it, and its name.
struct DbnRecordType {
  std::uint8_t type;
  std::string_view name;
};
[[nodiscard]] std::span<const DbnRecordType> dbn_record_types() noexcept;

class DbnReader {
 public:
  static constexpr std::size_t max_metadata = std::size_t{64} << 20;
  static constexpr std::uint8_t by_order = 0xA0;  // the type of the records that become events

  // Reads the next bytes of the input. Calls `sink(const Event&)` for each record by order; the event is valid until
  // the next one. A sink may also have `expect(InstrumentId, OrderId, Side, Price)`, called some records earlier with
  // the probable subject of a record, so that it can prefetch. `other(std::span<const std::byte>)`, if there is one, is
  // called with each record of another type; nexusfix/market/dbn_layout.hpp has its fields. If the sink returns false,
  // reading stops after it, and this reader reads no further. False: it stopped, or error() is set.
  template <class Sink>
  bool read(std::span<const std::byte> chunk, Sink&& sink) {
    const std::byte* bytes = chunk.data();
    const std::byte* const end = bytes + chunk.size();
    if (!in_records_ || partial_size_ != 0) [[unlikely]] {
      const Begin begin = read_beginning(bytes, end, sink);
      if (begin != Begin::records) return begin == Begin::needs_more;
    }
    // Whole records, in place.
    while (end - bytes >= header_size) {
      const std::size_t size = record_size(bytes);
      if (size > static_cast<std::size_t>(end - bytes)) break;
      if constexpr (requires { sink.expect(InstrumentId{}, OrderId{}, Side{}, Price{}); }) {
        // Records of one type have one size, mostly.
        const std::size_t ahead = size * records_ahead;
        if (static_cast<std::size_t>(end - bytes) >= ahead + by_order_size) {
          sink.expect(
              InstrumentId{load<std::uint32_t>(bytes + ahead + 4)}, OrderId{load<std::uint64_t>(bytes + ahead + 16)},
              sides[std::to_integer<std::size_t>(bytes[ahead + 39])], Price{load<std::int64_t>(bytes + ahead + 24)});
        }
      }
      if (!take_record(bytes, size, sink)) return false;
      bytes += size;
    }
    keep_partial(bytes, end);
    return true;
  }

  // The input has ended. False: within a record or the metadata, or error() was set before.
  bool finish() noexcept;

  [[nodiscard]] const DbnError& error() const noexcept { return error_; }
  // The metadata before the first record. Empty until all of it was read.
  [[nodiscard]] const std::optional<DbnMetadata>& metadata() const noexcept { return metadata_; }

  // Records read, by type, including records by order.
  [[nodiscard]] std::uint64_t records(std::uint8_t type) const noexcept { return records_[type]; }
  // Records by order with an action that DBN does not define; they are events of EventKind::none.
  [[nodiscard]] std::uint64_t unknown_actions() const noexcept { return unknown_actions_; }
  // The offset of the byte after the last whole record.
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }

 private:
  static constexpr std::ptrdiff_t header_size = 16;
  static constexpr std::size_t by_order_size = 56;
  static constexpr std::size_t records_ahead = 16;
  static constexpr std::size_t max_record = 255 * 4;
  static constexpr std::size_t prelude_size = 8;

  template <class T>
  [[nodiscard]] static T load(const std::byte* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    if constexpr (std::endian::native == std::endian::big && sizeof(T) > 1) value = std::byteswap(value);
    return value;
  }

  [[nodiscard]] static std::size_t record_size(const std::byte* record) noexcept {
    return std::to_integer<std::size_t>(record[0]) * 4;
  }

  enum class Begin : std::uint8_t { records, needs_more, stopped };

  // Reads the start of a chunk before its whole records: metadata, or the rest of a record that the chunk before began.
  // `bytes` is then where the whole records begin.
  template <class Sink>
  Begin read_beginning(const std::byte*& bytes, const std::byte* end, Sink& sink) {
    if (error_.problem != DbnProblem::none) return Begin::stopped;
    if (!in_records_) return read_metadata(bytes, end);
    if (!complete_partial(bytes, end, header_size)) return Begin::needs_more;
    const std::size_t size = record_size(partial_.data());
    if (!complete_partial(bytes, end, size)) return Begin::needs_more;
    partial_size_ = 0;
    return take_record(partial_.data(), size, sink) ? Begin::records : Begin::stopped;
  }

  template <class Sink>
  bool take_record(const std::byte* record, std::size_t size, Sink& sink) {
    const auto type = std::to_integer<std::uint8_t>(record[1]);
    const std::size_t least = type == by_order ? by_order_size : static_cast<std::size_t>(header_size);
    if (size < least) [[unlikely]]
      return fail(DbnProblem::record_length, offset_);
    ++records_[type];
    offset_ += size;
    if (type != by_order) {
      if constexpr (requires { sink.other(std::span<const std::byte>{}); }) sink.other(std::span{record, size});
      return true;
    }
    fill_event(record);
    return sink(std::as_const(event_));
  }

  // Each field once and in place: a copy of the event would wait for these stores.
  void fill_event(const std::byte* record) noexcept {
    Event& event = event_;
    event.order = OrderId{load<std::uint64_t>(record + 16)};
    event.price = Price{load<std::int64_t>(record + 24)};
    event.quantity = load<std::uint32_t>(record + 32);
    event.event_time = time_of(record + 8);
    event.receive_time = time_of(record + 40);
    event.sequence = load<std::uint32_t>(record + 52);
    event.instrument = InstrumentId{load<std::uint32_t>(record + 4)};
    event.flags = std::to_integer<std::uint8_t>(record[36]);
    event.kind = kind_of(record[38]);
    event.side = sides[std::to_integer<std::size_t>(record[39])];
  }

  // A time that is not defined, 2^64 - 1, is the nanosecond before 1970.
  [[nodiscard]] static UtcTime time_of(const std::byte* from) noexcept {
    return UtcTime{Duration{load<std::int64_t>(from)}};
  }

  // By table, because a branch on what comes next in a market is often mispredicted.
  static constexpr std::uint8_t unknown = 0x80;  // with EventKind::none
  static constexpr std::array<std::uint8_t, 256> kinds = [] {
    std::array<std::uint8_t, 256> table{};
    table.fill(unknown | std::to_underlying(EventKind::none));
    table['A'] = std::to_underlying(EventKind::add);
    table['C'] = std::to_underlying(EventKind::cancel);
    table['M'] = std::to_underlying(EventKind::modify);
    table['T'] = std::to_underlying(EventKind::trade);
    table['F'] = std::to_underlying(EventKind::fill);
    table['R'] = std::to_underlying(EventKind::clear);
    table['N'] = std::to_underlying(EventKind::none);
    return table;
  }();
  static constexpr std::array<Side, 256> sides = [] {
    std::array<Side, 256> table{};
    table.fill(Side::none);
    table['B'] = Side::bid;
    table['A'] = Side::ask;
    return table;
  }();

  [[nodiscard]] EventKind kind_of(std::byte action) noexcept {
    const std::uint8_t kind = kinds[std::to_integer<std::size_t>(action)];
    unknown_actions_ += kind / unknown;
    return static_cast<EventKind>(kind % unknown);
  }

  Begin read_metadata(const std::byte*& bytes, const std::byte* end);
  bool parse_metadata();
  bool parse_lists(std::size_t symbol_size, std::size_t at);
  // The record at the edge of two chunks.
  void keep_partial(const std::byte* bytes, const std::byte* end) noexcept;
  [[nodiscard]] bool complete_partial(const std::byte*& bytes, const std::byte* end, std::size_t size) noexcept;
  bool fail(DbnProblem problem, std::uint64_t offset) noexcept;

  bool in_records_ = false;
  std::array<std::byte, max_record> partial_;  // a record that the next chunk continues
  std::size_t partial_size_ = 0;
  Event event_;
  std::vector<std::byte> head_;  // what precedes the records, until it is whole
  std::uint64_t offset_ = 0;
  std::array<std::uint64_t, 256> records_{};
  std::uint64_t unknown_actions_ = 0;
  DbnError error_;
  std::optional<DbnMetadata> metadata_;
};

}  // namespace nfx::market
