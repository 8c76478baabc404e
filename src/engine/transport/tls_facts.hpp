// Facts about certificates and encrypted connections, as plain data: for logs, checks and people.
// Thread: any, no state. Cost: reads files and allocates; no part of a hot path. Errors: one line that names the file
// and the fix.
#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/language.hpp"

namespace nfx {

struct CertificateFacts {
  std::string subject;  // "CN=fix.example, O=Example"
  std::string issuer;
  std::string serial;  // hexadecimal
  std::chrono::sys_seconds not_before{};
  std::chrono::sys_seconds not_after{};
  std::vector<std::string>
      names;  // subject alternative names: "DNS:fix.example", "IP:127.0.0.1", "URI:...", "email:..."
  std::vector<std::string> common_names;  // of the subject
  std::string key;                        // "RSA 2048", "EC 256"
  std::string signature;                  // "sha256WithRSAEncryption"
  std::string sha256;                     // fingerprint, hexadecimal
  int key_security_bits = 0;              // security level of the key; below 112 is weak
  bool authority = false;                 // may sign other certificates
  bool self_signed = false;

  friend bool operator==(const CertificateFacts&, const CertificateFacts&) = default;
};

struct RevocationFacts {
  std::string issuer;
  std::chrono::sys_seconds this_update{};
  std::chrono::sys_seconds next_update{};  // the epoch if the list has none
  std::size_t revoked = 0;
};

// One encrypted connection after its handshake.
struct TlsFacts {
  std::string version;                  // "TLSv1.3"
  std::string cipher;                   // "TLS_AES_256_GCM_SHA384"
  bool certificate_requested = false;   // the server requested a client certificate
  std::vector<CertificateFacts> chain;  // as sent by the peer, its own first
  std::vector<std::string> problems;    // errors of verification; only a connection without verification gets this far
};

// A peer's identity from its verified certificate, for comparison with TlsOptions::peer_names. Names beyond the bounds
// are left out, so that they match nothing.
struct TlsPeer {
  static constexpr std::size_t max_names = 64;
  static constexpr std::size_t max_name_size = 256;

  std::vector<std::string> names;  // common names and subject alternative names, without their kind
  std::string sha256;              // fingerprint, hexadecimal
};

// In TlsOptions::peer_names: stands for the peer's CompID.
inline constexpr std::string_view comp_id_placeholder = "{TargetCompID}";

// Whether one of the patterns matches this peer: its fingerprint after "sha256:", with or without colons; with
// comp_id_placeholder an identical, case-sensitive name; otherwise as matches_peer_name().
[[nodiscard]] bool is_one_of(const TlsPeer& peer, const std::vector<std::string>& patterns, std::string_view comp_id);
[[nodiscard]] TlsPeer peer_of(const CertificateFacts& certificate);

// All certificates of a PEM file, in order.
[[nodiscard]] std::expected<std::vector<CertificateFacts>, std::string> read_certificates(const std::string& file);

// All revocation lists of a PEM file, or the list of a DER file.
[[nodiscard]] std::expected<std::vector<RevocationFacts>, std::string> read_revocations(const std::string& file);

// OpenSSL's name for a cipher's standard name, which Java uses: "AES128-SHA" for "TLS_RSA_WITH_AES_128_CBC_SHA". Empty
// if OpenSSL does not support it.
[[nodiscard]] std::string openssl_cipher_name(std::string_view standard_name);

// Whether this kernel can encrypt a socket's records itself (the "tls" upper layer protocol of TCP).
struct KernelTls {
  bool offered = false;
  std::string why;  // the kernel's error
};
[[nodiscard]] KernelTls kernel_tls();

// "2026-01-02 03:04:05 UTC".
[[nodiscard]] std::string to_text(std::chrono::sys_seconds time);

// Whether a certificate's name matches the pattern: equal, ignoring case, or, for a pattern "*.example.com", with one
// label before it.
[[nodiscard]] bool matches_peer_name(std::string_view pattern, std::string_view name) noexcept;

}  // namespace nfx
