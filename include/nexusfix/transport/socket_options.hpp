// Where a socket is, and what is wanted of it.
// Thread: values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

struct Endpoint {
  std::string host;
  std::uint16_t port = 0;

  // Reads "host:port" and "[::1]:port". Empty for anything else: no host, no port, a port above 65535, a bare IPv6
  // address.
  [[nodiscard]] static std::optional<Endpoint> parse(std::string_view text);

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// The text that parse reads: an IPv6 host is in brackets.
[[nodiscard]] std::string to_string(const Endpoint& endpoint);

// A literal IPv4 or IPv6 address (without brackets) in canonical form, so that texts can be compared; an IPv4 address
// mapped into IPv6 becomes an IPv4 address. Empty when `host` is not an address.
[[nodiscard]] std::optional<std::string> canonical_address(std::string_view host);

class TlsContext;  // tls_context.hpp

// What is wanted of a socket. A listener's options are those of the connections it accepts.
struct SocketOptions {
  bool nodelay = true;      // TCP_NODELAY: small segments are sent immediately
  int send_buffer = 0;      // SO_SNDBUF in bytes; 0 leaves it to the kernel
  int receive_buffer = 0;   // SO_RCVBUF in bytes; 0 leaves it to the kernel
  Endpoint from;            // of connect: the local address, port 0 for any; without a host the kernel chooses
  int busy_poll_us = 0;     // SO_BUSY_POLL: how long a receive may busy-poll the driver; 0 leaves it to the kernel
  bool quickack = false;    // TCP_QUICKACK: acknowledge immediately, set again after every receive
  bool timestamps = false;  // SO_TIMESTAMPING: received_at() states when the bytes came in
  int keepalive_s = 60;     // SO_KEEPALIVE and TCP_KEEPIDLE: the kernel probes a silent peer after this time; 0: never
  int user_timeout_s = 0;   // TCP_USER_TIMEOUT: the most that sent data waits for the peer; 0 leaves it to the kernel
  std::shared_ptr<TlsContext> tls{};  // TlsTransport alone: connections are encrypted. Null: plain

  friend bool operator==(const SocketOptions&, const SocketOptions&) = default;
};

}  // namespace nfx
