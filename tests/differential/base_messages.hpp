// The shapes of messages that every kernel must handle: messages of sessions and markets, and unusual but valid ones.
// Thread: one per generator. Cost: builds strings; used at the start, and for single fields later.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nfx::test {

class FastRandom;

class BaseMessages {
 public:
  explicit BaseMessages(FastRandom& random) noexcept : random_(random) {}

  [[nodiscard]] std::string any();
  // A message with many market data entries and exactly this many bytes.
  [[nodiscard]] std::string of_size(std::size_t size);

  // One or several fields, each with the SOH after it.
  [[nodiscard]] std::string tiny_fields(std::uint32_t count);         // "1=a|22=|3=c|"
  [[nodiscard]] std::string data_field(bool right);                   // or with a wrong length
  [[nodiscard]] std::string field_with_long_tag(bool beyond_narrow);  // of five digits and more
  [[nodiscard]] std::string field_without_value();

 private:
  [[nodiscard]] std::string header(std::string_view type);
  [[nodiscard]] std::string order();
  [[nodiscard]] std::string market_data(std::uint32_t entries);
  [[nodiscard]] std::string long_values();
  [[nodiscard]] std::string value(std::size_t size);
  [[nodiscard]] std::string number(std::uint32_t digits);

  FastRandom& random_;
};

}  // namespace nfx::test
