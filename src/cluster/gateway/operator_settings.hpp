// An operator's settings for all gateways of a cluster: gateways that drain, and sessions that moved. The stream has
// it as one message, which every gateway reads once a second; it stays until an operator changes it again.
//
//   drain GATEWAY
//   move SESSION GATEWAY      one line each
//
// Thread: values; read_settings() and change_settings() wait for servers. Errors: NatsError from those two; a line that
// this version does not know is ignored.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/base/time.hpp"

namespace nfx::nats {
class NatsStream;
}

namespace nfx {

struct OperatorSettings {
  static constexpr std::string_view subject = "_settings";  // no session has this name

  std::vector<std::string> drains;                         // gateways
  std::vector<std::pair<std::string, std::string>> moves;  // session, gateway

  friend bool operator==(const OperatorSettings&, const OperatorSettings&) = default;
};

[[nodiscard]] OperatorSettings parse_settings(std::string_view text);
[[nodiscard]] std::string to_string(const OperatorSettings& settings);

[[nodiscard]] OperatorSettings read_settings(nats::NatsStream& stream, Duration timeout);
// Stores what `change` makes of the present settings; again when another operator was faster.
void change_settings(nats::NatsStream& stream, Duration timeout, const std::function<void(OperatorSettings&)>& change);

}  // namespace nfx
