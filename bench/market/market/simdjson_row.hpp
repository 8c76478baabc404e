// simdjson alone on a book ticker: its fields by name, as text and number, without exact prices, look-up or events.
// Thread: one owner. Errors: returns 0 for unreadable text; left out in a build without simdjson.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace nfx::bench {

class SimdjsonRow {
 public:
  SimdjsonRow();
  ~SimdjsonRow();
  SimdjsonRow(const SimdjsonRow&) = delete;
  SimdjsonRow& operator=(const SimdjsonRow&) = delete;

  [[nodiscard]] static bool available() noexcept;
  // The sum of the update's number and the characters of its texts.
  [[nodiscard]] std::uint64_t read(const char* text, std::size_t size, std::size_t readable) noexcept;
  // The same sum, computed independently.
  [[nodiscard]] static std::uint64_t expected(std::string_view text) noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nfx::bench
