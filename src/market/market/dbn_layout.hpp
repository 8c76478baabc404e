// The fields of DBN's records, by type and size: what a record of trades, prices by level, bars, definitions and others
// has behind its header of 16 bytes. The names are DBN's own. Versions of DBN differ in the sizes of some types, so
// that type and size name the layout.
// Thread: any. Cost: a search through some twenty rows. Errors: null for a size that no version has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx::market {

enum class DbnFieldKind : std::uint8_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  u64,
  i64,
  price,   // i64, in billionths; the highest: none
  time,    // u64, nanoseconds since 1970; the highest: none
  letter,  // a character; 0: none
  text,    // of `size` bytes, which zeros fill
};

struct DbnField {
  std::string_view name;
  DbnFieldKind kind{};
  std::uint16_t offset = 0;
  std::uint16_t text_size = 0;

  [[nodiscard]] constexpr std::size_t size() const noexcept {
    switch (kind) {
      case DbnFieldKind::u8:
      case DbnFieldKind::i8:
      case DbnFieldKind::letter: return 1;
      case DbnFieldKind::u16:
      case DbnFieldKind::i16: return 2;
      case DbnFieldKind::u32:
      case DbnFieldKind::i32: return 4;
      case DbnFieldKind::u64:
      case DbnFieldKind::i64:
      case DbnFieldKind::price:
      case DbnFieldKind::time: return 8;
      case DbnFieldKind::text: return text_size;
    }
    return 0;
  }
};

struct DbnLayout {
  std::uint8_t type = 0;
  std::uint16_t size = 0;  // of a record, without the time of sending that some end with
  std::span<const DbnField> fields;
};

[[nodiscard]] std::span<const DbnLayout> dbn_layouts() noexcept;
// The layout of a whole record. Null: no known record has this size.
[[nodiscard]] const DbnLayout* find_dbn_layout(std::span<const std::byte> record) noexcept;
// Null: the layout has none of this name.
[[nodiscard]] const DbnField* find_field(const DbnLayout& layout, std::string_view name) noexcept;

// A number of a record, sign-extended; of a letter its code. Not for texts.
[[nodiscard]] std::int64_t number_in(std::span<const std::byte> record, const DbnField& field) noexcept;
[[nodiscard]] std::string_view text_in(std::span<const std::byte> record, const DbnField& field) noexcept;
// Whether a price or a time is the value that stands for none.
[[nodiscard]] bool is_none(std::int64_t number, DbnFieldKind kind) noexcept;

}  // namespace nfx::market
