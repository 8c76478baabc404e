// One connection for one request, with blocking calls that end in time.
#include "nexusfix/control/client.hpp"

#include "control/routes.hpp"

#ifdef NFX_WITH_BEAST

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

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

template <class Protocol>
std::expected<ControlReply, std::string> exchange(const typename Protocol::endpoint& endpoint, const std::string& name,
                                                  const ControlAddress& address, const ControlRequest& request) {
  asio::io_context context{1};
  beast::basic_stream<Protocol> stream{context};
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
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(largest_answer);
  error_code failed;
  stream.expires_after(address.timeout);
  stream.async_connect(endpoint, [&](error_code error) {
    if (error) return static_cast<void>(failed = error);
    http::async_write(stream, message, [&](error_code error_of_write, std::size_t) {
      if (error_of_write) return static_cast<void>(failed = error_of_write);
      http::async_read(stream, buffer, parser, [&](error_code error_of_read, std::size_t) { failed = error_of_read; });
    });
  });
  context.run();
  if (failed == beast::error::timeout) return std::unexpected(name + ": no answer in time");
  if (failed == asio::error::access_denied)
    return std::unexpected(name + ": this user may not connect: see [control] socket_mode and socket_group");
  if (failed) {
    return std::unexpected(name + ": " + failed.message() +
                           "; is an engine running whose configuration has [control] with this address?");
  }
  auto& answer = parser.get();
  const auto etag = answer[http::field::etag];
  return ControlReply{
      .status = answer.result_int(), .body = std::move(answer.body()), .etag = std::string{etag.data(), etag.size()}};
}

}  // namespace

std::expected<ControlReply, std::string> ask_control(const ControlAddress& address, const ControlRequest& request) {
  if (!address.socket.empty()) {
    constexpr std::size_t longest_path = 107;
    if (address.socket.size() > longest_path) return std::unexpected(address.socket + ": the path is too long");
    return exchange<asio::local::stream_protocol>(asio::local::stream_protocol::endpoint{address.socket},
                                                  address.socket, address, request);
  }
  error_code error;
  const auto ip = asio::ip::make_address(address.http.host, error);
  if (error) return std::unexpected(to_string(address.http) + ": expected an address such as 127.0.0.1:9090");
  return exchange<asio::ip::tcp>({ip, address.http.port}, to_string(address.http), address, request);
}

#else

std::expected<ControlReply, std::string> ask_control(const ControlAddress&, const ControlRequest&) {
  return std::unexpected("this build is without Boost.Beast: install the package libboost-dev and build again");
}

#endif

}  // namespace nfx
