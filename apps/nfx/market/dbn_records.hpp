// DBN records other than events by order: counts them by type and instrument, and writes their fields as CSV.
// Thread: one owner. Cost: a look-up in a map per record. Errors: none. Bounds: distinguishes most_rows pairs of type
// and instrument; further records count only for their type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "log/print.hpp"
#include "market/dbn_layout.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/market/event.hpp"

namespace nfx::app::market {

class MarketFile;

// "ohlcv-1s"; for a type that DBN does not define "type 0x99".
[[nodiscard]] std::string record_type_name(std::uint8_t type);
// Throws UsageError, which lists the existing names.
[[nodiscard]] std::uint8_t record_type_of(const std::string& name);

// The range of an instrument's trades, or of its bars.
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
  // For each type the sum, then its instruments with the most records.
  void append_text(SafeText& out, const MarketFile& file) const;
  // By type, with all instruments.
  [[nodiscard]] nlohmann::ordered_json json(const MarketFile& file) const;

 private:
  std::map<std::uint8_t, RecordCount> types_;
  std::map<std::pair<std::uint8_t, std::uint32_t>, RecordCount> rows_;
};

// Quotes a name that contains a delimiter.
void append_csv_text(std::string& out, std::string_view text);

// Writes records of one type as lines, with DBN's names for the fields.
class RecordLines {
 public:
  explicit RecordLines(std::uint8_t type) : type_(type) {}

  // False if it has another type, or a size that no version of DBN uses.
  [[nodiscard]] bool add(std::span<const std::byte> record, const MarketFile& file, std::string& out);

 private:
  const std::uint8_t type_;
  const nfx::market::DbnLayout* layout_ = nullptr;  // layout of the first record, which the heading describes
};

}  // namespace nfx::app::market
