// Requests to the control plane of a running engine, and their answers.
// Thread: ask_control() any, a ControlClient one at a time. Cost: waits for the answer, `timeout` at most for each
// connection. Errors: a text with the reason and the fix.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "nexusfix/transport/socket_options.hpp"

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

// Over a connection of its own.
[[nodiscard]] std::expected<ControlReply, std::string> ask_control(const ControlAddress& address,
                                                                   const ControlRequest& request);

// For one GET after another over one connection, which is made again where the engine has ended it. Any other request
// has a new connection, so that none is carried out twice.
class ControlClient {
 public:
  explicit ControlClient(ControlAddress address);
  ~ControlClient();
  ControlClient(const ControlClient&) = delete;
  ControlClient& operator=(const ControlClient&) = delete;

  [[nodiscard]] std::expected<ControlReply, std::string> ask(const ControlRequest& request);

 private:
  class Connection;
  template <class Stream, class Endpoint>
  class ConnectionOver;
  struct Maker;

  const ControlAddress address_;
  std::unique_ptr<Connection> connection_;  // of the last answer, unless the engine ends it
};

// "/v1/sessions/FIX.4.4%3ADESK-%3EVENUE/set"; without a command the session itself.
[[nodiscard]] std::string control_path(std::string_view session, std::string_view command = {});

}  // namespace nfx
