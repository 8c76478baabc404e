// Names of what models want and of what is reported.
#include "nexusfix/strategy/intent.hpp"

#include <utility>

#include "base/enumerator_name.hpp"

namespace nfx::strategy {

std::string_view to_string(Action action) noexcept { return enumerator_name(action); }

std::string to_text(OrderNumber number, const Intent& intent) {
  return std::to_string(std::to_underlying(number)) + ' ' + std::string{to_string(intent.action)} + ' ' +
         std::string{to_string(intent.side)} + ' ' + std::to_string(intent.price.nano) + " x " +
         std::to_string(intent.quantity);
}

std::string_view to_string(ReportKind kind) noexcept { return enumerator_name<' '>(kind); }

}  // namespace nfx::strategy
