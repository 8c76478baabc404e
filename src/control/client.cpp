// One connection for one request, with blocking calls that end in time.
#include "nexusfix/control/client.hpp"

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

#include "nexusfix/transport/tls_context.hpp"
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

constexpr std::uint64_t largest_answer = std::uint64_t{64} << 20;

// What a connection needs before a request is written to it: nothing, or a handshake.
template <class Protocol, class Then>
void prepare(beast::basic_stream<Protocol>& /*stream*/, Then then) {
  then(error_code{});
}
template <class Then>
void prepare(beast::ssl_stream<beast::basic_stream<asio::ip::tcp>>& stream, Then then) {
  stream.async_handshake(asio::ssl::stream_base::client, std::move(then));
}

http::request<http::string_body> message_of(const ControlAddress& address, const ControlRequest& request) {
  http::request<http::string_body> message;
  message.version(11);
  message.method_string({request.method.data(), request.method.size()});
  message.target(request.target);
  message.set(http::field::host, address.socket.empty() ? to_string(address.http) : "localhost");
  message.keep_alive(false);
  if (!address.token.empty()) message.set(http::field::authorization, "Bearer " + address.token);
  if (!request.if_match.empty()) message.set(http::field::if_match, request.if_match);
  if (!request.body.empty()) {
    message.set(http::field::content_type, "application/json");
    message.body() = request.body;
  }
  message.prepare_payload();
  return message;
}

// Otherwise a request waits until the server's delayed ACK of the handshake's last message has come: 40 ms.
void send_at_once(asio::ip::tcp::socket& socket) {
  error_code ignored;
  socket.set_option(asio::ip::tcp::no_delay{true}, ignored);
}
void send_at_once(asio::local::stream_protocol::socket& /*socket*/) {}

template <class Stream, class Endpoint>
std::expected<ControlReply, std::string> exchange(asio::io_context& context, Stream& stream, const Endpoint& endpoint,
                                                  const std::string& name, const ControlAddress& address,
                                                  const ControlRequest& request) {
  const auto message = message_of(address, request);
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(largest_answer);
  error_code failed;
  beast::get_lowest_layer(stream).expires_after(address.timeout);
  beast::get_lowest_layer(stream).async_connect(endpoint, [&](error_code error) {
    if (error) return static_cast<void>(failed = error);
    send_at_once(beast::get_lowest_layer(stream).socket());
    prepare(stream, [&](error_code error_of_handshake) {
      if (error_of_handshake) return static_cast<void>(failed = error_of_handshake);
      http::async_write(stream, message, [&](error_code error_of_write, std::size_t) {
        if (error_of_write) return static_cast<void>(failed = error_of_write);
        http::async_read(stream, buffer, parser,
                         [&](error_code error_of_read, std::size_t) { failed = error_of_read; });
      });
    });
  });
  context.run();
  if (failed == beast::error::timeout) return std::unexpected(name + ": no answer in time");
  if (failed == asio::error::access_denied)
    return std::unexpected(name + ": this user may not connect: see [control] socket_mode and socket_group");
  if (failed.category() == asio::error::get_ssl_category())
    return std::unexpected(name + ": TLS: " + failed.message() + "; see [control] tls_ca and tls_certificate there");
  if (failed) {
    return std::unexpected(name + ": " + failed.message() +
                           "; is an engine running whose configuration has [control] with this address?");
  }
  auto& answer = parser.get();
  const auto etag = answer[http::field::etag];
  return ControlReply{
      .status = answer.result_int(), .body = std::move(answer.body()), .etag = std::string{etag.data(), etag.size()}};
}

std::expected<ControlReply, std::string> exchange_encrypted(const asio::ip::tcp::endpoint& endpoint,
                                                            const ControlAddress& address,
                                                            const ControlRequest& request) {
  const std::string name = to_string(address.http);
  try {
    const TlsContext tls{*address.tls};
    SSL_CTX* loaded = tls.material()->context.get();
    SSL_CTX_up_ref(loaded);
    asio::ssl::context of_asio{loaded};
    asio::io_context context{1};
    beast::ssl_stream<beast::basic_stream<asio::ip::tcp>> stream{context, of_asio};
    SSL* handle = stream.native_handle();
    const std::string& wanted = address.tls->server_name.empty() ? address.http.host : address.tls->server_name;
    if (!detail::set_wanted_name(SSL_get0_param(handle), wanted))
      return std::unexpected(name + ": \"" + wanted + "\" cannot be the name of a certificate");
    SSL_set_verify(handle, SSL_VERIFY_PEER, nullptr);
    auto reply = exchange(context, stream, endpoint, name, address, request);
    const long verified = SSL_get_verify_result(handle);
    if (!reply && verified != X509_V_OK)
      return std::unexpected(name + ": the certificate there is not accepted: " +
                             X509_verify_cert_error_string(verified) + "; see --tls-ca and --tls-name");
    return reply;
  } catch (const TlsError& error) {
    return std::unexpected(std::string{error.what()});
  }
}

}  // namespace

std::expected<ControlReply, std::string> ask_control(const ControlAddress& address, const ControlRequest& request) {
  if (!address.socket.empty()) {
    constexpr std::size_t longest_path = 107;
    if (address.socket.size() > longest_path) return std::unexpected(address.socket + ": the path is too long");
    asio::io_context context{1};
    beast::basic_stream<asio::local::stream_protocol> stream{context};
    return exchange(context, stream, asio::local::stream_protocol::endpoint{address.socket}, address.socket, address,
                    request);
  }
  error_code error;
  const auto ip = asio::ip::make_address(address.http.host, error);
  if (error) return std::unexpected(to_string(address.http) + ": expected an address such as 127.0.0.1:9090");
  const asio::ip::tcp::endpoint endpoint{ip, address.http.port};
  if (address.tls) return exchange_encrypted(endpoint, address, request);
  asio::io_context context{1};
  beast::basic_stream<asio::ip::tcp> stream{context};
  return exchange(context, stream, endpoint, to_string(address.http), address, request);
}

#else

std::expected<ControlReply, std::string> ask_control(const ControlAddress&, const ControlRequest&) {
  return std::unexpected("this build is without Boost.Beast: install the package libboost-dev and build again");
}

#endif

}  // namespace nfx
