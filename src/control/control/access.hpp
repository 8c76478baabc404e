// Decides who sends a request and what they may do. Users of the UNIX socket are identified by the kernel, users of
// HTTP by a token from a file or a client certificate.
// Thread: values, and tables that do not change. Errors: ConfigError with the file, the line and the fix.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/config/engine_config.hpp"
#include "transport/tls_facts.hpp"

namespace nfx::control {

enum class Role : std::uint8_t { none, viewer, operator_ };  // each includes the previous one's rights

[[nodiscard]] std::string_view to_string(Role role) noexcept;

struct Caller {
  Role role = Role::none;
  std::string name;  // "alice"; for an unknown user whatever is known: "uid 1001"
  std::string via;   // "unix", "http" or "https"
};

// The users and groups of [control].
class SocketUsers {
 public:
  // Throws ConfigError for a name that does not exist on the host.
  explicit SocketUsers(const ControlConfig& config);
  [[nodiscard]] Caller caller(unsigned uid, std::span<const unsigned> gids) const;

 private:
  struct Set {
    std::vector<unsigned> uids;
    std::vector<unsigned> gids;
    [[nodiscard]] bool has(unsigned uid, std::span<const unsigned> member_of) const noexcept;
  };
  static Set set_of(const std::vector<std::string>& names, std::string_view key);

  Set operators_, viewers_;
};

// The bearer tokens of [control] tokens. Only their digests are stored.
class Tokens {
 public:
  static constexpr std::size_t shortest = 32;
  static constexpr std::size_t longest = 256;
  static constexpr std::size_t most_lines = 1000;

  Tokens() = default;
  // Lines "operator alice TOKEN" and "viewer NAME TOKEN"; '#' starts a comment. Throws ConfigError naming file and
  // line.
  [[nodiscard]] static Tokens parse(std::string_view text, std::string_view file);
  // Throws also if another user may read the file.
  [[nodiscard]] static Tokens load(const std::string& file);
  // Takes the value of an Authorization header.
  [[nodiscard]] Caller caller(std::string_view authorization) const;

 private:
  struct Entry {
    std::array<std::uint8_t, 32> digest{};
    Role role{};
    std::string name;
  };
  std::vector<Entry> entries_;
};

// The certificates of [control] clients.
class ClientCertificates {
 public:
  static constexpr std::size_t most_lines = 1000;

  ClientCertificates() = default;
  // Lines "operator NAME" and "viewer NAME"; '#' starts a comment. NAME is a common name, an alternative name, or
  // "sha256:" and a fingerprint, and may contain spaces. Throws ConfigError naming file and line.
  [[nodiscard]] static ClientCertificates parse(std::string_view text, std::string_view file);
  // Throws also if another user may change the file.
  [[nodiscard]] static ClientCertificates load(const std::string& file);
  // Takes a verified certificate; the first line that matches it counts.
  [[nodiscard]] Caller caller(const TlsPeer& certificate) const;

 private:
  struct Entry {
    Role role{};
    std::string name;
  };
  std::vector<Entry> entries_;
};

// The users of HTTP, by tokens or certificates. Thread: any. Lifetime: reload() takes effect with the next request of
// each connection.
class HttpUsers {
 public:
  // Throws ConfigError.
  explicit HttpUsers(const ControlConfig& config);
  [[nodiscard]] Caller caller(std::string_view authorization) const;
  [[nodiscard]] Caller caller(const TlsPeer& certificate) const;
  // Reads the file again. On failure nothing changes, and the result is the reason; empty on success.
  [[nodiscard]] std::string reload();

 private:
  struct Loaded {
    Tokens tokens;
    ClientCertificates clients;
  };
  [[nodiscard]] static std::shared_ptr<const Loaded> load(const ControlConfig& config);
  [[nodiscard]] std::shared_ptr<const Loaded> loaded() const;

  const ControlConfig config_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Loaded> loaded_;
};

// Protects this address from pages of other sites: a site's own name that resolves to loopback (Host), or a browser
// that shows the page (Origin). `port` is the listening port.
[[nodiscard]] bool host_is_ours(std::string_view host, std::uint16_t port) noexcept;
[[nodiscard]] bool origin_is_ours(std::string_view origin, std::uint16_t port, bool encrypted = false) noexcept;

}  // namespace nfx::control
