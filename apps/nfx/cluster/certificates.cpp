// The authority and the certificate of a cluster, made by OpenSSL's library.
#include "cluster/certificates.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace nfx::app::cluster_tools {
namespace {

constexpr long hour_s = 3600, year_s = 366L * 24 * hour_s;

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
  void operator()(std::FILE* file) const { std::fclose(file); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

void must(bool done, const std::string& what) {
  if (!done) throw std::runtime_error("cannot " + what);
}

Owned<EVP_PKEY> make_key() {
  Owned<EVP_PKEY> key{EVP_EC_gen("P-256")};
  must(key != nullptr, "make a key for TLS");
  return key;
}

void extend(X509* certificate, X509* issuer, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Owned<X509_EXTENSION> extension{X509V3_EXT_conf_nid(nullptr, &context, kind, value)};
  must(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1, "extend a certificate");
}

// Without an issuer it signs itself.
Owned<X509> make_certificate(const char* name, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key, long serial,
                             const std::string& alternative_names) {
  Owned<X509> made{X509_new()};
  must(made != nullptr, "make a certificate");
  X509* certificate = made.get();
  X509* signer = issuer != nullptr ? issuer : certificate;
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -hour_s);
  X509_gmtime_adj(X509_getm_notAfter(certificate), year_s);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  X509_set_issuer_name(certificate, X509_get_subject_name(signer));
  X509_set_pubkey(certificate, key);
  extend(certificate, signer, NID_subject_key_identifier, "hash");
  if (issuer == nullptr) {
    extend(certificate, signer, NID_basic_constraints, "critical,CA:TRUE");
    extend(certificate, signer, NID_key_usage, "critical,keyCertSign,cRLSign");
  } else {
    extend(certificate, signer, NID_basic_constraints, "CA:FALSE");
    extend(certificate, signer, NID_subject_alt_name, alternative_names.c_str());
    extend(certificate, signer, NID_ext_key_usage, "serverAuth,clientAuth");
  }
  must(X509_sign(certificate, issuer_key, EVP_sha256()) > 0, "sign a certificate");
  return made;
}

template <class Write>
void write_to(const std::filesystem::path& path, mode_t mode, Write&& write) {
  ::unlink(path.c_str());
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  Owned<std::FILE> file{fd < 0 ? nullptr : ::fdopen(fd, "w")};
  must(file != nullptr, "create " + path.string() + "; may this user write in its folder?");
  must(write(file.get()) == 1 && std::fclose(file.release()) == 0, "write " + path.string());
}

}  // namespace

CertificateFiles make_certificates(const std::filesystem::path& folder, const std::vector<std::string>& hosts) {
  std::string names;
  for (const std::string& host : hosts) {
    const bool is_address = host.find_first_not_of("0123456789.") == std::string::npos;
    names += (names.empty() ? "" : ",") + std::string{is_address ? "IP:" : "DNS:"} + host;
  }
  const CertificateFiles files{folder / "ca.pem", folder / "server.pem", folder / "server.key"};
  const Owned<EVP_PKEY> authority_key = make_key(), key = make_key();
  const Owned<X509> authority =
      make_certificate("NexusFIX cluster", authority_key.get(), nullptr, authority_key.get(), 1, {});
  const Owned<X509> certificate = make_certificate("server", key.get(), authority.get(), authority_key.get(), 2, names);
  write_to(files.authority, 0644, [&](std::FILE* out) { return PEM_write_X509(out, authority.get()); });
  write_to(files.certificate, 0644, [&](std::FILE* out) { return PEM_write_X509(out, certificate.get()); });
  write_to(files.key, 0600,
           [&](std::FILE* out) { return PEM_write_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
  return files;
}

}  // namespace nfx::app::cluster_tools
