// Which gateway owns which session: rendezvous hashing over the gateways that are alive. Each gateway computes the same
// from the same lists, so that no message is needed; the stream's epochs decide when the lists differ.
// Thread: any; pure. Cost: a hash per gateway for each session; explain() allocates. Lifetime: names are borrowed.
// Errors: none; a session without any gateway has no owner.
//
// A gateway that is lost moves its own sessions only, and one that is added takes its own share only. A gateway that
// drains has sessions no longer as soon as another one is alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/language.hpp"

namespace nfx::cluster {

struct Gateway {
  std::string_view name;
  bool alive = true;
  bool draining = false;
};

// The gateway that the configuration names for one session. It has effect while that gateway is alive and does not
// drain.
struct Pin {
  std::string_view session;
  std::string_view gateway;
};

enum class AssignedBy : std::uint8_t {
  none,      // no gateway is alive
  pin,       // the configuration names it
  weight,    // the highest weight of the gateways that are alive and not draining
  draining,  // the highest weight of the gateways that are alive: all of them drain
};

[[nodiscard]] std::string_view to_string(AssignedBy by) noexcept;

struct Assignment {
  static constexpr std::size_t no_gateway = static_cast<std::size_t>(-1);
  std::size_t gateway = no_gateway;  // index in the list
  AssignedBy by = AssignedBy::none;
  friend bool operator==(const Assignment&, const Assignment&) = default;
};

// The weight of this pair; the gateway with the highest one has the session.
[[nodiscard]] std::uint64_t weight_of(std::string_view session, std::string_view gateway) noexcept;

[[nodiscard]] Assignment assign(std::string_view session, std::span<const Gateway> gateways, std::span<const Pin> pins);

// Lines for an operator, without line ends: the owner and why, then each gateway by descending weight with its state.
// Names are not escaped; a program that prints the lines escapes them.
[[nodiscard]] std::vector<std::string> explain(std::string_view session, std::span<const Gateway> gateways,
                                               std::span<const Pin> pins);

}  // namespace nfx::cluster
