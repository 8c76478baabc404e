// Keys and tokens of NATS: Ed25519 by OpenSSL, texts in base 32 with a check sum, tokens in JSON.
#include "cluster/nats_users.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "nats/nats_stream.hpp"

namespace nfx::app::cluster_tools {
namespace {

using Json = nlohmann::json;
using Bytes = std::vector<std::uint8_t>;

void must(bool done, const std::string& what) {
  if (!done) throw std::runtime_error("cannot " + what);
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

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

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
    const std::unique_ptr<EVP_MD_CTX, FreeKey> context{EVP_MD_CTX_new()};
    Bytes made(signature_size);
    std::size_t size = made.size();
    must(context != nullptr && EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
             EVP_DigestSign(context.get(), made.data(), &size, reinterpret_cast<const unsigned char*>(text.data()),
                            text.size()) == 1,
         "sign a token");
    return made;
  }

  Kind kind_;
  std::unique_ptr<EVP_PKEY, FreeKey> key_;
  std::string name_;
};

void write_private(const std::filesystem::path& path, std::string_view text) {
  ::unlink(path.c_str());
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  must(fd >= 0, "create " + path.string() + "; may this user write in its folder?");
  const ssize_t written = ::write(fd, text.data(), text.size());
  ::close(fd);
  must(written == static_cast<ssize_t>(text.size()), "write " + path.string());
}

// What a user of this name may do, apart from receiving its answers.
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
    write_private(credentials_file(folder, name),
                  "-----BEGIN NATS USER JWT-----\n" + token +
                      "\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n" + user.seed() +
                      "\n------END USER NKEY SEED------\n");
  }
  // The last one: where it is there, all of them are.
  write_private(
      folder / "accounts.conf",
      "operator: " +
          operator_key.token(operator_key.name(), "nexusfix", "operator", {{"system_account", system.name()}}) +
          "\nsystem_account: " + system.name() + "\nresolver: MEMORY\nresolver_preload: {\n  " + account.name() + ": " +
          account_token(account, "nexusfix", stored) + "\n  " + system.name() + ": " +
          account_token(system, "system", limits) + "\n}\n");
}

}  // namespace nfx::app::cluster_tools
