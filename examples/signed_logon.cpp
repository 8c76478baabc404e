// A Logon that is signed, as crypto venues expect it, and an acceptor that verifies it:
//   ./signed_logon venue.toml public.pem  and  ./signed_logon trader.toml private.pem   with Ed25519, or
//   ./signed_logon venue.toml secret.txt  and  ./signed_logon trader.toml secret.txt    with HMAC-SHA256
// RawData(96) has the signature of MsgType, SenderCompID, TargetCompID, MsgSeqNum and SendingTime, joined by SOH, in
// base64. Keys: `openssl genpkey -algorithm ed25519 -out private.pem` and `openssl pkey -in private.pem -pubout`.
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <nexusfix/engine/authenticator.hpp>
#include <nexusfix/engine/engine.hpp>
#include <nexusfix/engine/observer.hpp>

#include <array>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

unsigned char* bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
const unsigned char* bytes(const std::string& text) { return reinterpret_cast<const unsigned char*>(text.data()); }

std::string base64(const std::string& data) {
  std::string text(4 * ((data.size() + 2) / 3) + 1, '\0');
  text.resize(static_cast<std::size_t>(EVP_EncodeBlock(bytes(text), bytes(data), static_cast<int>(data.size()))));
  return text;
}

// Ed25519 from a PEM file, otherwise a secret for HMAC-SHA256.
class Key {
 public:
  explicit Key(const char* path) {
    std::ifstream file{path};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    if (text.empty()) throw std::runtime_error(std::string{path} + ": no key in this file");
    is_secret_ = !text.starts_with("-----BEGIN");
    can_sign_ = is_secret_ || text.contains("PRIVATE KEY");
    const std::unique_ptr<BIO, int (*)(BIO*)> pem{BIO_new_mem_buf(text.data(), -1), BIO_free};
    key_.reset(is_secret_  ? EVP_PKEY_new_raw_private_key(EVP_PKEY_HMAC, nullptr, bytes(text), text.size())
               : can_sign_ ? PEM_read_bio_PrivateKey(pem.get(), nullptr, nullptr, nullptr)
                           : PEM_read_bio_PUBKEY(pem.get(), nullptr, nullptr, nullptr));
    if (key_ == nullptr || (!is_secret_ && EVP_PKEY_get_id(key_.get()) != EVP_PKEY_ED25519))
      throw std::runtime_error(std::string{path} + ": not an Ed25519 key in PEM format");
  }

  // Empty: this key cannot sign.
  [[nodiscard]] std::string sign(const std::string& text) const {
    if (!can_sign_) return {};
    const Context context{EVP_MD_CTX_new(), EVP_MD_CTX_free};
    std::string signature(64, '\0');
    std::size_t size = signature.size();
    const EVP_MD* const digest = is_secret_ ? EVP_sha256() : nullptr;
    const bool good = EVP_DigestSignInit(context.get(), nullptr, digest, nullptr, key_.get()) == 1 &&
                      EVP_DigestSign(context.get(), bytes(signature), &size, bytes(text), text.size()) == 1;
    return good ? base64(signature.substr(0, size)) : std::string{};
  }

  // Secrets are compared in constant time.
  [[nodiscard]] bool verify(const std::string& text, const std::string& signature) const {
    if (is_secret_) {
      const std::string expected = sign(text);
      return !expected.empty() && signature.size() == expected.size() &&
             CRYPTO_memcmp(signature.data(), expected.data(), expected.size()) == 0;
    }
    std::string decoded(66, '\0');  // 64 bytes, and two for the "==" at the end
    if (signature.size() != 88 || !signature.ends_with("==")) return false;
    if (EVP_DecodeBlock(bytes(decoded), bytes(signature), 88) != 66) return false;
    const Context context{EVP_MD_CTX_new(), EVP_MD_CTX_free};
    return EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
           EVP_DigestVerify(context.get(), bytes(decoded), 64, bytes(text), text.size()) == 1;
  }

 private:
  using Context = std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)>;

  bool is_secret_ = false;
  bool can_sign_ = false;
  std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key_{nullptr, EVP_PKEY_free};
};

constexpr std::array signed_fields{nfx::Tag::MsgType, nfx::Tag::SenderCompID, nfx::Tag::TargetCompID,
                                   nfx::Tag::MsgSeqNum, nfx::Tag::SendingTime};

struct SignedLogon : nfx::Application, nfx::Authenticator, nfx::Observer {
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
    return key.verify(nfx::join_values(request.message, signed_fields),
                      std::string{request.message.get_view(nfx::Tag::RawData)});
  }
  void on_logon_refused(const nfx::LogonRefusal& refusal) override { std::cerr << to_string(refusal) << std::endl; }

  void on_logon(nfx::SessionHandle& session) override { say(session, "logged on"); }
  void on_logout(nfx::SessionHandle& session, std::string_view reason) override { say(session, reason); }
  nfx::Handled on_message(nfx::SessionHandle& session, const nfx::MessageView& message) override {
    say(session, message.msg_type());
    return nfx::Handled::done;
  }
  static void say(const nfx::SessionHandle& session, std::string_view text) {
    std::cout << session.config().sender_comp_id << ": " << text << std::endl;
  }

  Key key;
};

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: signed_logon CONFIG KEY");
  SignedLogon application{argv[2]};
  nfx::Engine{nfx::load_config(argv[1]), application}.run();
} catch (const std::exception& error) {
  std::cerr << "signed_logon: " << error.what() << std::endl;
  return 2;
}
