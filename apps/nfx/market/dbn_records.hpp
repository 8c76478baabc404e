// DBN records other than those by order: what a file has of them by type and instrument, and their fields as CSV.
// Thread: one owner. Cost: a look-up in a map per record. Errors: none. Bounds: most_rows types of instruments are told
// apart; records of further ones count for their type alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "market/dbn_layout.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/market/event.hpp"
#include "observe/print.hpp"

namespace nfx::app::market {

class MarketFile;

// "ohlcv-1s"; of a type that DBN does not define "type 0x99".
[[nodiscard]] std::string record_type_name(std::uint8_t type);
// Throws UsageError, with the names that there are.
[[nodiscard]] std::uint8_t record_type_of(const std::string& name);

// The trades of an instrument, or its bars.
struct TradedRange {
  std::uint64_t size = 0;
  nfx::market::Price first{}, last{};
  nfx::market::Price low{std::numeric_limits<std::int64_t>::max()};
  nfx::market::Price high{std::numeric_limits<std::int64_t>::min()};

  [[nodiscard]] bool exists() const noexcept { return low <= high; }
  void add(std::int64_t price) noexcept;
};

struct RecordCount {
  std::uint64_t records = 0;
  UtcTime first{UtcTime::max()}, last{UtcTime::min()};  // of event times
  TradedRange traded;

  [[nodiscard]] bool timed() const noexcept { return first <= last; }
  void add(std::span<const std::byte> record) noexcept;
};

class RecordTally {
 public:
  static constexpr std::size_t most_rows = 100'000;

  void add(std::span<const std::byte> record);

  [[nodiscard]] bool empty() const noexcept { return types_.empty(); }
  // Of each type the sum, then its instruments with the most records.
  void append_text(SafeText& out, const MarketFile& file) const;
  // "\"records\": {...}", of all instruments.
  void append_json(SafeText& out, const MarketFile& file) const;

 private:
  std::map<std::uint8_t, RecordCount> types_;
  std::map<std::pair<std::uint8_t, std::uint32_t>, RecordCount> rows_;
};

// A name that would end its field is quoted.
void append_csv_text(std::string& out, std::string_view text);

// Records of one type as lines, under the names that DBN has for its fields.
class RecordLines {
 public:
  explicit RecordLines(std::uint8_t type) : type_(type) {}

  // False: it is of another type, or of a size that no version of DBN has.
  [[nodiscard]] bool add(std::span<const std::byte> record, const MarketFile& file, std::string& out);

 private:
  const std::uint8_t type_;
  const nfx::market::DbnLayout* layout_ = nullptr;  // of the first record, which the heading is of
};

}  // namespace nfx::app::market
