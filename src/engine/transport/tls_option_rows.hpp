// One row for each TLS option. Configuration keys, their help, relative paths, the translation of QuickFIX settings and
// the options of `nfx tls` are made from the rows. To add an option, add its member to TlsOptions and its row here, and
// use it where TlsContext loads the files.
// Thread: any, constants. Cost: no part of a hot path.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/member_count.hpp"
#include "nexusfix/transport/socket_options.hpp"

namespace nfx {

struct TlsOption {
  using Text = std::string TlsOptions::*;
  using Texts = std::vector<std::string> TlsOptions::*;
  using Flag = bool TlsOptions::*;
  using Version = TlsVersion TlsOptions::*;
  using Policy = ClientCertificate TlsOptions::*;

  std::string_view key;  // in configuration files
  std::variant<Text, Texts, Flag, Version, Policy> member;
  std::string_view help;
  bool is_path = false;             // relative to the configuration's folder
  std::string_view command_option;  // of `nfx tls doctor` and `nfx tls check`; empty: none
};

inline constexpr auto tls_option_rows = std::to_array<TlsOption>({
    {"tls_certificate", &TlsOptions::certificate,
     "PEM file with our certificate, followed by the intermediate certificates up to the authority. An acceptor needs "
     "one; an initiator needs one where the venue requires client certificates, such as \"desk.pem\".",
     true, "--cert"},
    {"tls_key", &TlsOptions::key,
     "PEM file with the private key of tls_certificate. Empty: the key is in the certificate's file.", true, "--key"},
    {"tls_key_password_env", &TlsOptions::key_password_env,
     "Name of the environment variable that holds the password of the private key, such as \"FIX_KEY_PASSWORD\". "
     "Needed for an encrypted key only.",
     false, "--key-password-env"},
    {"tls_ca", &TlsOptions::ca,
     "PEM file, or folder of PEM files, with the certificate authorities that may sign the peer's certificate. Empty: "
     "the operating system's authorities.",
     true, "--ca"},
    {"tls_crl", &TlsOptions::crl,
     "Certificate revocation lists, PEM or DER: a file or a list of files. With any, every authority in the peer's "
     "chain needs a list.",
     true, "--crl"},
    {"tls_client_certificate", &TlsOptions::client_certificate,
     "Acceptor: whether clients present a certificate. \"none\": no certificate is requested; \"request\": one is "
     "verified if "
     "presented; \"require\": a client without one is refused.",
     false, ""},
    {"tls_peer_names", &TlsOptions::peer_names,
     "Names of which the peer's certificate must have one: subject alternative name, common name or \"sha256:\" with "
     "the fingerprint, such as [\"desk.example\"]. Acceptor: each session may have its own, compared at Logon; "
     "{TargetCompID} stands for the peer's CompID. Empty: any certificate that an authority signed.",
     false, ""},
    {"tls_server_name", &TlsOptions::server_name,
     "Initiator: host name sent to the venue (SNI) and expected in its certificate. Empty: the host in connect. Set it "
     "when connect has an IP address.",
     false, ""},
    {"tls_check_name", &TlsOptions::check_name,
     "Initiator: whether the venue's certificate must be issued for tls_server_name. False when the venue's "
     "certificate names another host.",
     false, ""},
    {"tls_verify", &TlsOptions::verify,
     "Whether the peer's certificate is verified. False accepts any certificate, so that others can read and change "
     "the connection: for tests only.",
     false, ""},
    {"tls_min_version", &TlsOptions::min_version, "Oldest TLS version accepted. Set \"1.3\" where every peer has it.",
     false, ""},
    {"tls_max_version", &TlsOptions::max_version,
     "Newest TLS version offered. Set \"1.2\" for a peer whose TLS 1.3 does not work.", false, ""},
    {"tls_ciphers", &TlsOptions::ciphers,
     "Cipher list for TLS 1.2 in OpenSSL's notation, such as \"ECDHE+AESGCM\". Empty: OpenSSL's default. TLS 1.3 has "
     "tls_ciphersuites.",
     false, ""},
    {"tls_ciphersuites", &TlsOptions::ciphersuites,
     "Cipher suites for TLS 1.3 in OpenSSL's notation, separated by colons, such as \"TLS_AES_128_GCM_SHA256\". Empty: "
     "OpenSSL's default. TLS 1.2 has tls_ciphers.",
     false, ""},
});

// Null when there is no such key.
[[nodiscard]] constexpr const TlsOption* find_tls_option(std::string_view key) noexcept {
  const auto at = std::ranges::find(tls_option_rows, key, &TlsOption::key);
  return at == tls_option_rows.end() ? nullptr : &*at;
}

static_assert(member_count<TlsOptions>() == tls_option_rows.size() + 1,
              "every member of TlsOptions but key_password has a row");
static_assert(
    [] {
      for (const TlsOption& each : tls_option_rows) {
        if (!each.key.starts_with("tls_") || !each.help.ends_with('.') || find_tls_option(each.key) != &each)
          return false;
        if (each.is_path && !std::holds_alternative<TlsOption::Text>(each.member) &&
            !std::holds_alternative<TlsOption::Texts>(each.member))
          return false;
        const bool by_name = std::holds_alternative<TlsOption::Version>(each.member) ||
                             std::holds_alternative<TlsOption::Policy>(each.member);
        if (!each.command_option.empty() && (by_name || !each.command_option.starts_with("--"))) return false;
        for (const TlsOption& other : tls_option_rows) {
          if (&other != &each && other.member == each.member) return false;
        }
      }
      return true;
    }(),
    "keys and members are unique, and commands have no option whose value is an enumerator");

}  // namespace nfx
