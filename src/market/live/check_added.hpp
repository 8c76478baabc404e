// An instrument of a handler has the place in its feed that it has in the options: what indexes both relies on it.
// Thread: any. Errors: std::invalid_argument names the symbol.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "nexusfix/market/event.hpp"

namespace nfx::market {

inline void check_added(std::optional<InstrumentIndex> index, std::size_t place, const std::string& symbol) {
  if (!index) {
    throw std::invalid_argument("the symbol \"" + symbol +
                                "\" is empty or longer than 31 characters; write it as the venue does");
  }
  if (std::to_underlying(*index) != place)
    throw std::invalid_argument("duplicate symbol \"" + symbol + "\"; name each instrument once");
}

}  // namespace nfx::market
