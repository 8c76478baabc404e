// Real clients on real sockets: well-behaved ones, and slow, huge, malformed and numerous ones.
#include "control/http_server.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/control/client.hpp"
#include "temporary_folder.hpp"
#include "transport/loopback.hpp"

namespace nfx::control {
namespace {

using namespace std::chrono_literals;
const std::string token(40, 't'), viewers_token(40, 'v');

// A connection that sends the test's bytes, and reads until the other side closes.
class RawClient {
 public:
  explicit RawClient(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  explicit RawClient(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = test::loopback(port);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient() { ::close(fd_); }

  bool say(std::string_view bytes) const {
    return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  void end_sending() const { ::shutdown(fd_, SHUT_WR); }
  // Returns everything up to these words, or up to the end of the connection, within 20 s.
  std::string hear(std::string_view until = {}) const {
    std::string all;
    char bytes[4096];
    for (;;) {
      if (!until.empty() && all.ends_with(until)) return all;
      pollfd ready{fd_, POLLIN, 0};
      if (::poll(&ready, 1, 20'000) != 1) return all + "<timeout>";
      const ssize_t got = ::recv(fd_, bytes, sizeof bytes, 0);
      if (got <= 0) return all;
      all.append(bytes, static_cast<std::size_t>(got));
    }
  }
  // Returns the first bytes that arrive.
  std::string hear_some() const {
    std::string bytes(4096, '\0');
    pollfd ready{fd_, POLLIN, 0};
    if (::poll(&ready, 1, 20'000) != 1) return "<timeout>";
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(::recv(fd_, bytes.data(), bytes.size(), 0), 0)));
    return bytes;
  }
  [[nodiscard]] bool connected() const noexcept { return connected_; }

 private:
  int fd_;
  bool connected_ = false;
};

class ControlHttp : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!http_supported()) GTEST_SKIP() << http_unsupported;
    config.socket = folder.file("control.sock");
    config.http = {"127.0.0.1", 0};
    config.tokens = folder.file("tokens");
    std::ofstream{config.tokens} << "operator alice " << token << "\nviewer bob " << viewers_token << '\n';
    ::chmod(config.tokens.c_str(), 0600);
  }
  void TearDown() override {
    if (server) server->stop();
    if (thread.joinable()) thread.join();
    server.reset();
  }
  void serve(HttpLimits limits = {}, const std::string& more = {}) {
    server = std::make_unique<HttpServer>(HttpServerOptions{
        .config = config, .limits = limits, .answer = [this, more](const Request& request) {
          {
            const std::lock_guard lock{mutex};
            carried_out.push_back(std::string{request.method} + ' ' + std::string{request.target});
          }
          return Answer{.body = std::string{request.method} + ' ' + std::string{request.target} + ' ' +
                                std::string{to_string(request.caller.role)} + ' ' + std::string{request.body} + more};
        }});
    thread = std::thread{[this] { server->run(); }};
  }
  [[nodiscard]] ControlReply ask(const ControlAddress& address, const ControlRequest& request) {
    const auto reply = ask_control(address, request);
    EXPECT_TRUE(reply) << (reply ? "" : reply.error());
    return reply ? *reply : ControlReply{};
  }
  [[nodiscard]] std::string http_host() const { return "127.0.0.1:" + std::to_string(server->http_port()); }
  // The requests so far.
  [[nodiscard]] std::vector<std::string> requested() {
    const std::lock_guard lock{mutex};
    return carried_out;
  }
  // The beginning of an operator's requests, on both sockets.
  [[nodiscard]] std::string operator_fields() const {
    return "Host: " + http_host() + "\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\n";
  }
  // Sends the same bytes to both sockets: each answers 400 once and closes, and nothing is done.
  void expect_refused(const std::string& bytes) {
    SCOPED_TRACE(bytes);
    const auto expect = [&](const RawClient& client) {
      EXPECT_TRUE(client.say(bytes));
      const std::string heard = client.hear();
      EXPECT_EQ(heard.substr(0, 12), "HTTP/1.1 400") << heard;
      EXPECT_EQ(heard.find("HTTP/1.1 ", 1), std::string::npos) << heard;
      EXPECT_NE(heard.find("\r\nConnection: close\r\n"), std::string::npos) << heard;
    };
    expect(RawClient{config.socket});
    expect(RawClient{server->http_port()});
    EXPECT_EQ(requested(), std::vector<std::string>{});
  }

  test::TemporaryFolder folder;
  std::mutex mutex;
  std::vector<std::string> carried_out;
  ControlConfig config;
  std::unique_ptr<HttpServer> server;
  std::thread thread;
};

TEST_F(ControlHttp, answers_on_the_unix_socket_by_who_the_kernel_says_it_is) {
  serve();
  const ControlReply reply = ask({.socket = config.socket}, {.method = "POST", .target = "/x", .body = R"({"a": 1})"});
  EXPECT_EQ(reply.status, 200U);
  EXPECT_EQ(reply.body, "POST /x operator {\"a\": 1}");
  struct stat facts{};
  ASSERT_EQ(::stat(config.socket.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
}

TEST_F(ControlHttp, answers_over_http_by_token) {
  serve();
  const Endpoint at{"127.0.0.1", server->http_port()};
  EXPECT_EQ(ask({.socket = {}, .http = at, .token = token}, {.target = "/x"}).body, "GET /x operator ");
  EXPECT_EQ(ask({.socket = {}, .http = at, .token = std::string(40, 'u')}, {.target = "/x"}).body, "GET /x none ");
}

TEST_F(ControlHttp, a_page_of_another_site_gets_no_answer) {
  serve();
  const auto answer = [&](const std::string& headers) {
    const RawClient client{server->http_port()};
    EXPECT_TRUE(client.say("GET /x HTTP/1.1\r\n" + headers + "Authorization: Bearer " + token +
                           "\r\nConnection: close\r\n\r\n"));
    return client.hear().substr(9, 3);
  };
  EXPECT_EQ(answer("Host: " + http_host() + "\r\n"), "200");
  EXPECT_EQ(answer("Host: evil.example:" + std::to_string(server->http_port()) + "\r\n"), "421");
  EXPECT_EQ(answer(""), "421");
  EXPECT_EQ(answer("Host: " + http_host() + "\r\nHost: " + http_host() + "\r\n"), "400");
  EXPECT_EQ(answer("Host: " + http_host() + "\r\nOrigin: http://evil.example\r\n"), "403");
  EXPECT_EQ(answer("Host: " + http_host() + "\r\nOrigin: null\r\n"), "403");
  EXPECT_EQ(answer("Host: " + http_host() + "\r\nOrigin: http://" + http_host() + "\r\n"), "200");
}

TEST_F(ControlHttp, several_requests_go_over_one_connection_up_to_the_limit) {
  serve({.requests = 3});
  const RawClient client{config.socket};
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(client.say("GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    const std::string answer = client.hear("operator ");
    EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 200") << answer;
    EXPECT_EQ(answer.contains("Connection: close"), i == 2) << answer;
  }
  EXPECT_EQ(client.hear(), "");
  EXPECT_EQ(requested().size(), 3U);
}

// Each is one request to some readers and two to others. The hidden one would stop the engine.
TEST_F(ControlHttp, a_request_whose_end_is_ambiguous_is_refused_before_any_part_is_carried_out) {
  serve();
  const std::string begin = "POST /v1/engine/end-drain HTTP/1.1\r\n" + operator_fields();
  const std::string begin_1_0 = "POST /v1/engine/end-drain HTTP/1.0\r\n" + operator_fields();
  const std::string hidden = "POST /v1/engine/stop HTTP/1.1\r\n" + operator_fields() + "\r\n";
  const std::string length = "Content-Length: ", size = std::to_string(hidden.size());
  for (const std::string& bytes : std::initializer_list<std::string>{
           begin + length + "5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
           begin + "Transfer-Encoding: chunked\r\n" + length + "5\r\n\r\n0\r\n\r\n" + hidden,
           begin + length + "0\r\n" + length + size + "\r\n\r\n" + hidden,
           begin + length + size + "\r\n" + length + "0\r\n\r\n" + hidden,
           begin + length + "2\r\n" + length + "2\r\n\r\n{}" + hidden,
           begin + length + "+2\r\n\r\n{}" + hidden,
           begin + length + "-2\r\n\r\n{}" + hidden,
           begin + length + "2 2\r\n\r\n{}" + hidden,
           begin + length + "2, 2\r\n\r\n{}" + hidden,
           begin + length + "2,3\r\n\r\n{}" + hidden,
           begin + length + "0x2\r\n\r\n{}" + hidden,
           begin + length + "002\r\n\r\n{}" + hidden,
           begin + length + "2;a\r\n\r\n{}" + hidden,
           begin + length + "\r\n\r\n" + hidden,
           begin + length + "\"2\"\r\n\r\n{}" + hidden,
           begin + length + "18446744073709551618\r\n\r\n{}" + hidden,
           begin + "Content-Length : 2\r\n\r\n{}" + hidden,
           begin + "Content-Length\t: 2\r\n\r\n{}" + hidden,
           begin + " Content-Length: 2\r\n\r\n{}" + hidden,
           begin + length + "2\n\r\n{}" + hidden,
           begin + length + "2\r\n\n{}" + hidden,
           begin + "X: y\n" + length + size + "\r\n\r\n" + hidden,
           begin + "\n" + hidden,
           begin + "X: y\r" + length + size + "\r\n\r\n" + hidden,
           begin + "X: y\r\n " + length + size + "\r\n\r\n" + hidden,
           begin + "X: y\r\n\t" + length + size + "\r\n\r\n" + hidden,
           begin + length + "\r\n 2\r\n\r\n{}" + hidden,
           begin + "X: " + std::string(1, '\0') + "\r\n\r\n" + hidden,
           begin + "X\r\n\r\n" + hidden,
           begin + ": y\r\n\r\n" + hidden,
           begin + "Transfer-Encoding: identity\r\n\r\n" + hidden,
           begin + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + hidden,
           begin + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + hidden,
           begin +
               "Transfer-Encoding: \x0b"
               "chunked\r\n\r\n0\r\n\r\n" +
               hidden,
           begin + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" + hidden,
           begin + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + hidden,
           begin_1_0 + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
           begin_1_0 + "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden})
    expect_refused(bytes);
  for (const std::string_view chunks :
       {"0x0\r\n\r\n", "+0\r\n\r\n", "-0\r\n\r\n", " 0\r\n\r\n", "0 \r\n\r\n", "0\n\n", "0;\n\r\n\r\n", "g\r\n\r\n",
        "10000000000000000\r\n\r\n", "2\r\n{}0\r\n\r\n", "2\r\n{}\n0\r\n\r\n", "0\r\nX: y\r\n\r\n", "0\r\n\r\n"})
    expect_refused(begin + "Transfer-Encoding: chunked\r\n\r\n" + std::string{chunks} + hidden);
}

TEST_F(ControlHttp, bytes_after_a_request_are_not_a_second_one) {
  serve();
  const std::string hidden = "POST /v1/engine/stop HTTP/1.1\r\n" + operator_fields() + "\r\n";
  for (const std::string_view begin : {"POST /v1/engine/drain", "GET /v1/engine"}) {
    const std::string head = std::string{begin} + " HTTP/1.1\r\n" + operator_fields();
    expect_refused(head + "\r\n" + hidden);
    expect_refused(head + "Content-Length: 2\r\n\r\n{}" + hidden);
    expect_refused(head + "Content-Length: 2\r\n\r\n{}\r\n");
    expect_refused(std::string{begin} + " HTTP/1.0\r\n" + operator_fields() + "\r\n" + hidden);
  }
  expect_refused("\r\n" + hidden);
  const std::string size = std::to_string(hidden.size());
  expect_refused("GET /v1/engine HTTP/1.1\r\n" + operator_fields() + "Content-Length: " + size + "\r\n\r\n" + hidden);
}

TEST_F(ControlHttp, a_request_that_ends_half_way_is_not_carried_out) {
  serve();
  for (const std::string& bytes : std::initializer_list<std::string>{
           "POST /v1/engine/stop HTTP/1.1\r\n" + operator_fields(),
           "POST /v1/engine/stop HTTP/1.1\r\n" + operator_fields() + "Content-Length: 3\r\n\r\n{}"}) {
    const RawClient client{config.socket};
    EXPECT_TRUE(client.say(bytes));
    client.end_sending();
    EXPECT_EQ(client.hear(), "");
  }
  EXPECT_EQ(requested(), std::vector<std::string>{});
  // A client that has sent everything may close its direction.
  const RawClient client{config.socket};
  EXPECT_TRUE(client.say("GET /x HTTP/1.1\r\n" + operator_fields() + "\r\n"));
  client.end_sending();
  EXPECT_EQ(client.hear().substr(0, 12), "HTTP/1.1 200");
}

TEST_F(ControlHttp, a_slow_request_ends_in_time_however_it_drips) {
  serve({.request_time = 300ms});
  const RawClient client{config.socket};
  EXPECT_TRUE(client.say("GET /x HT"));
  EXPECT_EQ(client.hear(), "");
  EXPECT_EQ(ask({.socket = config.socket}, {.target = "/y"}).status, 200U);
}

TEST_F(ControlHttp, a_huge_request_is_refused_before_it_is_stored) {
  serve();
  const RawClient header{config.socket};
  static_cast<void>(header.say("GET /x HTTP/1.1\r\nX: " + std::string(20'000, 'x')));
  EXPECT_EQ(header.hear().substr(0, 12), "HTTP/1.1 431");
  const RawClient body{config.socket};
  EXPECT_TRUE(body.say("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n"));
  EXPECT_EQ(body.hear().substr(0, 12), "HTTP/1.1 413");
  const RawClient fields{config.socket};
  std::string many = "GET /x HTTP/1.1\r\n";
  for (int i = 0; i < 65; ++i) many += "X: y\r\n";
  EXPECT_TRUE(fields.say(many + "\r\n"));
  EXPECT_EQ(fields.hear().substr(0, 12), "HTTP/1.1 431");
}

TEST_F(ControlHttp, what_is_no_http_gets_400_and_the_end) {
  serve();
  for (const std::string_view bytes :
       {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", "GET\r\n\r\n", "GET /x HTTP/9.9\r\n\r\n",
        "8=FIX.4.4\x01"
        "9=5\x01\r\n\r\n",
        "GET /x HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "GET /x HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET /x HTTP/1.1\r\n bad\r\n\r\n"}) {
    const RawClient client{config.socket};
    EXPECT_TRUE(client.say(bytes));
    EXPECT_EQ(client.hear().substr(0, 12), "HTTP/1.1 400") << bytes;
  }
}

TEST_F(ControlHttp, many_silent_connections_make_room_for_one_that_asks) {
  serve({.connections = 4});
  std::vector<std::unique_ptr<RawClient>> silent;
  for (int i = 0; i < 40; ++i) {
    silent.push_back(std::make_unique<RawClient>(config.socket));
    EXPECT_TRUE(silent.back()->connected());
  }
  EXPECT_EQ(ask({.socket = config.socket}, {.target = "/x"}).status, 200U);
  EXPECT_EQ(silent.front()->hear(), "");
}

TEST_F(ControlHttp, a_crowd_leaves_a_connection_the_time_for_its_request) {
  serve({.connections = 4, .least_time = 1s});
  std::vector<std::unique_ptr<RawClient>> all;
  for (int i = 0; i < 40; ++i) all.push_back(std::make_unique<RawClient>(config.socket));
  EXPECT_TRUE(all.front()->say("GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
  EXPECT_EQ(all.front()->hear().substr(0, 12), "HTTP/1.1 200");
  EXPECT_EQ(all[1]->hear(), "") << "the oldest one by then";
}

TEST_F(ControlHttp, connections_that_take_no_answer_make_room_for_one_that_asks) {
  serve({.connections = 4}, std::string(std::size_t{16} * 1024 * 1024, 'x'));
  std::vector<std::unique_ptr<RawClient>> deaf;
  for (int i = 0; i < 4; ++i) {
    deaf.push_back(std::make_unique<RawClient>(config.socket));
    EXPECT_TRUE(deaf.back()->say("GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    EXPECT_EQ(deaf.back()->hear_some().substr(0, 12), "HTTP/1.1 200");
  }
  EXPECT_EQ(ask({.socket = config.socket}, {.target = "/y"}).status, 200U);
}

TEST_F(ControlHttp, answers_that_nobody_takes_hold_no_more_than_their_bound) {
  constexpr std::size_t size = std::size_t{16} << 20;  // more than the kernel's buffers hold
  serve({.least_time = 0ms, .answer_bytes = 2 * size + size / 2}, std::string(size, 'x'));
  const std::string request =
      "GET /x HTTP/1.1\r\nConnection: close\r\nHost: " + http_host() + "\r\nAuthorization: Bearer ";
  const RawClient alice{server->http_port()};
  EXPECT_TRUE(alice.say(request + token + "\r\n\r\n"));
  EXPECT_EQ(alice.hear_some().substr(0, 12), "HTTP/1.1 200");
  std::vector<std::unique_ptr<RawClient>> deaf;
  for (int i = 0; i < 8; ++i) {
    deaf.push_back(std::make_unique<RawClient>(server->http_port()));
    EXPECT_TRUE(deaf.back()->say(request + viewers_token + "\r\n\r\n"));
    EXPECT_EQ(deaf.back()->hear_some().substr(0, 12), "HTTP/1.1 200") << "the newest one is answered";
  }
  std::size_t whole = 0;
  for (const auto& each : deaf) whole += each->hear().size() > size - 8192 ? 1 : 0;
  EXPECT_EQ(whole, 1U);
  EXPECT_GT(alice.hear().size(), size - 8192) << "what one user does not take costs another none of theirs";
}

TEST_F(ControlHttp, a_token_that_was_removed_has_no_role_after_a_reload_also_on_an_open_connection) {
  serve();
  const RawClient open{server->http_port()};
  const std::string request = "GET /x HTTP/1.1\r\nHost: " + http_host() + "\r\nAuthorization: Bearer ";
  EXPECT_TRUE(open.say(request + token + "\r\n\r\n"));
  EXPECT_TRUE(open.hear(" operator ").contains("200"));
  std::ofstream{config.tokens} << "nonsense\n";
  EXPECT_NE(server->reload()(), "");
  const ControlAddress address{.http = {"127.0.0.1", server->http_port()}, .token = token};
  EXPECT_EQ(ask(address, {.target = "/x"}).body, "GET /x operator ") << "what was there before stays";
  std::ofstream{config.tokens} << "viewer bob " << viewers_token << '\n';
  EXPECT_EQ(server->reload()(), "");
  EXPECT_EQ(ask(address, {.target = "/x"}).body, "GET /x none ");
  EXPECT_TRUE(open.say(request + token + "\r\n\r\n"));
  EXPECT_TRUE(open.hear(" none ").ends_with(" none "));
}

TEST_F(ControlHttp, a_user_of_many_connections_takes_no_place_from_another) {
  serve({.connections = 4, .least_time = 0ms}, std::string(std::size_t{16} * 1024 * 1024, 'x') + "\n");
  const std::string request = "GET /x HTTP/1.1\r\nHost: " + http_host() + "\r\nAuthorization: Bearer ";
  const RawClient alice{server->http_port()};
  EXPECT_TRUE(alice.say(request + token + "\r\n\r\n"));
  EXPECT_EQ(alice.hear("xx\n").substr(0, 12), "HTTP/1.1 200");
  std::vector<std::unique_ptr<RawClient>> bobs;
  for (int i = 0; i < 8; ++i) {
    bobs.push_back(std::make_unique<RawClient>(server->http_port()));
    EXPECT_TRUE(bobs.back()->say(request + viewers_token + "\r\n\r\n"));
    EXPECT_EQ(bobs.back()->hear_some().substr(0, 12), "HTTP/1.1 200") << "the newest one is answered";
  }
  EXPECT_TRUE(alice.say(request + token + "\r\n\r\n"));
  EXPECT_EQ(alice.hear_some().substr(0, 12), "HTTP/1.1 200") << "the connection that was idle meanwhile";
}

TEST_F(ControlHttp, ends_while_clients_are_connected) {
  serve();
  const RawClient one{config.socket}, other{server->http_port()};
  EXPECT_TRUE(one.say("GET /x"));
  server->stop();
  thread.join();
  server.reset();
  EXPECT_EQ(one.hear(), "");
  EXPECT_EQ(other.hear(), "");
  EXPECT_FALSE(std::filesystem::exists(config.socket));
}

TEST_F(ControlHttp, takes_over_the_socket_of_a_process_that_is_gone_and_of_no_other) {
  serve();
  EXPECT_THROW((HttpServer{{.config = config, .answer = {}}}), ConfigError);
  EXPECT_EQ(ask({.socket = config.socket}, {.target = "/x"}).status, 200U);
  // The socket of a killed process.
  ControlConfig left = config;
  left.http = {};
  left.socket = folder.file("left.sock");
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  left.socket.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
  EXPECT_NO_THROW((HttpServer{{.config = left, .answer = {}}}));
  left.socket = folder.file("file");
  std::ofstream{left.socket} << "precious";
  EXPECT_THROW((HttpServer{{.config = left, .answer = {}}}), ConfigError);
  EXPECT_EQ(std::filesystem::file_size(left.socket), 8U);
}

TEST_F(ControlHttp, leaves_what_another_process_has_put_in_place_of_its_socket) {
  ControlConfig mine = config;
  mine.http = {};
  mine.socket = folder.file("mine.sock");
  auto first = std::make_unique<HttpServer>(HttpServerOptions{.config = mine, .answer = {}});
  ASSERT_EQ(::unlink(mine.socket.c_str()), 0);
  std::ofstream{mine.socket} << "precious";
  first.reset();
  EXPECT_EQ(std::filesystem::file_size(mine.socket), 8U);
}

}  // namespace
}  // namespace nfx::control
