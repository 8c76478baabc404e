#include "nexusfix/config/engine_config.hpp"

#include <span>
#include <sstream>

#include "config/keys.hpp"

namespace nfx {
namespace {

template <class Target>
void describe(std::ostringstream& out, std::string_view section_name, std::span<const config::Key<Target>> keys) {
  const Target defaults{};
  out << section_name << '\n';
  for (const auto& key : keys) {
    std::string left = "  " + std::string{key.name} + " = " + key.show(defaults);
    if (left.size() < 44) left.resize(44, ' ');
    out << left << "  " << key.meaning << '\n';
  }
}

}  // namespace

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

std::string config_reference() {
  std::ostringstream out;
  describe(out, "[engine]", config::engine_keys());
  describe(out, "[placement], which decides where threads run", config::placement_keys());
  describe(out, "[placement.poll], [placement.deferred], [placement.flusher], [placement.log]", config::role_keys());
  describe(out, "[log], what is written for people and their tools", config::log_keys());
  describe(out, "[[session]], and [defaults] for all of them", config::session_keys());
  return out.str();
}

}  // namespace nfx
