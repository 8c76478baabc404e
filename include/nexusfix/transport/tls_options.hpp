// Options of TLS connections. Each has a row in tls_option_rows.hpp.
// Thread: any, plain values. Cost: no part of a hot path.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "nexusfix/base/language.hpp"

namespace nfx {

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
