// Names of what models want and of what is reported.
#include "nexusfix/strategy/intent.hpp"

#include <utility>

namespace nfx::strategy {

std::string_view to_string(Action action) noexcept {
  switch (action) {
    case Action::place: return "place";
    case Action::replace: return "replace";
    case Action::cancel: return "cancel";
  }
  return "unknown";
}

std::string to_text(OrderNumber number, const Intent& intent) {
  return std::to_string(std::to_underlying(number)) + ' ' + std::string{to_string(intent.action)} + ' ' +
         std::string{to_string(intent.side)} + ' ' + std::to_string(intent.price.nano) + " x " +
         std::to_string(intent.quantity);
}

std::string_view to_string(ReportKind kind) noexcept {
  switch (kind) {
    case ReportKind::accepted: return "accepted";
    case ReportKind::replaced: return "replaced";
    case ReportKind::filled: return "filled";
    case ReportKind::canceled: return "canceled";
    case ReportKind::rejected: return "rejected";
    case ReportKind::change_rejected: return "change rejected";
    case ReportKind::refused: return "refused";
  }
  return "unknown";
}

}  // namespace nfx::strategy
