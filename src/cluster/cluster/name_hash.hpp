// A hash of names that is the same on every machine and in every version: session ids and assignments depend on it.
// Thread: any; pure. Cost: a multiplication per byte. Not for names that an attacker chooses.
#pragma once

#include <cstdint>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx::cluster {

// FNV-1a of 64 bits.
[[nodiscard]] constexpr std::uint64_t name_hash(std::string_view name,
                                                std::uint64_t before = 0xcbf29ce484222325) noexcept {
  for (const char c : name) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return before;
}

// Spreads the last bytes of a name over all bits (the finalizer of splitmix64).
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t hash) noexcept {
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
  return hash ^ hash >> 31;
}

static_assert(name_hash("") == 0xcbf29ce484222325 && name_hash("a") == 0xaf63dc4c8601ec8c);

}  // namespace nfx::cluster
