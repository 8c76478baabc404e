// A Logon that is signed, as crypto venues expect it, and an acceptor that verifies it:
//   ./signed_logon venue.toml public.pem  and  ./signed_logon trader.toml private.pem   with Ed25519, or
//   ./signed_logon venue.toml secret.txt  and  ./signed_logon trader.toml secret.txt    with HMAC-SHA256
// The signature of MsgType, SenderCompID, TargetCompID, MsgSeqNum and SendingTime, joined by SOH, is in RawData(96) in
// base64. `openssl genpkey -algorithm ed25519 -out private.pem` makes a key, `openssl pkey -in private.pem -pubout` its
// public half.
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <nexusfix/engine/engine.hpp>

#include <array>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

std::string base64(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const auto* from = reinterpret_cast<const unsigned char*>(bytes.data());
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), from, static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

// Ed25519 from a PEM file, otherwise a secret for HMAC-SHA256.
class Key {
 public:
  explicit Key(const char* path) {
    std::ifstream file{path};
    secret_.assign(std::istreambuf_iterator<char>{file}, {});
    if (secret_.empty()) throw std::runtime_error(std::string{path} + ": no key in this file");
    if (!secret_.starts_with("-----BEGIN")) return;
    const std::unique_ptr<BIO, int (*)(BIO*)> bio{BIO_new_mem_buf(secret_.data(), -1), BIO_free};
    is_private_ = secret_.contains("PRIVATE KEY");
    pair_.reset(is_private_ ? PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr)
                            : PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr));
    if (pair_ == nullptr || EVP_PKEY_get_id(pair_.get()) != EVP_PKEY_ED25519)
      throw std::runtime_error(std::string{path} + ": not an Ed25519 key in PEM format");
  }

  // Empty: this key cannot sign.
  [[nodiscard]] std::string sign(const std::string& text) const {
    if (pair_ == nullptr) return base64(hmac(text));
    if (!is_private_) return {};
    const auto context = begin();
    std::string signature(64, '\0');
    std::size_t size = signature.size();
    const bool good = EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, pair_.get()) == 1 &&
                      EVP_DigestSign(context.get(), bytes(signature), &size, bytes(text), text.size()) == 1;
    return good ? base64(signature) : std::string{};
  }

  // Compared in constant time.
  [[nodiscard]] bool verify(const std::string& text, std::string_view signature) const {
    if (pair_ == nullptr) {
      const std::string expected = base64(hmac(text));
      return signature.size() == expected.size() &&
             CRYPTO_memcmp(signature.data(), expected.data(), expected.size()) == 0;
    }
    constexpr std::size_t encoded_size = 88;  // 64 bytes, with "==" at the end
    if (signature.size() != encoded_size || !signature.ends_with("==")) return false;
    std::array<unsigned char, 66> decoded{};
    const auto* from = reinterpret_cast<const unsigned char*>(signature.data());
    if (EVP_DecodeBlock(decoded.data(), from, static_cast<int>(signature.size())) != 66) return false;
    const auto context = begin();
    return EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, pair_.get()) == 1 &&
           EVP_DigestVerify(context.get(), decoded.data(), 64, bytes(text), text.size()) == 1;
  }

 private:
  static unsigned char* bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
  static const unsigned char* bytes(const std::string& text) {
    return reinterpret_cast<const unsigned char*>(text.data());
  }
  static std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> begin() { return {EVP_MD_CTX_new(), EVP_MD_CTX_free}; }
  [[nodiscard]] std::string hmac(const std::string& text) const {
    std::string digest(32, '\0');
    unsigned size = 0;
    HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()), bytes(text), text.size(), bytes(digest),
         &size);
    return digest;
  }

  std::string secret_;
  bool is_private_ = false;
  std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> pair_{nullptr, EVP_PKEY_free};
};

constexpr std::array signed_fields{nfx::Tag::MsgType, nfx::Tag::SenderCompID, nfx::Tag::TargetCompID,
                                   nfx::Tag::MsgSeqNum, nfx::Tag::SendingTime};

struct SignedLogon : nfx::Application {
  explicit SignedLogon(const char* key_file) : key(key_file) {}

  // The initiator's side.
  void on_session_message_sending(nfx::SessionHandle& session, nfx::SessionMessage& message) override {
    if (!message.is_logon() || session.config().role != nfx::Role::initiator) return;
    const std::string signature = key.sign(nfx::join_values(message, signed_fields));
    if (signature.empty() || !message.set_data(nfx::Tag::RawDataLength, nfx::Tag::RawData, signature))
      message.cancel("the Logon cannot be signed with this key");
  }
  // The acceptor's side.
  bool on_logon_request(const nfx::LogonRequest& request) override {
    return key.verify(nfx::join_values(request.message, signed_fields), request.message.get_view(nfx::Tag::RawData));
  }
  void on_logon_refused(const nfx::LogonRefusal& refusal) override { std::cerr << to_string(refusal) << std::endl; }

  void on_logon(nfx::SessionHandle& session) override { say(session, "logged on"); }
  void on_logout(nfx::SessionHandle& session, std::string_view reason) override { say(session, reason); }
  void on_message(nfx::SessionHandle& session, const nfx::MessageView& message) override {
    say(session, message.msg_type());
  }
  static void say(const nfx::SessionHandle& session, std::string_view text) {
    std::cout << session.config().sender_comp_id << ": " << text << std::endl;
  }

  Key key;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: signed_logon CONFIG KEY");
  SignedLogon application{argv[2]};
  nfx::Engine{nfx::load_config(argv[1]), application}.run();
} catch (const std::exception& error) {
  std::cerr << "signed_logon: " << error.what() << std::endl;
  return 2;
}
