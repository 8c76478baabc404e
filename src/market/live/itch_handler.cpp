// Symbols by locate code, and when an ITCH day begins.
#include "nexusfix/live/itch_handler.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "config/schedule_config.hpp"
#include "nexusfix/session/schedule.hpp"

namespace nfx::market {

UtcTime midnight_in_new_york(UtcTime now) {
  const TimeZone zone = load_time_zone("America/New_York");
  const auto local = zone.local(std::chrono::floor<std::chrono::seconds>(now));
  const std::chrono::local_seconds midnight = std::chrono::floor<std::chrono::days>(local);
  return zone.to_utc(midnight).time;
}

ItchSymbols::ItchSymbols(std::vector<std::string> symbols) : symbols_(std::move(symbols)) {
  if (symbols_.empty()) return;
  for (auto each = symbols_.begin(); each != symbols_.end(); ++each) {
    if (each->empty() || each->size() > 8) {
      throw std::invalid_argument("the symbol \"" + *each +
                                  "\" is empty or longer than 8 characters; write it as the venue does");
    }
    if (std::find(symbols_.begin(), each, *each) != each)
      throw std::invalid_argument("duplicate symbol \"" + *each + "\"; name each instrument once");
  }
  places_.resize(0x1'0000, none);
}

void ItchSymbols::add(itch::View<itch::StockDirectory> message) noexcept {
  if (symbols_.empty()) return;
  const auto padded = message[itch::StockDirectory::stock];
  std::string_view symbol{padded.data(), padded.size()};
  symbol = symbol.substr(0, symbol.find_last_not_of(' ') + 1);
  const auto found = std::ranges::find(symbols_, symbol);
  const auto place = found == symbols_.end() ? none : static_cast<std::uint32_t>(found - symbols_.begin());
  std::uint32_t& now = places_[message[itch::Header::locate]];
  if (now == place) return;
  if (place != none) std::ranges::replace(places_, place, none);  // its code of another session
  now = place;
}

}  // namespace nfx::market
