// Checks and loads certificates, keys and revocation lists, so that mistakes are found at start and not in a handshake.
#include "transport/tls_context.hpp"

#include <openssl/crypto.h>
#include <openssl/pem.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error_text.hpp"
#include "nexusfix/base/secret.hpp"
#include "transport/tls_material.hpp"

namespace nfx {
namespace detail {
namespace {

[[noreturn]] void fail(std::string text) {
  ERR_clear_error();
  throw TlsError(std::move(text));
}

template <class T>
T or_fail(std::expected<T, std::string> result) {
  if (!result) fail(result.error());
  return std::move(*result);
}

// Rejects contradictory options, and options that would admit peers they are meant to refuse.
void check(const TlsOptions& o) {
  if (o.certificate.empty() && !o.key.empty()) {
    fail("tls_key without tls_certificate: " + o.key + " needs its certificate; name it too");
  }
  if (o.max_version < o.min_version) fail("tls_min_version is above tls_max_version");
  if (o.client_certificate != ClientCertificate::none) {
    if (!o.verify) fail("tls_client_certificate without tls_verify: certificates would be requested and not checked");
    if (o.ca.empty()) {
      fail(
          "tls_client_certificate without tls_ca: any holder of a certificate of a public authority could connect; "
          "name the authority that signs your clients");
    }
  }
  if (o.client_certificate == ClientCertificate::request && !o.peer_names.empty()) {
    fail(
        "tls_peer_names with tls_client_certificate \"request\": clients without a certificate could log on; "
        "use \"require\"");
  }
  if (!o.verify && !o.peer_names.empty()) fail("tls_peer_names without tls_verify: names would not be checked");
  if (!o.verify && !o.crl.empty()) fail("tls_crl without tls_verify: revocation would not be checked");
}

int version_number(TlsVersion version) {
  switch (version) {
    case TlsVersion::tls_1_2: return TLS1_2_VERSION;
    case TlsVersion::tls_1_3: return TLS1_3_VERSION;
  }
  return TLS1_2_VERSION;
}

void set_protocol(SSL_CTX* context, const TlsOptions& o) {
  SSL_CTX_set_min_proto_version(context, version_number(o.min_version));
  SSL_CTX_set_max_proto_version(context, version_number(o.max_version));
  if (!o.ciphers.empty() && SSL_CTX_set_cipher_list(context, o.ciphers.c_str()) != 1) {
    fail("tls_ciphers \"" + o.ciphers +
         "\": OpenSSL knows none of them ('openssl ciphers -tls1_2' lists what there is)");
  }
  if (!o.ciphersuites.empty() && SSL_CTX_set_ciphersuites(context, o.ciphersuites.c_str()) != 1) {
    fail("tls_ciphersuites \"" + o.ciphersuites +
         "\": OpenSSL does not know them ('openssl ciphers -tls1_3 -s' lists what there is)");
  }
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  // Sends peers only the certificates in the certificate's file, without others from tls_ca.
  SSL_CTX_set_mode(context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_NO_AUTO_CHAIN);
  // A session lasts a trading day, so a session cache would only be another secret to protect, and a resuming peer
  // would not be verified again.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  constexpr unsigned char scope[] = "nexusfix";
  SSL_CTX_set_session_id_context(context, scope, sizeof scope - 1);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
}

void check_dates(const X509* certificate, const std::string& file) {
  const std::string which = file + ": the certificate of " + subject_of(certificate);
  if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0) {
    fail(which + " expired on " + to_text(time_of(X509_get0_notAfter(certificate))) + "; install a renewed one");
  }
  if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0) {
    fail(which + " is valid only from " + to_text(time_of(X509_get0_notBefore(certificate))) +
         "; is this host's clock right?");
  }
}

Secret password_of(const TlsOptions& o) {
  if (o.key_password) {
    std::string given = o.key_password();
    Secret password{given};
    clear_text(given);
    return password;
  }
  if (o.key_password_env.empty()) return {};
  if (std::getenv(o.key_password_env.c_str()) == nullptr) {  // NOLINT(concurrency-mt-unsafe): no thread sets any
    fail("tls_key_password_env: " + not_set(o.key_password_env) + "; set it to the key's password");
  }
  return environment_secret(o.key_password_env);
}

// Keeps private keys in memory that is not swapped and not in core dumps, as far as OpenSSL allows: the numbers of a
// key, not intermediate results. Pages are used on demand; there is space for some 2,000 RSA 4096 keys.
void use_secret_memory() {
  constexpr std::size_t bytes = std::size_t{16} << 20, smallest = 32;
  static const int made = CRYPTO_secure_malloc_initialized() != 0 ? 1 : CRYPTO_secure_malloc_init(bytes, smallest);
  static_cast<void>(made);  // without it, keys are in ordinary memory
}

OwnedKey load_key(const TlsOptions& o, const std::string& file) {
  use_secret_memory();
  const OwnedBio bio = or_fail(open_file(file));
  struct Answer {
    Secret password;
    bool asked = false;
  } answer{password_of(o), false};
  // Without this, OpenSSL would prompt on the terminal.
  const auto give = [](char* out, int size, int /*writing*/, void* user) {
    auto& known = *static_cast<Answer*>(user);
    known.asked = true;
    const std::string_view password = known.password.reveal();
    if (password.empty() || password.size() > static_cast<std::size_t>(size)) return -1;
    std::ranges::copy(password, out);
    return static_cast<int>(password.size());
  };
  OwnedKey key{PEM_read_bio_PrivateKey(bio.get(), nullptr, give, &answer)};
  if (key) return key;
  if (answer.asked && answer.password.empty()) {
    fail(file +
         ": the key is encrypted and no password is known; name the environment variable that holds it in "
         "tls_key_password_env");
  }
  if (answer.asked) fail(file + ": the password does not open the key (" + openssl_error() + ")");
  fail(file + ": holds no private key in PEM form (" + openssl_error() + ")");
}

void load_own(SSL_CTX* context, const TlsOptions& o) {
  if (o.certificate.empty()) return;
  const auto chain = or_fail(load_certificates(o.certificate));
  check_dates(chain.front().get(), o.certificate);
  if (SSL_CTX_use_certificate(context, chain.front().get()) != 1) {
    fail(o.certificate + ": OpenSSL refuses the certificate (" + openssl_error() + ")");
  }
  for (std::size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, chain[i].get()) != 1) {
      fail(o.certificate + ": OpenSSL refuses certificate " + std::to_string(i + 1) + " (" + openssl_error() + ")");
    }
  }
  const std::string& key_file = o.key.empty() ? o.certificate : o.key;
  const OwnedKey key = load_key(o, key_file);
  if (X509_check_private_key(chain.front().get(), key.get()) != 1) {
    fail(key_file + ": the key does not belong to the certificate in " + o.certificate + " (" +
         subject_of(chain.front().get()) + "); the file's first certificate must be our own");
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1)
    fail(key_file + ": OpenSSL refuses the key (" + openssl_error() + ")");
}

void trust_file(SSL_CTX* context, const TlsOptions& o, const std::string& file) {
  for (const auto& certificate : or_fail(load_certificates(file))) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate.get()) != 1)
      fail(file + ": " + openssl_error());
    // The names of the authorities, from which clients with several certificates choose.
    if (o.client_certificate != ClientCertificate::none) SSL_CTX_add_client_CA(context, certificate.get());
  }
}

void load_trust(SSL_CTX* context, const TlsOptions& o) {
  if (!o.verify && o.ca.empty()) return;
  if (o.ca.empty()) {
    if (SSL_CTX_set_default_verify_paths(context) != 1)
      fail("cannot read the system's authorities: " + openssl_error());
    return;
  }
  std::error_code error;
  if (std::filesystem::is_directory(o.ca, error)) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(o.ca, error)) {
      if (entry.is_regular_file()) files.push_back(entry.path().string());
    }
    if (files.empty()) fail(o.ca + ": holds no files; it should hold the authorities' certificates");
    std::ranges::sort(files);
    for (const std::string& file : files) trust_file(context, o, file);
  } else {
    trust_file(context, o, o.ca);
  }
  // Trusts every certificate in tls_ca, also an intermediate authority or a single peer's own certificate.
  X509_STORE_set_flags(SSL_CTX_get_cert_store(context), X509_V_FLAG_PARTIAL_CHAIN);
}

void load_revoked(SSL_CTX* context, const TlsOptions& o) {
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  for (const std::string& file : o.crl) {
    for (const auto& list : or_fail(load_revocations(file))) {
      const ASN1_TIME* next = X509_CRL_get0_nextUpdate(list.get());
      if (next != nullptr && X509_cmp_current_time(next) < 0) {
        fail(file + ": the revocation list was to be replaced by " + to_text(time_of(next)) +
             "; get the authority's current one");
      }
      if (X509_STORE_add_crl(store, list.get()) != 1) fail(file + ": " + openssl_error());
    }
  }
  if (!o.crl.empty()) X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
}

}  // namespace

std::shared_ptr<const TlsMaterial> load_material(const TlsOptions& options) {
  check(options);
  auto material = std::make_shared<TlsMaterial>(options, OwnedSslCtx{SSL_CTX_new(TLS_method())});
  SSL_CTX* context = material->context.get();
  if (context == nullptr) fail("OpenSSL cannot be set up: " + openssl_error());
  set_protocol(context, options);
  load_own(context, options);
  load_trust(context, options);
  load_revoked(context, options);
  ERR_clear_error();
  return material;
}

}  // namespace detail

TlsContext::TlsContext(TlsOptions options) : options_(std::move(options)), material_(detail::load_material(options_)) {}
TlsContext::~TlsContext() = default;

std::expected<void, std::string> TlsContext::reload() {
  std::shared_ptr<const detail::TlsMaterial> loaded;
  try {
    loaded = detail::load_material(options_);
  } catch (const std::exception& error) {
    return std::unexpected(std::string{error.what()});
  }
  // The previous material is freed after the lock is released.
  const std::lock_guard lock(mutex_);
  material_.swap(loaded);
  return {};
}

std::string TlsContext::why_no_server() const {
  if (options_.certificate.empty()) return "a TLS listener needs a certificate: set tls_certificate and tls_key";
  if (!options_.peer_names.empty() && options_.client_certificate != ClientCertificate::require) {
    return "tls_peer_names on a listener: clients are not requested to send certificates, so they have no names; set "
           "tls_client_certificate to \"require\"";
  }
  return {};
}

std::shared_ptr<const detail::TlsMaterial> TlsContext::material() const {
  const std::lock_guard lock(mutex_);
  return material_;
}

}  // namespace nfx
