// The loops over message bytes, behind one table so that the instruction set can be chosen at run time.
// Thread: any, no state. Cost: one call per message or buffer, never per field.
// Kernels take pointers and lengths and use no std templates: those would carry a kernel's instruction set into
// the rest of the program through the linker's choice of one copy.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nexusfix/wire/wire_error.hpp"

namespace nfx::kernels {

// Where index_fields puts what it finds: three arrays of `capacity` elements.
struct FieldArrays {
  std::int32_t* tags;
  std::uint32_t* offsets;  // of the value, from the start of the message
  std::uint32_t* lengths;  // of the value
  std::uint32_t capacity;
};

struct IndexResult {
  WireError error;      // none, truncated, bad_tag, bad_data_length or too_many_fields
  std::uint8_t sum;     // of all bytes, modulo 256; only meaningful without an error
  std::uint32_t count;  // fields stored: all of them, or those in front of the error
};

struct KernelTable {
  const char* name;
  // Splits a message of less than 4 GiB into fields and sums its bytes, in one pass.
  IndexResult (*index_fields)(const char* message, std::size_t size, const FieldArrays& out) noexcept;
  std::uint8_t (*check_sum)(const char* bytes, std::size_t size) noexcept;
  // The first SOH, or bytes + size.
  const char* (*scan_soh)(const char* bytes, std::size_t size) noexcept;
};

extern const KernelTable scalar;

// The table in use.
[[nodiscard]] const KernelTable& kernels() noexcept;

// data_tag_of() as one shared function outside of every kernel.
[[nodiscard]] std::int32_t data_tag_behind(std::int32_t length_tag) noexcept;

}  // namespace nfx::kernels
