// Rendezvous hashing with pins and drains, and its explanation.
#include "cluster/assignment.hpp"

#include <algorithm>
#include <utility>

#include "cluster/name_hash.hpp"

namespace nfx::cluster {

namespace {

const Pin* pin_of(std::string_view session, std::span<const Pin> pins) {
  const auto found = std::ranges::find(pins, session, &Pin::session);
  return found == pins.end() ? nullptr : &*found;
}

// Equal weights are decided by name, so that the order of the list has no effect.
bool is_before(std::string_view session, const Gateway& a, const Gateway& b) {
  const std::uint64_t of_a = weight_of(session, a.name), of_b = weight_of(session, b.name);
  return of_a != of_b ? of_a > of_b : a.name < b.name;
}

std::size_t highest(std::string_view session, std::span<const Gateway> gateways, bool drained_too) {
  std::size_t best = Assignment::no_gateway;
  for (std::size_t i = 0; i < gateways.size(); ++i) {
    const Gateway& gateway = gateways[i];
    if (!gateway.alive || (gateway.draining && !drained_too)) continue;
    if (best == Assignment::no_gateway || is_before(session, gateway, gateways[best])) best = i;
  }
  return best;
}

std::string_view state_of(const Gateway& gateway) {
  if (!gateway.alive) return "not alive";
  return gateway.draining ? "alive, draining" : "alive";
}

// Why a pin has no effect; empty when it has.
std::string why_ignored(const Pin& pin, std::span<const Gateway> gateways) {
  const auto found = std::ranges::find(gateways, pin.gateway, &Gateway::name);
  const std::string name{pin.gateway};
  if (found == gateways.end()) return "pinned to " + name + ", which is not in the list of gateways";
  if (!found->alive) return "pinned to " + name + ", which is not alive";
  if (found->draining) return "pinned to " + name + ", which drains";
  return {};
}

}  // namespace

std::string_view to_string(AssignedBy by) noexcept {
  switch (by) {
    case AssignedBy::none: return "no gateway is alive";
    case AssignedBy::pin: return "pinned by the configuration";
    case AssignedBy::weight: return "the highest weight of the gateways that are alive";
    case AssignedBy::draining: return "the highest weight; all gateways that are alive drain";
  }
  return "unknown";
}

std::uint64_t weight_of(std::string_view session, std::string_view gateway) noexcept {
  // The byte between them makes ("ab", "c") another pair than ("a", "bc").
  return mixed(name_hash(gateway, name_hash(std::string_view{"\0", 1}, name_hash(session))));
}

Assignment assign(std::string_view session, std::span<const Gateway> gateways, std::span<const Pin> pins) {
  if (const Pin* pin = pin_of(session, pins)) {
    for (std::size_t i = 0; i < gateways.size(); ++i) {
      const Gateway& gateway = gateways[i];
      if (gateway.name == pin->gateway && gateway.alive && !gateway.draining) return {i, AssignedBy::pin};
    }
  }
  if (const std::size_t best = highest(session, gateways, false); best != Assignment::no_gateway)
    return {best, AssignedBy::weight};
  if (const std::size_t best = highest(session, gateways, true); best != Assignment::no_gateway)
    return {best, AssignedBy::draining};
  return {};
}

std::vector<std::string> explain(std::string_view session, std::span<const Gateway> gateways,
                                 std::span<const Pin> pins) {
  const Assignment owner = assign(session, gateways, pins);
  std::string first{session};
  first += ": ";
  first += owner.gateway == Assignment::no_gateway ? std::string_view{"no owner"} : gateways[owner.gateway].name;
  first += " (";
  first += to_string(owner.by);
  first += ")";
  std::vector<std::string> lines{std::move(first)};
  if (const Pin* pin = pin_of(session, pins)) {
    if (const std::string why = why_ignored(*pin, gateways); !why.empty()) lines.push_back("  " + why);
  }
  std::vector<const Gateway*> order;
  for (const Gateway& gateway : gateways) order.push_back(&gateway);
  std::ranges::sort(order, [&](const Gateway* a, const Gateway* b) { return is_before(session, *a, *b); });
  for (const Gateway* gateway : order) {
    std::string weight = std::to_string(weight_of(session, gateway->name));
    weight.insert(0, 20 - std::min<std::size_t>(20, weight.size()), ' ');
    lines.push_back("  " + weight + "  " + std::string{gateway->name} + "  " + std::string{state_of(*gateway)});
  }
  return lines;
}

}  // namespace nfx::cluster
