// Authorities and certificates for tests and benchmarks of TLS, created at run time, so that nothing in the repository
// can expire.
// Thread: one. Errors: std::runtime_error that names what could not be created.
#pragma once

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "temporary_folder.hpp"

namespace nfx::testing {

inline void must(bool done, const std::string& what) {
  if (!done) throw std::runtime_error("cannot " + what);
}

struct CertificateWish {
  std::string name = "server";  // common name, and name of the files
  std::string alternative_names = "DNS:localhost,IP:127.0.0.1";
  long valid_from_s = -3600;  // relative to now
  long valid_until_s = 86400;
  std::string usage = "serverAuth,clientAuth";
  std::string password;  // of the key's file
  bool authority = false;
};

// An authority with its certificate on disk, which signs others.
class Authority {
 public:
  explicit Authority(const test::TemporaryFolder& folder, const std::string& name = "Test CA",
                     Authority* parent = nullptr)
      : folder_(folder), name_(name), file_(folder.file(name + ".pem")) {
    CertificateWish wish;
    wish.name = name;
    wish.alternative_names.clear();
    wish.usage.clear();
    wish.authority = true;
    wish.valid_until_s = 10L * 86400;
    key_ = EVP_EC_gen("P-256");
    certificate_ = (parent == nullptr ? *this : *parent).sign(wish, key_, parent == nullptr);
    write_certificates(file_, {certificate_});
  }
  ~Authority() {
    X509_free(certificate_);
    EVP_PKEY_free(key_);
  }
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  struct Files {
    std::string certificate;
    std::string key;
    long serial = 0;
  };

  // `between` follows the certificate in its file.
  [[nodiscard]] Files issue(const CertificateWish& wish, const Authority* between = nullptr) {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = sign(wish, key, false);
    const Files files{folder_.file(wish.name + ".crt"), folder_.file(wish.name + ".key"), serial_};
    std::vector<X509*> chain{certificate};
    if (between != nullptr) chain.push_back(between->certificate_);
    write_certificates(files.certificate, chain);
    std::FILE* out = std::fopen(files.key.c_str(), "w");
    const EVP_CIPHER* cipher = wish.password.empty() ? nullptr : EVP_aes_128_cbc();
    must(PEM_write_PrivateKey(out, key, cipher, reinterpret_cast<const unsigned char*>(wish.password.data()),
                              static_cast<int>(wish.password.size()), nullptr, nullptr) == 1,
         "write " + files.key);
    std::fclose(out);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return files;
  }

  // A revocation list with these serials.
  [[nodiscard]] std::string revocations(const std::vector<long>& serials, long next_update_s = 86400,
                                        const std::string& file = "crl.pem") const {
    X509_CRL* list = X509_CRL_new();
    X509_CRL_set_version(list, 1);
    X509_CRL_set_issuer_name(list, X509_get_subject_name(certificate_));
    ASN1_TIME* time = ASN1_TIME_new();
    X509_CRL_set1_lastUpdate(list, X509_gmtime_adj(time, -7200));
    X509_CRL_set1_nextUpdate(list, X509_gmtime_adj(time, next_update_s));
    for (const long serial : serials) {
      X509_REVOKED* entry = X509_REVOKED_new();
      ASN1_INTEGER* number = ASN1_INTEGER_new();
      ASN1_INTEGER_set(number, serial);
      X509_REVOKED_set_serialNumber(entry, number);
      X509_REVOKED_set_revocationDate(entry, X509_gmtime_adj(time, -3600));
      X509_CRL_add0_revoked(list, entry);
      ASN1_INTEGER_free(number);
    }
    must(X509_CRL_sign(list, key_, EVP_sha256()) > 0, "sign a revocation list");
    const std::string path = folder_.file(file);
    std::FILE* out = std::fopen(path.c_str(), "w");
    must(PEM_write_X509_CRL(out, list) == 1, "write " + path);
    std::fclose(out);
    ASN1_TIME_free(time);
    X509_CRL_free(list);
    return path;
  }

  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  static void write_certificates(const std::string& path, const std::vector<X509*>& certificates) {
    std::FILE* out = std::fopen(path.c_str(), "w");
    for (X509* certificate : certificates) must(PEM_write_X509(out, certificate) == 1, "write " + path);
    std::fclose(out);
  }

  static void extend(X509* certificate, X509* issuer, int kind, const std::string& value) {
    if (value.empty()) return;
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
    must(extension != nullptr, "make a certificate with " + value);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }

  X509* sign(const CertificateWish& wish, EVP_PKEY* key, bool self) {
    X509* made = X509_new();
    X509_set_version(made, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made), ++serial_);
    X509_gmtime_adj(X509_getm_notBefore(made), wish.valid_from_s);
    X509_gmtime_adj(X509_getm_notAfter(made), wish.valid_until_s);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(wish.name.c_str()), -1, -1, 0);
    X509* issuer = self ? made : certificate_;
    X509_set_issuer_name(made, X509_get_subject_name(issuer));
    X509_set_pubkey(made, key);
    extend(made, issuer, NID_basic_constraints, wish.authority ? "critical,CA:TRUE" : "CA:FALSE");
    if (wish.authority) extend(made, issuer, NID_key_usage, "critical,keyCertSign,cRLSign");
    extend(made, issuer, NID_subject_key_identifier, "hash");
    extend(made, issuer, NID_subject_alt_name, wish.alternative_names);
    extend(made, issuer, NID_ext_key_usage, wish.usage);
    must(X509_sign(made, self ? key : key_, EVP_sha256()) > 0, "sign the certificate of " + wish.name);
    return made;
  }

  const test::TemporaryFolder& folder_;
  std::string name_;
  std::string file_;
  EVP_PKEY* key_ = nullptr;
  X509* certificate_ = nullptr;
  long serial_ = 100;
};

}  // namespace nfx::testing
