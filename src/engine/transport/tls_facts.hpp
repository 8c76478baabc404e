// What is known of certificates and of encrypted connections, as plain data: for logs, checks and people.
// Thread: any, no state. Cost: reads files and allocates; no part of a hot path.
// Errors: one line that names the file and the fix.
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
  int key_security_bits = 0;              // the strength of the key; below 112 is weak
  bool authority = false;                 // may sign others
  bool self_signed = false;

  friend bool operator==(const CertificateFacts&, const CertificateFacts&) = default;
};

struct RevocationFacts {
  std::string issuer;
  std::chrono::sys_seconds this_update{};
  std::chrono::sys_seconds next_update{};  // the epoch where the list has none
  std::size_t revoked = 0;
};

// One encrypted connection after its handshake.
struct TlsFacts {
  std::string version;                  // "TLSv1.3"
  std::string cipher;                   // "TLS_AES_256_GCM_SHA384"
  bool certificate_requested = false;   // the server requested a client certificate
  std::vector<CertificateFacts> chain;  // as the peer sent it, its own first
  std::vector<std::string> problems;    // what verification found; only a connection without it gets this far
};

// Who a peer is by its verified certificate: what TlsOptions::peer_names are compared with. Names beyond the bounds are
// left out, so that they match nothing.
struct TlsPeer {
  static constexpr std::size_t max_names = 64;
  static constexpr std::size_t max_name_size = 256;

  std::vector<std::string> names;  // common names and subject alternative names, without their kind
  std::string sha256;              // fingerprint, hexadecimal
};

// In a name of TlsOptions::peer_names: stands for the peer's CompID.
inline constexpr std::string_view comp_id_placeholder = "{TargetCompID}";

// Whether one of the patterns means this peer: its fingerprint after "sha256:", with or without colons; with
// comp_id_placeholder a name that is exactly the same, case included; else as matches_peer_name().
[[nodiscard]] bool is_one_of(const TlsPeer& peer, const std::vector<std::string>& patterns, std::string_view comp_id);
[[nodiscard]] TlsPeer peer_of(const CertificateFacts& certificate);

// Every certificate of a PEM file, in its order.
[[nodiscard]] std::expected<std::vector<CertificateFacts>, std::string> read_certificates(const std::string& file);

// Every revocation list of a PEM file, or the one of a DER file.
[[nodiscard]] std::expected<std::vector<RevocationFacts>, std::string> read_revocations(const std::string& file);

// OpenSSL's name of a cipher by its standard one, which Java uses: "AES128-SHA" for "TLS_RSA_WITH_AES_128_CBC_SHA".
// Empty when OpenSSL does not have it.
[[nodiscard]] std::string openssl_cipher_name(std::string_view standard_name);

// Whether this kernel would encrypt a socket's records itself (the "tls" upper layer protocol of TCP).
struct KernelTls {
  bool offered = false;
  std::string why;  // what the kernel reported
};
[[nodiscard]] KernelTls kernel_tls();

// "2026-01-02 03:04:05 UTC".
[[nodiscard]] std::string to_text(std::chrono::sys_seconds time);

// Whether a certificate's name is one that the pattern means: exactly the same, ignoring case, or, for a pattern
// "*.example.com", one label before it.
[[nodiscard]] bool matches_peer_name(std::string_view pattern, std::string_view name) noexcept;

}  // namespace nfx
