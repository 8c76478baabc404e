// Names of the values of a configuration. Each switch is the only list of its enumeration: see base/enum_values.hpp.
#include "nexusfix/config/engine_config.hpp"

#include <algorithm>

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

std::string_view to_string(WhenLost when) noexcept {
  switch (when) {
    case WhenLost::stop: return "stop";
    case WhenLost::keep_on: return "continue";
  }
  return "?";
}

std::string_view to_string(WrongGateway what) noexcept {
  switch (what) {
    case WrongGateway::refuse: return "refuse";
    case WrongGateway::hand_on: return "hand_on";
  }
  return "?";
}

std::string_view ClusterConfig::address_of(std::string_view name) const noexcept {
  for (const std::string_view each : addresses) {
    if (each.substr(0, each.find('=')) == name) return each.substr(std::min(name.size() + 1, each.size()));
  }
  return {};
}

std::string_view to_string(TooLargeMessage action) noexcept {
  switch (action) {
    case TooLargeMessage::skip: return "skip";
    case TooLargeMessage::logout: return "logout";
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

namespace {

// Replaces "%" by "%25" where it could be read as an escape, and the last character of `reserved` by `escape`.
std::string escaped(std::string_view text, std::string_view reserved, std::string_view escape) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i + 1);
    const bool like_escape =
        text[i] == '%' && (rest.starts_with("25") || rest.starts_with("3A") || rest.starts_with("3E"));
    if (like_escape) {
      out += "%25";
    } else if (text.substr(0, i + 1).ends_with(reserved)) {
      out += escape;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string joined(const SessionConfig& s, std::string_view ours, std::string_view theirs) {
  std::string name = s.begin_string + ':';
  name.append(ours).append("->").append(theirs);
  return s.session_qualifier.empty() ? name : name + ':' + s.session_qualifier;
}

}  // namespace

// Parsed from the left: the first ":" ends BeginString, the first "->" ends our CompID, the next ":" ends the peer's.
std::string identity(const SessionConfig& s) {
  return joined(s, escaped(s.sender_comp_id, "->", "%3E"), escaped(s.target_comp_id, ":", "%3A"));
}

std::string replica_name(const SessionSettings& settings) {
  if (!settings.replica_name.empty()) return settings.replica_name;
  const SessionConfig& s = settings.session;
  std::string name = s.sender_comp_id + '-' + s.target_comp_id;
  if (!s.session_qualifier.empty()) name += '-' + s.session_qualifier;
  for (char& c : name) {
    const bool usable = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    if (!usable) c = '_';
  }
  return name;
}

std::string former_identity(const SessionConfig& s) {
  std::string former = joined(s, s.sender_comp_id, s.target_comp_id);
  return former == identity(s) ? std::string{} : former;
}

}  // namespace nfx
