// Owning handles for OpenSSL's objects, private to the files that use OpenSSL; no public header includes this. Errors:
// OpenSSL keeps a queue of errors per thread; openssl_error() returns the last one and empties it.
#pragma once

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <vector>

#include "transport/tls_context.hpp"
#include "transport/tls_facts.hpp"

namespace nfx::detail {

template <auto Free>
struct FreeWith {
  template <class T>
  void operator()(T* object) const noexcept {
    Free(object);
  }
};
template <class T, auto Free>
using Owned = std::unique_ptr<T, FreeWith<Free>>;

using OwnedBio = Owned<BIO, &BIO_free_all>;
using OwnedSsl = Owned<SSL, &SSL_free>;
using OwnedSslCtx = Owned<SSL_CTX, &SSL_CTX_free>;
using OwnedX509 = Owned<X509, &X509_free>;
using OwnedCrl = Owned<X509_CRL, &X509_CRL_free>;
using OwnedKey = Owned<EVP_PKEY, &EVP_PKEY_free>;

// Throws TlsError: one line that names the file, or the configuration key, and the fix.
[[nodiscard]] std::shared_ptr<const struct TlsMaterial> load_material(const TlsOptions& options);

// The result of one load. Immutable.
struct TlsMaterial {
  TlsOptions options;
  OwnedSslCtx context;
};

// The last error of this thread as text ("bad decrypt"), or "unknown error"; empties the queue.
[[nodiscard]] std::string openssl_error();

[[nodiscard]] std::string subject_of(const X509* certificate);
// Subject alternative names, each with its kind: "DNS:fix.example".
[[nodiscard]] std::vector<std::string> names_of(const X509* certificate);
// The common names of the subject.
[[nodiscard]] std::vector<std::string> common_names_of(const X509* certificate);
[[nodiscard]] std::chrono::sys_seconds time_of(const ASN1_TIME* time);
[[nodiscard]] CertificateFacts facts_of(const X509* certificate);

// Opens a regular file; the error names it.
[[nodiscard]] std::expected<OwnedBio, std::string> open_file(const std::string& file);
[[nodiscard]] std::expected<std::vector<OwnedX509>, std::string> load_certificates(const std::string& file);
[[nodiscard]] std::expected<std::vector<OwnedCrl>, std::string> load_revocations(const std::string& file);

// The certificate's names and fingerprint.
[[nodiscard]] TlsPeer peer_of(const X509* certificate);

// Describes a failed verification: the reason, the certificate, the fix. `wanted` is the requested name.
[[nodiscard]] std::string describe_verification(X509_STORE_CTX* state, const std::string& wanted);

// Requires a certificate for this name. An address is compared with the certificate's addresses.
[[nodiscard]] bool set_wanted_name(X509_VERIFY_PARAM* parameters, const std::string& name);

}  // namespace nfx::detail
