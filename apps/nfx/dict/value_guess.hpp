// Guesses a field's type from its values: the narrowest type that accepts all of them, and text when in doubt.
// Thread: one owner. Bounds: constant size.
#pragma once

#include <cstdint>
#include <string_view>

#include "nexusfix/dictionary/dictionary.hpp"

namespace nfx::app {

class ValueGuess {
 public:
  void see(std::string_view value) noexcept {
    if (value.empty()) return;
    ++seen_;
    // Numbers with leading zeros are more likely to be names.
    const std::string_view digits = value.substr(value.starts_with('-') ? 1 : 0);
    const bool padded = digits.size() > 1 && digits[0] == '0' && digits[1] != '.';
    integers_ = integers_ && !padded && has_format(value, FieldType::integer);
    decimals_ = decimals_ && !padded && has_format(value, FieldType::float_number);
    timestamps_ = timestamps_ && has_format(value, FieldType::utc_timestamp);
    times_ = times_ && has_format(value, FieldType::utc_time_only);
  }

  [[nodiscard]] FieldType type() const noexcept {
    if (seen_ == 0) return FieldType::string;
    if (integers_) return FieldType::integer;
    if (decimals_) return FieldType::float_number;
    if (timestamps_) return FieldType::utc_timestamp;
    return times_ ? FieldType::utc_time_only : FieldType::string;
  }

 private:
  std::uint64_t seen_ = 0;
  bool integers_ = true, decimals_ = true, timestamps_ = true, times_ = true;
};

}  // namespace nfx::app
