// Tests whether an address can be listened on, without an effect on peers.
#include "transport/listen_address.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "transport/loopback.hpp"

namespace nfx::test {
namespace {

// A socket with a port chosen by the kernel; it listens if `listens`.
class Taken {
 public:
  explicit Taken(bool listens) {
    sockaddr_in address = loopback();
    socklen_t size = sizeof address;
    const int reuse = 1;
    EXPECT_EQ(::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse), 0);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    EXPECT_EQ(listens ? ::listen(fd_, 1) : 0, 0);
    port = ntohs(address.sin_port);
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  ~Taken() { ::close(fd_); }

  std::uint16_t port = 0;

 private:
  int fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
};

int error_of_connect(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  const int error = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
  ::close(fd);
  return error;
}

TEST(ListenTrial, refuses_a_peer_that_connects_meanwhile) {
  const Taken reserved{false};  // so that no other process gets the port
  ListenTrial trial;
  ASSERT_TRUE(trial.bind({"127.0.0.1", reserved.port}));
  EXPECT_EQ(error_of_connect(reserved.port), ECONNREFUSED);
}

TEST(ListenTrial, names_an_address_that_another_socket_listens_on) {
  const Taken other{true};
  const auto result = ListenTrial{}.bind({"127.0.0.1", other.port});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, EADDRINUSE);
  EXPECT_EQ(result.error().text(), "bind 127.0.0.1:" + std::to_string(other.port) + ": Address already in use");
}

TEST(ListenTrial, finds_an_address_that_includes_another_of_the_same_trial) {
  const Taken reserved{false};
  for (const bool wide_first : {true, false}) {
    ListenTrial trial;
    const Endpoint wide{"0.0.0.0", reserved.port}, narrow{"127.0.0.1", reserved.port};
    ASSERT_TRUE(trial.bind(wide_first ? wide : narrow));
    const auto second = trial.bind(wide_first ? narrow : wide);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, EADDRINUSE);
  }
}

TEST(ListenTrial, takes_two_addresses_with_the_same_port) {
  const Taken reserved{false};
  ListenTrial trial;
  ASSERT_TRUE(trial.bind({"127.0.0.2", reserved.port}));
  EXPECT_TRUE(trial.bind({"127.0.0.3", reserved.port}));
  EXPECT_TRUE(trial.bind({"127.0.0.4", 0}));
}

TEST(ListenTrial, releases_its_addresses) {
  const Taken reserved{false};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ListenTrial{}.bind({"127.0.0.1", reserved.port}));
}

}  // namespace
}  // namespace nfx::test
