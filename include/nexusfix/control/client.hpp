// A request to the control plane of a running engine, and its answer.
// Thread: any. Cost: a connection; waits for the answer, `timeout` at most. Errors: a text with the reason and the fix.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "nexusfix/transport/tls_options.hpp"
#include "nexusfix/transport/transport.hpp"

namespace nfx {

struct ControlAddress {
  std::string socket{};  // path of the UNIX socket; empty: `http`
  Endpoint http{};
  std::string token{};  // of http
  // Mutual TLS with http: the certificate and key of this side, the authority of the engine's, perhaps its name.
  std::optional<TlsOptions> tls{};
  std::chrono::seconds timeout{10};
};

struct ControlRequest {
  std::string_view method = "GET";
  std::string target;
  std::string body{};  // JSON
  std::string if_match{};
};

struct ControlReply {
  unsigned status = 0;
  std::string body;
  std::string etag;
};

[[nodiscard]] std::expected<ControlReply, std::string> ask_control(const ControlAddress& address,
                                                                   const ControlRequest& request);

// "/v1/sessions/FIX.4.4%3ADESK-%3EVENUE/set"; without a command the session itself.
[[nodiscard]] std::string control_path(std::string_view session, std::string_view command = {});

}  // namespace nfx
