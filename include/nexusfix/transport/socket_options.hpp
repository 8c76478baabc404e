// Addresses and options of connections: of sockets, of TLS, and of an io_uring transport. Each option of TLS has a row
// in tls_option_rows.hpp.
// Thread: values. Cost: no part of a hot path. Errors: what cannot be read as an address is an empty optional.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "nexusfix/base/language.hpp"
#include "nexusfix/base/time.hpp"

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

// Options of a socket. Connections that a listener accepts have its options.
struct SocketOptions {
  bool nodelay = true;      // TCP_NODELAY: small segments are sent immediately
  int send_buffer = 0;      // SO_SNDBUF in bytes. 0 leaves it to the kernel
  int receive_buffer = 0;   // SO_RCVBUF in bytes. 0 leaves it to the kernel
  Endpoint from;            // of connect: the local address, port 0 for any. Without a host the kernel chooses
  int busy_poll_us = 0;     // SO_BUSY_POLL: how long a receive may busy-poll the driver. 0 leaves it to the kernel
  bool quickack = false;    // TCP_QUICKACK: acknowledge immediately, set again after every receive
  bool timestamps = false;  // SO_TIMESTAMPING: received_at() states when the bytes came in
  int keepalive_s = 60;     // SO_KEEPALIVE and TCP_KEEPIDLE: the kernel probes a silent peer after this time. 0: never
  int user_timeout_s = 0;   // TCP_USER_TIMEOUT: the most that sent data waits for the peer. 0 leaves it to the kernel
  std::shared_ptr<TlsContext> tls{};  // TlsTransport alone: connections are encrypted. Null: plain

  friend bool operator==(const SocketOptions&, const SocketOptions&) = default;
};

// How a ring is made, and what an io_uring transport keeps for its connections.
struct IoUringOptions {
  std::size_t receive_buffer_size = 8 * 1024;  // the most that one on_receive brings, except after hold
  std::size_t receive_buffers = 256;           // shared by all connections; rounded up to a power of two
  std::size_t max_connections = 1024;          // accepted, connecting and lingering together
  std::size_t max_listeners = 16;
  std::size_t accept_limit = 16;       // per poll
  std::size_t completion_limit = 256;  // per poll
  int listen_backlog = 128;
  Duration linger_time = std::chrono::seconds(2);         // how long close() continues to deliver in the background
  std::size_t linger_bytes = 256 * 1024;                  // ... and how much of the peer's it drops before it resets
  Duration accept_pause = std::chrono::milliseconds(50);  // after accept found no descriptor or memory

  // Steps of the ladder that may be taken; each is left out when false, or when the kernel lacks it.
  bool allow_defer_taskrun = true;      // the kernel completes receives only within poll
  bool allow_coop_taskrun = true;       // otherwise: ... whenever the thread is in the kernel, without interrupting it
  bool allow_multishot_accept = true;   // one request per listener instead of one per connection
  bool allow_multishot_receive = true;  // one request per connection, which fills buffers of a ring
  bool sqpoll = false;                  // a kernel thread takes requests: no call to submit, one core more
  int sq_thread_cpu = -1;               // ... the CPU that it is pinned to; -1: any
  Duration sq_thread_idle = std::chrono::milliseconds(50);  // ... and how long it busy-polls before it sleeps
};

enum class TlsVersion : std::uint8_t { tls_1_2, tls_1_3 };

[[nodiscard]] constexpr std::string_view to_string(TlsVersion version) noexcept {
  switch (version) {
    case TlsVersion::tls_1_2: return "1.2";
    case TlsVersion::tls_1_3: return "1.3";
  }
  return "?";
}

// Whether a server asks its clients for a certificate, and whether it requires one.
enum class ClientCertificate : std::uint8_t { none, request, require };

[[nodiscard]] constexpr std::string_view to_string(ClientCertificate policy) noexcept {
  switch (policy) {
    case ClientCertificate::none: return "none";
    case ClientCertificate::request: return "request";
    case ClientCertificate::require: return "require";
  }
  return "?";
}

// A function of the program that returns the password of the private key. Functions cannot be compared, so two of
// these are equal when both or neither are set.
class KeyPassword {
 public:
  KeyPassword() = default;
  KeyPassword(std::nullptr_t) {}
  template <class Function>
    requires(!std::is_same_v<std::remove_cvref_t<Function>, KeyPassword> &&
             std::is_invocable_r_v<std::string, Function&>)
  KeyPassword(Function&& function) : function_(std::forward<Function>(function)) {}

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(function_); }
  [[nodiscard]] std::string operator()() const { return function_(); }
  friend bool operator==(const KeyPassword& a, const KeyPassword& b) noexcept { return bool{a} == bool{b}; }

 private:
  std::function<std::string()> function_;
};

struct TlsOptions {
  std::string certificate;
  std::string key;
  std::string key_password_env;
  KeyPassword key_password;  // instead of key_password_env, for programs; called at every load
  std::string ca;
  std::vector<std::string> crl;
  ClientCertificate client_certificate = ClientCertificate::none;
  std::vector<std::string> peer_names;
  std::string server_name;
  bool check_name = true;
  bool verify = true;
  TlsVersion min_version = TlsVersion::tls_1_2;
  TlsVersion max_version = TlsVersion::tls_1_3;
  std::string ciphers;
  std::string ciphersuites;

  // Sessions that share a listen address must have equal options.
  friend bool operator==(const TlsOptions&, const TlsOptions&) = default;
};

}  // namespace nfx
