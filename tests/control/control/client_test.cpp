// A client with a server of the test, which ends connections according to a script.
#include "nexusfix/control/client.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "control/http_server.hpp"
#include "temporary_folder.hpp"

namespace nfx::control {
namespace {

// Serves connections one after the other, one per entry of its script.
class ScriptedServer {
 public:
  // How a connection ends after this many answered requests.
  struct Serves {
    int requests;
    enum class Then { ends, announces_the_end, ends_after_a_request } then;
  };

  ScriptedServer(std::string path, std::vector<Serves> script) : path_(std::move(path)) {
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    thread_ = std::thread{[this, script = std::move(script)] {
      for (const Serves& each : script) serve(each);
    }};
  }
  ~ScriptedServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  void serve(const Serves& script) {
    const int fd = ::accept(listener_, nullptr, nullptr);
    if (fd < 0) return;
    ++connections_;
    for (int answered = 0; receives_request(fd);) {
      if (answered == script.requests) break;  // the answer is missing
      const bool last = ++answered == script.requests;
      answer(fd, last && script.then == Serves::Then::announces_the_end);
      if (last && script.then != Serves::Then::ends_after_a_request) break;
    }
    ::close(fd);
  }
  static bool receives_request(int fd) {
    std::string all;
    char byte = 0;
    while (!all.ends_with("\r\n\r\n")) {
      if (::recv(fd, &byte, 1, 0) != 1) return false;
      all += byte;
    }
    return true;
  }
  void answer(int fd, bool announces_the_end) const {
    const std::string body = std::to_string(connections_);
    const std::string all = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
                            (announces_the_end ? "Connection: close\r\n\r\n" : "\r\n") + body;
    EXPECT_EQ(::send(fd, all.data(), all.size(), MSG_NOSIGNAL), static_cast<ssize_t>(all.size()));
  }

  std::string path_;
  int listener_ = -1;
  int connections_ = 0;  // used by the thread: the current number is the body of its answers
  std::thread thread_;
};
using Then = ScriptedServer::Serves::Then;

class ControlClientTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!http_supported()) GTEST_SKIP() << http_unsupported;
  }
  // The number of the connection used for the request, or the problem if there was no answer.
  static std::string connection_of(ControlClient& client, std::string_view method = "GET") {
    const auto reply = client.ask({.method = method, .target = "/x"});
    return reply ? reply->body : reply.error();
  }
  test::TemporaryFolder folder;
};

TEST_F(ControlClientTest, requests_go_over_one_connection_until_the_server_ends_it) {
  const ScriptedServer server{
      folder.file("socket"),
      {{3, Then::ends}, {2, Then::announces_the_end}, {1, Then::ends_after_a_request}, {1, Then::ends}}};
  ControlClient client{{.socket = server.path()}};
  for (const char* number : {"1", "1", "1", "2", "2", "3", "4"}) EXPECT_EQ(connection_of(client), number);
}

TEST_F(ControlClientTest, what_changes_something_has_a_new_connection_and_is_sent_once) {
  const ScriptedServer server{folder.file("socket"),
                              {{9, Then::ends}, {1, Then::ends_after_a_request}, {0, Then::ends}, {9, Then::ends}}};
  ControlClient client{{.socket = server.path()}};
  EXPECT_EQ(connection_of(client), "1");
  EXPECT_EQ(connection_of(client, "POST"), "2");
  EXPECT_NE(connection_of(client, "POST").find(server.path()), std::string::npos)
      << "no answer, and it is not repeated";
  EXPECT_EQ(connection_of(client), "4");
}

TEST_F(ControlClientTest, a_server_that_has_ended_is_a_problem_until_there_is_another_one) {
  ControlClient client{{.socket = folder.file("socket")}};
  {
    const ScriptedServer server{folder.file("socket"), {{1, Then::ends}}};
    EXPECT_EQ(connection_of(client), "1");
  }
  EXPECT_NE(connection_of(client).find("is an engine running"), std::string::npos);
  ::unlink(folder.file("socket").c_str());
  const ScriptedServer server{folder.file("socket"), {{1, Then::ends}}};
  EXPECT_EQ(connection_of(client), "1");
}

}  // namespace
}  // namespace nfx::control
