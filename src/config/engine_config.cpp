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
#define NFX_STORE_NAME(name, type, help) \
  case StoreKind::name: return #name;
      NFX_STORES(NFX_STORE_NAME)
#undef NFX_STORE_NAME
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
#define NFX_TRANSPORT_NAME(name, help) \
  case TransportKind::name: return #name;
      NFX_TRANSPORTS(NFX_TRANSPORT_NAME)
#undef NFX_TRANSPORT_NAME
  }
  return "?";
}

std::string identity(const SessionConfig& s) {
  const std::string name = s.begin_string + ":" + s.sender_comp_id + "->" + s.target_comp_id;
  return s.session_qualifier.empty() ? name : name + ':' + s.session_qualifier;
}

}  // namespace nfx
