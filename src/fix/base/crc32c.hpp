// CRC-32C (Castagnoli), the checksum of data stored on disk. Uses the processor's instruction if available.
// Thread: any. Cost: a call, then one instruction per eight bytes, or eight table look-ups without it. The
// implementation is chosen once, when the program starts.
#pragma once

#include <cstdint>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

// `before` is the checksum of the preceding bytes: crc32c("b", crc32c("a")) == crc32c("ab").
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0) noexcept;

// The same without the processor's instruction, and whether crc32c() uses that instruction: for tests and reports.
[[nodiscard]] std::uint32_t crc32c_by_table(std::string_view bytes, std::uint32_t before = 0) noexcept;
[[nodiscard]] bool crc32c_has_instruction() noexcept;

}  // namespace nfx
