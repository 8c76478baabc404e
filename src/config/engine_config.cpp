// Names of the values of a configuration. Each switch is the only list of its enumeration: see base/enum_values.hpp.
#include "nexusfix/config/engine_config.hpp"

namespace nfx {
std::string_view to_string(HostSelection selection) noexcept {
  switch (selection) {
    case HostSelection::round_robin: return "round_robin";
    case HostSelection::priority: return "priority";
  }
  return "?";
}

std::string_view to_string(StoreKind kind) noexcept {
  switch (kind) {
    case StoreKind::unset: return "unset";
    case StoreKind::memory: return "memory";
    case StoreKind::journal: return "journal";
  }
  return "?";
}

std::string_view to_string(SlowConsumer policy) noexcept {
  switch (policy) {
    case SlowConsumer::refuse: return "refuse";
    case SlowConsumer::disconnect: return "disconnect";
  }
  return "?";
}

std::string_view to_string(TransportKind kind) noexcept {
  switch (kind) {
    case TransportKind::automatic: return "auto";
    case TransportKind::epoll: return "epoll";
    case TransportKind::io_uring: return "io_uring";
  }
  return "?";
}

std::string identity(const SessionConfig& s) {
  const std::string name = s.begin_string + ":" + s.sender_comp_id + "->" + s.target_comp_id;
  return s.session_qualifier.empty() ? name : name + ':' + s.session_qualifier;
}

}  // namespace nfx
