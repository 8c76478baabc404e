// OpenSSL on memory: a BIO reads the given input and writes to a bounded buffer.
#include "transport/tls_stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "nexusfix/base/assert.hpp"
#include "transport/tls_context.hpp"
#include "transport/tls_failure.hpp"
#include "transport/tls_material.hpp"
#include "transport/transport.hpp"

namespace nfx::detail {
namespace {

constexpr std::size_t largest_record = SSL3_RT_MAX_PLAIN_LENGTH;
constexpr std::size_t record_overhead = SSL3_RT_MAX_ENCRYPTED_OVERHEAD + SSL3_RT_HEADER_LENGTH + 64;
// For handshakes, alerts and key changes, which occur even if data fills the rest.
constexpr std::size_t reserve = 16 * 1024;
// Less space than this is not used: short records have too much overhead.
constexpr std::size_t least_chunk = 1024;
// The first bytes from a client: its Logon, which contains a password. More would cost time for every message.
constexpr std::size_t first_bytes = 8 * 1024;

}  // namespace

struct TlsStream::Ssl {
  TlsSide side;
  std::string name;  // expected name in the peer's certificate
  std::shared_ptr<const TlsMaterial> material;
  OwnedSsl handle;
  bool verifies = false;
  bool established = false;
  bool certificate_requested = false;
  std::vector<std::string> problems;

  // The index in OpenSSL's objects that holds the pointer to our object.
  static int slot() {
    static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
  }
  static Ssl& of(const SSL* handle) { return *static_cast<Ssl*>(SSL_get_ex_data(handle, slot())); }

  // OpenSSL calls this once per certificate, and once more per problem. Problems are recorded here, while the
  // certificate is available; without verification the handshake continues.
  static int verify(int good, X509_STORE_CTX* state) noexcept {
    auto* handle = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(state, SSL_get_ex_data_X509_STORE_CTX_idx()));
    Ssl& self = of(handle);
    const TlsOptions& options = self.material->options;
    if (good == 0) {
      self.problems.push_back(describe_verification(state, self.name));
      return self.verifies ? 0 : 1;
    }
    const bool own = X509_STORE_CTX_get_error_depth(state) == 0;
    const X509* certificate = X509_STORE_CTX_get_current_cert(state);
    if (own && !options.peer_names.empty() && !is_one_of(peer_of(certificate), options.peer_names, {})) {
      self.problems.push_back("the peer's certificate carries none of tls_peer_names: " + subject_of(certificate));
      X509_STORE_CTX_set_error(state, X509_V_ERR_APPLICATION_VERIFICATION);
      return self.verifies ? 0 : 1;
    }
    return 1;
  }

  // OpenSSL asks a client for its certificate only if the server requests one.
  static int note_request(SSL* handle, void*) noexcept {
    Ssl& self = of(handle);
    if (self.side == TlsSide::client) self.certificate_requested = true;
    return 1;
  }

  // A BIO for this stream: reads the given input and appends to the pending output.
  static int bio_read(BIO* bio, char* out, std::size_t size, std::size_t* read) noexcept {
    auto& stream = *static_cast<TlsStream*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    if (stream.in_.empty()) {
      BIO_set_retry_read(bio);
      return 0;
    }
    *read = std::min(size, stream.in_.size());
    std::memcpy(out, stream.in_.data(), *read);
    stream.in_ = stream.in_.subspan(*read);
    return 1;
  }

  static int bio_write(BIO* bio, const char* bytes, std::size_t size, std::size_t* written) noexcept {
    auto& stream = *static_cast<TlsStream*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    NFX_ASSERT(stream.out_begin_ <= stream.out_end_ && stream.out_end_ <= stream.capacity_);
    if (stream.capacity_ - stream.out_end_ < size && stream.out_begin_ > 0) {
      const std::size_t waiting = stream.out_end_ - stream.out_begin_;
      std::memmove(stream.out_.get(), stream.out_.get() + stream.out_begin_, waiting);
      stream.out_begin_ = 0;
      stream.out_end_ = waiting;
    }
    *written = std::min(size, stream.capacity_ - stream.out_end_);
    if (*written == 0) {
      BIO_set_retry_write(bio);
      return 0;
    }
    std::memcpy(stream.out_.get() + stream.out_end_, bytes, *written);
    stream.out_end_ += *written;
    NFX_ASSERT(stream.out_end_ <= stream.capacity_);
    return 1;
  }

  static long bio_control(BIO*, int command, long, void*) noexcept { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  static const BIO_METHOD* bio_method() {
    static const BIO_METHOD* const method = [] {
      BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "nexusfix stream");
      BIO_meth_set_read_ex(made, bio_read);
      BIO_meth_set_write_ex(made, bio_write);
      BIO_meth_set_ctrl(made, bio_control);
      return made;
    }();
    return method;
  }
};

TlsStream::TlsStream(const TlsContext& context, TlsSide side, std::string_view name, std::size_t send_buffer)
    : ssl_(std::make_unique<Ssl>()),
      send_buffer_(send_buffer),
      capacity_(send_buffer + reserve),
      out_(std::make_unique_for_overwrite<char[]>(capacity_)) {
  NFX_REQUIRE(send_buffer >= min_send_buffer);
  ssl_->side = side;
  ssl_->material = context.material();
  const TlsOptions& options = ssl_->material->options;
  ssl_->handle.reset(SSL_new(ssl_->material->context.get()));
  SSL* handle = ssl_->handle.get();
  BIO* bio = handle == nullptr ? nullptr : BIO_new(Ssl::bio_method());
  if (bio == nullptr) throw TlsError("OpenSSL cannot begin a connection: " + openssl_error());
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(handle, bio, bio);
  SSL_set_ex_data(handle, Ssl::slot(), ssl_.get());
  SSL_set_cert_cb(handle, Ssl::note_request, nullptr);
  if (side == TlsSide::server) {
    SSL_set_options(handle, SSL_OP_CLEANSE_PLAINTEXT);
    const bool asks = options.client_certificate != ClientCertificate::none;
    const bool insists = options.client_certificate == ClientCertificate::require;
    ssl_->verifies = asks;
    const int mode = asks ? SSL_VERIFY_PEER | SSL_VERIFY_CLIENT_ONCE | (insists ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0)
                          : SSL_VERIFY_NONE;
    SSL_set_verify(handle, mode, Ssl::verify);
    SSL_set_accept_state(handle);
    return;
  }
  ssl_->name = options.server_name.empty() ? std::string{name} : options.server_name;
  ssl_->verifies = options.verify;
  SSL_set_verify(handle, options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, Ssl::verify);
  const bool is_address = canonical_address(ssl_->name).has_value();
  bool good = true;
  // Server Name Indication does not allow addresses.
  if (!is_address && !ssl_->name.empty()) good = SSL_set_tlsext_host_name(handle, ssl_->name.c_str()) == 1;
  if (options.check_name) good = good && set_wanted_name(SSL_get0_param(handle), ssl_->name);
  if (!good) throw TlsError("\"" + ssl_->name + "\" cannot be a server's name: " + openssl_error());
  SSL_set_connect_state(handle);
}

TlsStream::~TlsStream() = default;

void TlsStream::feed(std::span<const char> ciphertext) {
  if (kept_.empty()) {
    in_ = ciphertext;
    return;
  }
  keep_input();
  kept_.insert(kept_.end(), ciphertext.begin(), ciphertext.end());
  in_ = kept_;
}

void TlsStream::keep_input() {
  const bool is_kept = !kept_.empty();
  // The remaining input is the end of the stored bytes.
  NFX_ASSERT(!is_kept || (in_.size() <= kept_.size() && in_.data() + in_.size() == kept_.data() + kept_.size()));
  if (is_kept) {
    kept_.erase(kept_.begin(), kept_.end() - static_cast<std::ptrdiff_t>(in_.size()));
  } else {
    kept_.assign(in_.begin(), in_.end());
  }
  in_ = kept_;
}

void TlsStream::discard() noexcept {
  ssl_.reset();
  out_.reset();
  out_begin_ = out_end_ = 0;
  in_ = {};
  kept_ = {};
}

void TlsStream::drop_input() noexcept {
  in_ = {};
  kept_.clear();
}

TlsStream::Status TlsStream::status_of(int result) noexcept {
  switch (SSL_get_error(ssl_->handle.get(), result)) {
    case SSL_ERROR_WANT_READ: return Status::wants_input;
    case SSL_ERROR_WANT_WRITE: return Status::blocked;
    case SSL_ERROR_ZERO_RETURN: return Status::ended;
    default: fail(); return Status::failed;
  }
}

void TlsStream::fail() noexcept {
  failed_ = true;
  const bool verification = ERR_GET_REASON(ERR_peek_error()) == SSL_R_CERTIFICATE_VERIFY_FAILED;
  failure_ = verification && !ssl_->problems.empty() ? "certificate verification failed: " + ssl_->problems.front()
                                                     : describe_failure(ERR_peek_error(), ssl_->established);
  ERR_clear_error();
}

TlsStream::Status TlsStream::handshake() noexcept {
  if (failed_) return Status::failed;
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_->handle.get());
  if (result != 1) return status_of(result);
  ssl_->established = true;
  return Status::done;
}

TlsStream::Read TlsStream::read(std::span<char> out) noexcept {
  Read result;
  while (result.size < out.size()) {
    if (failed_) return {result.size, Status::failed};
    ERR_clear_error();
    std::size_t size = 0;
    const int code = SSL_read_ex(ssl_->handle.get(), out.data() + result.size, out.size() - result.size, &size);
    if (code != 1) return {result.size, status_of(code)};
    result.size += size;
    if (cleansed_ < first_bytes) [[unlikely]]
      count_cleansed(size);
    NFX_ASSERT(size > 0 && result.size <= out.size());
  }
  result.status = Status::done;
  return result;
}

void TlsStream::count_cleansed(std::size_t size) noexcept {
  cleansed_ += size;
  if (cleansed_ >= first_bytes) SSL_clear_options(ssl_->handle.get(), SSL_OP_CLEANSE_PLAINTEXT);
}

std::size_t TlsStream::write(std::span<const char> plaintext) noexcept {
  std::size_t written = 0;
  while (written < plaintext.size() && !failed_) {
    const std::size_t waiting = out_end_ - out_begin_;
    const std::size_t left = plaintext.size() - written;
    const std::size_t room = send_buffer_ - std::min(send_buffer_, waiting);
    if (room < std::min(left, least_chunk) + record_overhead) break;
    // The record fits, so OpenSSL never keeps half of one that a later call would have to repeat.
    const std::size_t chunk = std::min({left, largest_record, room - record_overhead});
    ERR_clear_error();
    std::size_t size = 0;
    if (SSL_write_ex(ssl_->handle.get(), plaintext.data() + written, chunk, &size) != 1) {
      fail();
      break;
    }
    NFX_ASSERT(size == chunk);  // OpenSSL keeps no part of a record
    written += size;
  }
  return written;
}

void TlsStream::send_close_notify() noexcept {
  if (!ssl_->established || failed_) return;
  ERR_clear_error();
  SSL_shutdown(ssl_->handle.get());
  ERR_clear_error();
}

void TlsStream::sent(std::size_t size) noexcept {
  NFX_ASSERT(size <= out_end_ - out_begin_);  // no more is sent than is pending
  out_begin_ += size;
  if (out_begin_ == out_end_) out_begin_ = out_end_ = 0;
}

std::unique_ptr<TlsPeer> TlsStream::peer() const {
  const X509* own = ssl_->verifies ? SSL_get0_peer_certificate(ssl_->handle.get()) : nullptr;
  return own == nullptr ? nullptr : std::make_unique<TlsPeer>(peer_of(own));
}

TlsFacts TlsStream::facts() const {
  const SSL* handle = ssl_->handle.get();
  TlsFacts facts;
  facts.version = SSL_get_version(handle);
  if (const char* cipher = SSL_get_cipher_name(handle)) facts.cipher = cipher;
  facts.certificate_requested = ssl_->certificate_requested;
  facts.problems = ssl_->problems;
  // A server's list of the client's certificates lacks the client's own one.
  const X509* own = SSL_get0_peer_certificate(handle);
  if (own != nullptr && ssl_->side == TlsSide::server) facts.chain.push_back(facts_of(own));
  const STACK_OF(X509)* chain = SSL_get_peer_cert_chain(handle);
  for (int i = 0; i < sk_X509_num(chain); ++i) facts.chain.push_back(facts_of(sk_X509_value(chain, i)));
  return facts;
}

}  // namespace nfx::detail
