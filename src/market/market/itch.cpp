// Names for what becomes of an ITCH message.
#include "nexusfix/market/itch.hpp"

namespace nfx::market::itch {

std::string_view to_string(ParseStatus status) noexcept {
  switch (status) {
    case ParseStatus::ok: return "ok";
    case ParseStatus::unknown_type: return "unknown type";
    case ParseStatus::wrong_length: return "wrong length";
  }
  return "?";
}

}  // namespace nfx::market::itch
