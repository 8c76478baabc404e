// The loops over message bytes, called through one table so that the instruction set can be chosen at run time.
// Thread: any, no state. Cost: one call per message or buffer, never per field. Kernels take pointers and lengths and
// use no std templates. The linker keeps one copy of a template, which could bring a kernel's instruction set into the
// rest of the program.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel_rows.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/wire/framer.hpp"

namespace nfx::kernels {

// The output of index_fields: three arrays with space for `capacity` elements and array_padding more, which kernels use
// as scratch. A value is the bytes [begin, end) of the message; its SOH is at `end`.
template <class TagNumber, class Position>
struct BasicFieldArrays {
  using tag_type = TagNumber;
  using position_type = Position;
  TagNumber* tags;
  Position* begins;
  Position* ends;
  std::uint32_t capacity;
};
using FieldArrays = BasicFieldArrays<std::uint16_t, std::uint16_t>;     // messages up to 65535 bytes
using WideFieldArrays = BasicFieldArrays<std::int32_t, std::uint32_t>;  // any tag, messages below 4 GiB

// Kernels write one block of 64 bytes before they check the capacity, eight fields at a time, and begins are one field
// ahead of ends.
inline constexpr std::uint32_t array_padding = 80;
static_assert(array_padding >= 64 + 8 + 1);

struct IndexResult {
  WireError error;      // none, truncated, bad_tag, bad_data_length or too_many_fields
  std::uint8_t sum;     // sum of all bytes, modulo 256; only meaningful without an error
  bool needs_wide;      // a tag does not fit into 16 bits; nothing else is meaningful
  bool verified;        // BodyLength, CheckSum and the first three fields are right; false: not checked, or wrong
  std::uint32_t count;  // number of fields stored: all of them, or the fields before the error
};

struct KernelTable {
  const char* name;
  // Splits a message into fields and sums its bytes, in one pass.
  IndexResult (*index_fields)(const char* message, std::size_t size, const FieldArrays& out) noexcept;
  IndexResult (*index_wide_fields)(const char* message, std::size_t size, const WideFieldArrays& out) noexcept;
  std::uint8_t (*check_sum)(const char* bytes, std::size_t size) noexcept;
  // The first SOH, or bytes + size.
  const char* (*scan_soh)(const char* bytes, std::size_t size) noexcept;
};

extern const KernelTable scalar;
#define NFX_DECLARE_KERNEL(architecture, name, options, present) extern const KernelTable name;
NFX_KERNEL_ROWS(NFX_DECLARE_KERNEL, )
#undef NFX_DECLARE_KERNEL

#define NFX_COUNT_KERNEL(architecture, name, options, present) +1
inline constexpr std::size_t kernel_count = 1 NFX_KERNEL_ROWS(NFX_COUNT_KERNEL, );
#undef NFX_COUNT_KERNEL

// The tables that this machine can run: the portable one first, the one chosen at start last.
struct KernelList {
  const KernelTable* tables[kernel_count];
  std::size_t count;
  [[nodiscard]] const KernelTable* const* begin() const noexcept { return tables; }
  [[nodiscard]] const KernelTable* const* end() const noexcept { return tables + count; }
};
[[nodiscard]] KernelList available_kernels() noexcept;

// The table in use.
extern constinit const KernelTable* table_in_use;
[[nodiscard]] inline const KernelTable& kernels() noexcept { return *table_in_use; }

// Replaces the table: for tests and benchmarks, while no other thread parses.
void use_kernels(const KernelTable& table) noexcept;

// data_tag_of() as one shared function outside all kernels.
[[nodiscard]] std::int32_t data_tag_after(std::int32_t length_tag) noexcept;

}  // namespace nfx::kernels
