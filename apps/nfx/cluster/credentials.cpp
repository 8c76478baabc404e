// Certificates of a cluster by OpenSSL's library, and keys and tokens of NATS: Ed25519, texts in base 32 with a check
// sum, tokens in JSON.
#include "cluster/credentials.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/error_text.hpp"
#include "nats/nats_stream.hpp"

namespace nfx::app::cluster_tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Bytes = std::vector<std::uint8_t>;

constexpr long hour_s = 3600, year_s = 366L * 24 * hour_s;

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
  void operator()(BIO* memory) const { BIO_free(memory); }
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

// Overwrites an existing file.
void write_file(const fs::path& path, mode_t mode, std::string_view text) {
  ::unlink(path.c_str());
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd < 0) throw std::runtime_error(cannot("write", path, errno));
  const ssize_t written = ::write(fd, text.data(), text.size());
  ::close(fd);
  must(written == static_cast<ssize_t>(text.size()), "write " + path.string());
}

template <class Write>
void write_pem(const fs::path& path, mode_t mode, Write&& write) {
  const Owned<BIO> memory{BIO_new(BIO_s_mem())};
  must(memory != nullptr && write(memory.get()) == 1, "write " + path.string());
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  write_file(path, mode, {text, static_cast<std::size_t>(size)});
}

// RFC 4648 without padding: base 32 in groups of 5 bits, base 64 for URLs in groups of 6.
std::string encoded(const Bytes& bytes, unsigned bits, std::string_view alphabet) {
  std::string text;
  std::uint32_t waiting = 0;
  unsigned count = 0;
  for (const std::uint8_t byte : bytes) {
    waiting = waiting << 8 | byte;
    for (count += 8; count >= bits; count -= bits) text += alphabet[waiting >> (count - bits) & ((1U << bits) - 1)];
    waiting &= (1U << count) - 1;
  }
  if (count != 0) text += alphabet[waiting << (bits - count) & ((1U << bits) - 1)];
  return text;
}
std::string base32(const Bytes& bytes) { return encoded(bytes, 5, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"); }
std::string base64(const Bytes& bytes) {
  return encoded(bytes, 6, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
}
Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

// CRC-16 with the polynomial 0x1021, from 0 on.
std::uint16_t check_sum(const Bytes& bytes) {
  std::uint32_t sum = 0;
  for (const std::uint8_t byte : bytes) {
    sum ^= std::uint32_t{byte} << 8;
    for (int bit = 0; bit < 8; ++bit) sum = (sum & 0x8000U) != 0 ? sum << 1 ^ 0x1021U : sum << 1;
  }
  return static_cast<std::uint16_t>(sum);
}

std::string key_text(Bytes bytes) {
  const std::uint16_t sum = check_sum(bytes);
  bytes.push_back(static_cast<std::uint8_t>(sum & 0xFFU));
  bytes.push_back(static_cast<std::uint8_t>(sum >> 8));
  return base32(bytes);
}

// The first letters of a key's text: O, A, U and, for a seed, S.
enum class Kind : std::uint8_t { account = 0, operator_key = 14 << 3, user = 20 << 3 };
constexpr std::uint8_t seed_prefix = 18 << 3;

class Key {
 public:
  explicit Key(Kind kind) : kind_(kind), key_(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")) {
    must(key_ != nullptr, "make a key of a NATS user");
    Bytes bytes(1 + key_size);
    bytes[0] = static_cast<std::uint8_t>(kind);
    std::size_t size = key_size;
    must(EVP_PKEY_get_raw_public_key(key_.get(), bytes.data() + 1, &size) == 1 && size == key_size, "read a key");
    name_ = key_text(std::move(bytes));
  }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  [[nodiscard]] std::string seed() const {
    const auto prefix = static_cast<std::uint8_t>(kind_);
    Bytes bytes(2 + key_size);
    bytes[0] = static_cast<std::uint8_t>(seed_prefix | prefix >> 5);
    bytes[1] = static_cast<std::uint8_t>((prefix & 31U) << 3);
    std::size_t size = key_size;
    must(EVP_PKEY_get_raw_private_key(key_.get(), bytes.data() + 2, &size) == 1 && size == key_size, "read a key");
    return key_text(std::move(bytes));
  }

  // A statement about `subject` that is signed by this key.
  [[nodiscard]] std::string token(const std::string& subject, const std::string& name, const char* type,
                                  Json claims) const {
    claims["type"] = type;
    claims["version"] = 2;
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    Json body{{"iat", std::chrono::duration_cast<std::chrono::seconds>(since_1970).count()},
              {"iss", name_},
              {"name", name},
              {"sub", subject},
              {"nats", std::move(claims)}};
    const Bytes content = bytes_of(body.dump());
    Bytes digest(32);
    unsigned size = 0;
    must(EVP_Digest(content.data(), content.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1, "hash a token");
    body["jti"] = base32(digest);
    const std::string text =
        base64(bytes_of(R"({"typ":"JWT","alg":"ed25519-nkey"})")) + "." + base64(bytes_of(body.dump()));
    return text + "." + base64(signature(text));
  }

 private:
  static constexpr std::size_t key_size = 32, signature_size = 64;

  [[nodiscard]] Bytes signature(std::string_view text) const {
    const Owned<EVP_MD_CTX> context{EVP_MD_CTX_new()};
    Bytes made(signature_size);
    std::size_t size = made.size();
    must(context != nullptr && EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
             EVP_DigestSign(context.get(), made.data(), &size, reinterpret_cast<const unsigned char*>(text.data()),
                            text.size()) == 1,
         "sign a token");
    return made;
  }

  Kind kind_;
  Owned<EVP_PKEY> key_;
  std::string name_;
};

// The permissions of a user of this name, besides receiving its answers.
Json permissions_of(std::string_view user, const std::string& stream) {
  if (user == "admin") return Json::object();
  const std::string leases = "KV_" + stream;
  Json publish = {"$JS.API.INFO", "$JS.API.STREAM.INFO." + stream};
  const std::string audit = nats::audit_stream(stream);
  publish.push_back("$JS.API.STREAM.INFO." + audit);
  for (const std::string& read : {stream, leases, audit})
    for (const char* subjects : {"", ".>"}) publish.push_back("$JS.API.DIRECT.GET." + read + subjects);
  Json subscribe = {"_INBOX.>", "$KV." + stream + ".>"};  // answers, and leases, to which NatsStream subscribes
  if (user == "gateway") {
    for (const std::string& subject : {stream + ".>", "$KV." + stream + ".>", "$JS.API.STREAM.INFO." + leases})
      publish.push_back(subject);
    subscribe.push_back(stream + ".>");
  } else {
    for (const std::string& read : {stream, audit}) {
      for (const char* request : {"CREATE", "DURABLE.CREATE", "INFO", "DELETE", "MSG.NEXT"})
        publish.push_back("$JS.API.CONSUMER." + std::string{request} + "." + read + ".>");
      publish.push_back("$JS.API.CONSUMER.CREATE." + read);
      publish.push_back("$JS.ACK." + read + ".>");
      publish.push_back("$JS.FC." + read + ".>");
    }
  }
  return {{"pub", {{"allow", publish}}}, {"sub", {{"allow", subscribe}}}};
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
  write_pem(files.authority, 0644, [&](BIO* out) { return PEM_write_bio_X509(out, authority.get()); });
  write_pem(files.certificate, 0644, [&](BIO* out) { return PEM_write_bio_X509(out, certificate.get()); });
  write_pem(files.key, 0600,
            [&](BIO* out) { return PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
  return files;
}

std::filesystem::path credentials_file(const std::filesystem::path& folder, std::string_view user) {
  return folder / (std::string{user} + ".creds");
}

void make_users(const std::filesystem::path& folder, const std::string& stream) {
  const Key operator_key{Kind::operator_key}, account{Kind::account}, system{Kind::account};
  const Json unlimited = {{"subs", -1}, {"data", -1}, {"payload", -1}};
  Json limits = unlimited;
  limits.update({{"imports", -1}, {"exports", -1}, {"conn", -1}, {"leaf", -1}, {"wildcards", true}});
  const auto account_token = [&](const Key& key, const char* name, const Json& granted) {
    return operator_key.token(key.name(), name, "account", {{"limits", granted}});
  };
  Json stored = limits;
  stored.update({{"mem_storage", -1}, {"disk_storage", -1}, {"streams", -1}, {"consumer", -1}});
  for (const std::string_view name : user_names) {
    const Key user{Kind::user};
    Json claims = permissions_of(name, stream);
    claims.update(unlimited);
    const std::string token = account.token(user.name(), std::string{name}, "user", claims);
    write_file(credentials_file(folder, name), 0600,
               "-----BEGIN NATS USER JWT-----\n" + token +
                   "\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n" + user.seed() +
                   "\n------END USER NKEY SEED------\n");
  }
  // Written last: if it exists, all files exist.
  write_file(folder / "accounts.conf", 0600,
             "operator: " +
                 operator_key.token(operator_key.name(), "nexusfix", "operator", {{"system_account", system.name()}}) +
                 "\nsystem_account: " + system.name() + "\nresolver: MEMORY\nresolver_preload: {\n  " + account.name() +
                 ": " + account_token(account, "nexusfix", stored) + "\n  " + system.name() + ": " +
                 account_token(system, "system", limits) + "\n}\n");
}

}  // namespace nfx::app::cluster_tools
