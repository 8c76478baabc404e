// SHA-256 (FIPS 180-4), for names that cannot be constructed to collide. Not for passwords.
// Thread: any. Cost: about a microsecond per 64 bytes; no allocation. Errors: none.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

[[nodiscard]] std::array<std::uint8_t, 32> sha256(std::string_view bytes) noexcept;

}  // namespace nfx
