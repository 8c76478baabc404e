// What an ITCH parser does with invalid messages.
#include "nexusfix/market/itch_parser.hpp"

namespace nfx::market {

void ItchParser::count(itch::ParseStatus status) noexcept {
  switch (status) {
    case itch::ParseStatus::ok: return;
    case itch::ParseStatus::unknown_type: ++counters_.unknown_type; return;
    case itch::ParseStatus::wrong_length: ++counters_.wrong_length; return;
  }
}

}  // namespace nfx::market
