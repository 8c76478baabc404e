// Certificates, keys and what is demanded of the peer: everything that TLS connections have in common.
// Thread: any; reload() swaps what was loaded while connections on other threads begin. Established connections keep
// what they began with. Cost: reads files and allocates; connections take one reference when they begin. Errors: what
// the operator can fix is one line that names the file and the fix: TlsError from the constructor, a value from
// reload().
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace nfx {

enum class TlsVersion : std::uint8_t { tls_1_2, tls_1_3 };

// What a server wants of its clients: nothing, a certificate if they have one, or one in any case.
enum class ClientCertificate : std::uint8_t { none, request, require };

struct TlsOptions {
  std::string certificate;       // PEM file: our certificate, then those between it and the authority. Servers need one
  std::string key;               // PEM file of its private key; empty: in the certificate's file
  std::string key_password_env;  // the environment variable with the key's password
  std::function<std::string()> key_password;  // or a function that returns it; called at every load
  std::string ca;                // PEM file, or a folder of them: the issuers of peers. Empty: the system's
  std::vector<std::string> crl;  // revocation lists, PEM or DER; with any, every issuer needs one
  ClientCertificate client_certificate = ClientCertificate::none;  // what we want as a server
  std::vector<std::string> peer_names;  // the peer's certificate has to carry one of them; empty: any that is signed
  std::string server_name;              // as a client: the name of the peer. Empty: the endpoint's host
  bool verify = true;                   // whether a peer's certificate has to be good
  bool check_name = true;               // as a client: it has to be for server_name
  TlsVersion min_version = TlsVersion::tls_1_2;
  TlsVersion max_version = TlsVersion::tls_1_3;
  std::string ciphers;       // for TLS 1.2, in OpenSSL's syntax; empty: OpenSSL's choice
  std::string ciphersuites;  // for TLS 1.3
};

struct TlsError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace detail {
struct TlsMaterial;  // src/transport/tls_material.hpp
}

class TlsContext {
 public:
  // Loads everything. Throws TlsError.
  explicit TlsContext(TlsOptions options);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // Loads the files again for connections that begin from now on. When that fails nothing changes, and the text states
  // why.
  [[nodiscard]] std::expected<void, std::string> reload();

  // Why a listener cannot use this; empty when it can.
  [[nodiscard]] std::string why_no_server() const;

  [[nodiscard]] const TlsOptions& options() const noexcept { return options_; }

  // What a connection that begins now works with.
  [[nodiscard]] std::shared_ptr<const detail::TlsMaterial> material() const;

 private:
  TlsOptions options_;
  mutable std::mutex mutex_;
  std::shared_ptr<const detail::TlsMaterial> material_;
};

// What is wrong with our own certificate as peers with the same authorities would see it, one line each; nothing where
// there is no certificate. `as_server` chooses the use.
[[nodiscard]] std::vector<std::string> verify_own_chain(const TlsContext& context, bool as_server);

// Whether our certificate is one for this host name or address.
[[nodiscard]] bool certificate_is_for(const TlsContext& context, const std::string& host);

}  // namespace nfx
