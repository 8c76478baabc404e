// The configuration of a gateway of a cluster, [cluster]; docs/cluster.md describes it.
// Thread: values.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/language.hpp"

namespace nfx {

// What a session does that is replicated and whose cluster does not answer for lost_after.
enum class WhenLost : std::uint8_t {
  stop,     // its connection is closed, and it waits until the cluster answers
  keep_on,  // "continue": it continues with its journal alone, until ring_size bytes wait for the cluster
};

[[nodiscard]] std::string_view to_string(WhenLost when) noexcept;

// What a gateway does with a connection whose Logon names a session that another gateway owns.
enum class WrongGateway : std::uint8_t {
  refuse,   // and it listens on the address of a session only while it owns one of that address
  hand_on,  // it listens from the start, and passes the connection's bytes to the owner and back
};

[[nodiscard]] std::string_view to_string(WrongGateway what) noexcept;

struct ClusterConfig {
  std::vector<std::string> servers;  // of NATS; empty: no cluster
  std::string stream = "NEXUSFIX";
  std::string credentials;            // file; empty: none
  std::string certificate_authority;  // file; empty: no TLS
  std::string gateway;                // the name of this process among `gateways`
  std::vector<std::string> gateways;  // all that may own sessions
  std::vector<std::string> pins;      // "SESSION=GATEWAY"
  std::vector<std::string> drain;     // gateways that are to have no sessions
  WrongGateway wrong_gateway = WrongGateway::refuse;
  std::vector<std::string> addresses;  // "GATEWAY=ADDRESS": where the others reach it; needed to hand on
  std::uint32_t hand_on_max = 64;      // connections that this gateway hands on at a time
  std::chrono::milliseconds lease{5000};
  WhenLost when_lost = WhenLost::stop;
  std::chrono::milliseconds lost_after{10000};
  // Of each session with durability async.
  std::uint32_t async_messages = 256;
  std::uint32_t async_bytes = 256 * 1024;

  // Nothing is started otherwise.
  [[nodiscard]] bool wanted() const noexcept { return !servers.empty(); }
  [[nodiscard]] bool hands_on() const noexcept { return wanted() && wrong_gateway == WrongGateway::hand_on; }
  // Of `addresses`; empty: it has none.
  [[nodiscard]] std::string_view address_of(std::string_view name) const noexcept;
};

}  // namespace nfx
