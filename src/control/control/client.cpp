// A connection to an engine, with blocking calls and time limits.
#include "nexusfix/control/client.hpp"

#include <utility>

#include "control/routes.hpp"

#ifdef NFX_WITH_BEAST

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include "base/json_depth.hpp"
#include "transport/tls_context.hpp"
#include "transport/tls_material.hpp"

#endif

namespace nfx {

std::string control_path(std::string_view session, std::string_view command) {
  std::string path = "/v1/sessions/" + control::percent_encoded(session);
  if (!command.empty()) path.append("/").append(command);
  return path;
}

#ifdef NFX_WITH_BEAST

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;

using Local = asio::local::stream_protocol;
using Tcp = asio::ip::tcp;
template <class Protocol>
using Plain = beast::basic_stream<Protocol>;
using Encrypted = beast::ssl_stream<Plain<Tcp>>;

constexpr std::uint64_t largest_answer = std::uint64_t{64} << 20;

// The preparation of a connection before its first request: none, or a handshake.
template <class Protocol, class Then>
void prepare(Plain<Protocol>& /*stream*/, Then then) {
  then(error_code{});
}
template <class Then>
void prepare(Encrypted& stream, Then then) {
  stream.async_handshake(asio::ssl::stream_base::client, std::move(then));
}

http::request<http::string_body> message_of(const ControlAddress& address, const ControlRequest& request) {
  http::request<http::string_body> message;
  message.version(11);
  message.method_string({request.method.data(), request.method.size()});
  message.target(request.target);
  message.set(http::field::host, address.socket.empty() ? to_string(address.http) : "localhost");
  if (!address.token.empty()) message.set(http::field::authorization, "Bearer " + address.token);
  if (!request.if_match.empty()) message.set(http::field::if_match, request.if_match);
  if (!request.body.empty()) {
    message.set(http::field::content_type, "application/json");
    message.body() = request.body;
  }
  message.prepare_payload();
  return message;
}

// Otherwise a request would wait 40 ms for the server's delayed ACK of the handshake's last message.
void send_at_once(Tcp::socket& socket) {
  error_code ignored;
  socket.set_option(Tcp::no_delay{true}, ignored);
}
void send_at_once(Local::socket& /*socket*/) {}

std::unexpected<std::string> problem_at(const ControlAddress& address, const std::string& text) {
  return std::unexpected((address.socket.empty() ? to_string(address.http) : address.socket) + ": " + text);
}

std::string text_of(const error_code& error) {
  if (error == beast::error::timeout) return "no answer in time";
  if (error == asio::error::access_denied)
    return "this user may not connect: see [control] socket_mode and socket_group";
  if (error.category() == asio::error::get_ssl_category())
    return "TLS: " + error.message() + "; see [control] tls_ca and tls_certificate there";
  return error.message() + "; is an engine running whose configuration has [control] with this address?";
}

// The reason for the failure, if it is the engine's certificate.
std::string text_of_certificate(Encrypted& stream) {
  const long verified = SSL_get_verify_result(stream.native_handle());
  if (verified == X509_V_OK) return {};
  return "the certificate of the engine is not accepted: " + std::string{X509_verify_cert_error_string(verified)} +
         "; see --tls-ca and --tls-name";
}
template <class Protocol>
std::string text_of_certificate(const Plain<Protocol>& /*stream*/) {
  return {};
}

}  // namespace

class ControlClient::Connection {
 public:
  using Parser = http::response_parser<http::string_body>;

  Connection() = default;
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The first exchange connects.
  virtual error_code exchange(const http::request<http::string_body>& message, std::chrono::seconds timeout,
                              Parser& parser) = 0;
  // For an exchange that failed.
  [[nodiscard]] virtual std::string problem(const error_code& error) = 0;
};

template <class Stream, class Endpoint>
class ControlClient::ConnectionOver final : public Connection {
 public:
  // For an encrypted stream, `more` is the context; the stream keeps the parts it needs.
  template <class... More>
  explicit ConnectionOver(Endpoint endpoint, More&... more)
      : endpoint_(std::move(endpoint)), stream_(context_, more...) {}
  [[nodiscard]] Stream& stream() noexcept { return stream_; }

  error_code exchange(const http::request<http::string_body>& message, std::chrono::seconds timeout,
                      Parser& parser) override {
    error_code failed;
    const auto write_and_read = [&] {
      http::async_write(stream_, message, [&](error_code error, std::size_t) {
        if (error) return static_cast<void>(failed = error);
        http::async_read(stream_, buffer_, parser,
                         [&](error_code error_of_read, std::size_t) { failed = error_of_read; });
      });
    };
    context_.restart();
    lowest().expires_after(timeout);
    if (std::exchange(connects_, false)) {
      lowest().async_connect(endpoint_, [&](error_code error) {
        if (error) return static_cast<void>(failed = error);
        send_at_once(lowest().socket());
        prepare(stream_, [&](error_code error_of_handshake) {
          if (error_of_handshake) return static_cast<void>(failed = error_of_handshake);
          write_and_read();
        });
      });
    } else {
      write_and_read();
    }
    context_.run();
    return failed;
  }

  std::string problem(const error_code& error) override {
    const std::string of_certificate = text_of_certificate(stream_);
    return of_certificate.empty() ? text_of(error) : of_certificate;
  }

 private:
  [[nodiscard]] auto& lowest() noexcept { return beast::get_lowest_layer(stream_); }

  const Endpoint endpoint_;
  asio::io_context context_{1};
  Stream stream_;
  beast::flat_buffer buffer_;
  bool connects_ = true;
};

// Creates a connection to an address, or returns the reason why it cannot.
struct ControlClient::Maker {
  using Made = std::expected<std::unique_ptr<Connection>, std::string>;

  static Made local(const ControlAddress& address) {
    constexpr std::size_t longest_path = 107;
    if (address.socket.size() > longest_path) return problem_at(address, "the path is too long");
    return std::make_unique<ConnectionOver<Plain<Local>, Local::endpoint>>(Local::endpoint{address.socket});
  }
  static Made encrypted(const Tcp::endpoint& endpoint, const ControlAddress& address) try {
    const TlsContext tls{*address.tls};
    SSL_CTX* loaded = tls.material()->context.get();
    SSL_CTX_up_ref(loaded);
    asio::ssl::context context{loaded};
    auto made = std::make_unique<ConnectionOver<Encrypted, Tcp::endpoint>>(endpoint, context);
    SSL* handle = made->stream().native_handle();
    const std::string& wanted = address.tls->server_name.empty() ? address.http.host : address.tls->server_name;
    if (!detail::set_wanted_name(SSL_get0_param(handle), wanted))
      return problem_at(address, "\"" + wanted + "\" cannot be the name of a certificate");
    SSL_set_verify(handle, SSL_VERIFY_PEER, nullptr);
    return made;
  } catch (const TlsError& error) {
    return std::unexpected(std::string{error.what()});
  }
  static Made to(const ControlAddress& address) {
    if (!address.socket.empty()) return local(address);
    error_code error;
    const auto ip = asio::ip::make_address(address.http.host, error);
    if (error) return problem_at(address, "expected an address such as 127.0.0.1:9890");
    const Tcp::endpoint endpoint{ip, address.http.port};
    if (address.tls) return encrypted(endpoint, address);
    return std::make_unique<ConnectionOver<Plain<Tcp>, Tcp::endpoint>>(endpoint);
  }
};

std::expected<ControlReply, std::string> ControlClient::ask(const ControlRequest& request) {
  if (request.method != "GET") connection_.reset();
  for (;;) {
    const bool used = connection_ != nullptr;
    if (!used) {
      auto made = Maker::to(address_);
      if (!made) return std::unexpected(std::move(made.error()));
      connection_ = std::move(*made);
    }
    Connection::Parser parser;
    parser.body_limit(largest_answer);
    const error_code failed = connection_->exchange(message_of(address_, request), address_.timeout, parser);
    if (!failed) {
      if (!parser.get().keep_alive()) connection_.reset();
      auto& answer = parser.get();
      const auto type = answer[http::field::content_type];
      if (std::string_view{type.data(), type.size()}.contains("json") && !is_shallow_json(answer.body()))
        return problem_at(address_,
                          "the answer is nested deeper than 64 levels; is this the control plane of an engine?");
      const auto etag = answer[http::field::etag];
      return ControlReply{.status = answer.result_int(),
                          .body = std::move(answer.body()),
                          .etag = std::string{etag.data(), etag.size()}};
    }
    const std::string text = connection_->problem(failed);
    connection_.reset();
    // The engine ends a connection that was idle for a while, or after many requests.
    if (!used || failed == beast::error::timeout) return problem_at(address_, text);
  }
}

#else

class ControlClient::Connection {};

std::expected<ControlReply, std::string> ControlClient::ask(const ControlRequest&) {
  return std::unexpected("built without Boost.Beast: install the package libboost-dev and build again");
}

#endif

ControlClient::ControlClient(ControlAddress address) : address_(std::move(address)) {}
ControlClient::~ControlClient() = default;

std::expected<ControlReply, std::string> ask_control(const ControlAddress& address, const ControlRequest& request) {
  return ControlClient{address}.ask(request);
}

}  // namespace nfx
