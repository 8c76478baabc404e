// Who sends a request, and what they may do: users of the UNIX socket by the kernel's word, users of HTTP by a token
// from a file. Thread: values, and tables that do not change. Errors: ConfigError with the file, the line and the fix.
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

enum class Role : std::uint8_t { none, viewer, operator_ };  // each may what the one before it may

[[nodiscard]] std::string_view to_string(Role role) noexcept;

struct Caller {
  Role role = Role::none;
  std::string name;  // "alice"; without a role whatever is known: "uid 1001"
  std::string via;   // "unix", "http" or "https"
};

// The users and groups of [control].
class SocketUsers {
 public:
  // Throws ConfigError for a name that the host does not know.
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
  // "operator alice TOKEN" and "viewer NAME TOKEN", '#' before a comment. Throws ConfigError naming file and line.
  [[nodiscard]] static Tokens parse(std::string_view text, std::string_view file);
  // Also when another user may read the file.
  [[nodiscard]] static Tokens load(const std::string& file);
  // By the value of an Authorization header.
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
  // "operator NAME" and "viewer NAME", '#' before a comment; NAME is a common name, an alternative name, or "sha256:"
  // and a fingerprint, and may have spaces. Throws ConfigError naming file and line.
  [[nodiscard]] static ClientCertificates parse(std::string_view text, std::string_view file);
  // Also when another user may change the file.
  [[nodiscard]] static ClientCertificates load(const std::string& file);
  // By a verified certificate: the first line that means it.
  [[nodiscard]] Caller caller(const TlsPeer& certificate) const;

 private:
  struct Entry {
    Role role{};
    std::string name;
  };
  std::vector<Entry> entries_;
};

// Who may use HTTP, by tokens or certificates. Thread: any. Lifetime: reload() has an effect on the next request of
// each connection.
class HttpUsers {
 public:
  // Throws ConfigError.
  explicit HttpUsers(const ControlConfig& config);
  [[nodiscard]] Caller caller(std::string_view authorization) const;
  [[nodiscard]] Caller caller(const TlsPeer& certificate) const;
  // Reads the file again. On failure nothing changes, and the text gives the reason; empty: done.
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

// A page of another site must not reach this address: by a name of its own that resolves to loopback (Host), or from a
// browser that is on it (Origin). `port` is the one that is listened on.
[[nodiscard]] bool host_is_ours(std::string_view host, std::uint16_t port) noexcept;
[[nodiscard]] bool origin_is_ours(std::string_view origin, std::uint16_t port, bool encrypted = false) noexcept;

}  // namespace nfx::control
