// Where the receive time of a packet comes from.
// Thread: values.
#pragma once

#include <cstdint>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

enum class StampSource : std::uint8_t {
  none = 0,      // no time is known
  program = 1,   // the program read its clock after it had received the packet
  kernel = 2,    // the kernel, when the network card passed the packet to it
  hardware = 3,  // the network card, by its own clock, which is UTC only where it is synchronised
};
inline constexpr std::uint8_t stamp_sources = 4;

[[nodiscard]] constexpr std::string_view to_string(StampSource source) noexcept {
  switch (source) {
    case StampSource::none: return "none";
    case StampSource::program: return "program";
    case StampSource::kernel: return "kernel";
    case StampSource::hardware: return "hardware";
  }
  return "none";
}

}  // namespace nfx
