// Notifications to the service manager, over a socket of its kind.
#include "engine/service_manager.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <string>

#include "temporary_folder.hpp"

namespace nfx {
namespace {

constexpr std::string_view nothing = "(nothing)";

// The manager's end, in its own folder.
class Manager {
 public:
  Manager() {
    fd_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0) << std::strerror(errno);
    const timeval patience{.tv_sec = 600, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~Manager() { ::close(fd_); }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  [[nodiscard]] std::string path() const { return folder_.file("notify"); }
  [[nodiscard]] std::string next(int flags = 0) const {
    std::array<char, 256> text;
    const ssize_t size = ::recv(fd_, text.data(), text.size(), flags);
    return size < 0 ? std::string{nothing} : std::string{text.data(), static_cast<std::size_t>(size)};
  }
  // Until the socket takes no more; returns how many datagrams that were.
  [[nodiscard]] int fill() const {
    int count = 0;
    while (send_to_manager(path(), filler).empty()) ++count;
    return count;
  }
  void drain(int fillers) const {
    for (int i = 0; i < fillers; ++i) EXPECT_EQ(next(), filler);
  }

 private:
  static constexpr std::string_view filler = "STATUS=busy";
  test::TemporaryFolder folder_;
  int fd_ = -1;
};

struct FakeEngine {
  std::atomic<bool> answers{true}, stopping{false};
  std::atomic<int> asked{0}, problems{0};

  [[nodiscard]] ServiceManager::Engine parts() {
    return {.answers =
                [this](Duration) {
                  ++asked;
                  asked.notify_all();
                  return answers.load();
                },
            .stopping = [this] { return stopping.load(); },
            .problem = [this](std::string_view) { ++problems; }};
  }
  // Returns after this number of further requests.
  void wait_for_questions(int count) {
    const int wanted = asked + count;
    for (int now = asked; now < wanted; now = asked) asked.wait(now);
  }
};

TEST(ServiceManager, is_told_when_the_engine_is_ready_alive_and_ends) {
  const Manager manager;
  FakeEngine engine;
  engine.answers = false;
  const std::string path = manager.path();
  ServiceManager service{{.notify_socket = path.c_str(), .watchdog_usec = "3000", .watchdog_pid = nullptr},
                         engine.parts()};
  service.begin();
  engine.wait_for_questions(3);
  EXPECT_EQ(manager.next(MSG_DONTWAIT), nothing);  // neither ready nor alive while a poll thread does not answer
  engine.answers = true;
  EXPECT_EQ(manager.next(), "READY=1");
  EXPECT_EQ(manager.next(), "WATCHDOG=1");
  EXPECT_EQ(manager.next(), "WATCHDOG=1");
  engine.answers = false;
  engine.wait_for_questions(3);
  while (manager.next(MSG_DONTWAIT) != nothing) {
  }
  engine.wait_for_questions(3);
  EXPECT_EQ(manager.next(MSG_DONTWAIT), nothing);  // a poll thread that hangs is not alive
  engine.stopping = true;
  EXPECT_EQ(manager.next(), "STOPPING=1");
  service.end();
  EXPECT_EQ(manager.next(MSG_DONTWAIT), nothing);  // once
  EXPECT_EQ(engine.problems, 0);
}

TEST(ServiceManager, is_told_of_an_end_that_nobody_noticed_before) {
  const Manager manager;
  FakeEngine engine;
  const std::string path = manager.path();
  ServiceManager service{{.notify_socket = path.c_str(), .watchdog_usec = nullptr, .watchdog_pid = nullptr},
                         engine.parts()};
  service.begin();
  EXPECT_EQ(manager.next(), "READY=1");
  service.end();
  EXPECT_EQ(manager.next(), "STOPPING=1");  // and no WATCHDOG=1 without a watchdog
}

TEST(ServiceManager, that_had_no_room_is_told_later) {
  const Manager manager;
  FakeEngine engine;
  const std::string path = manager.path();
  const int fillers = manager.fill();
  ServiceManager service{{.notify_socket = path.c_str(), .watchdog_usec = "3000", .watchdog_pid = nullptr},
                         engine.parts()};
  service.begin();
  engine.wait_for_questions(3);
  manager.drain(fillers);
  EXPECT_EQ(manager.next(), "READY=1");
  engine.answers = false;
  engine.wait_for_questions(3);
  while (manager.next(MSG_DONTWAIT) != nothing) {
  }
  const int more_fillers = manager.fill();
  engine.stopping = true;
  engine.wait_for_questions(3);
  manager.drain(more_fillers);
  EXPECT_EQ(manager.next(), "STOPPING=1");
  service.end();
  EXPECT_EQ(manager.next(MSG_DONTWAIT), nothing);  // once
  EXPECT_EQ(engine.problems, 1);
}

TEST(ServiceManager, that_does_not_exist_costs_nothing) {
  FakeEngine engine;
  {
    ServiceManager service{{}, engine.parts()};
    service.begin();
  }
  EXPECT_EQ(engine.asked, 0);
}

TEST(ServiceManager, that_cannot_be_reached_is_reported_once) {
  FakeEngine engine;
  ServiceManager service{{.notify_socket = "/nowhere/notify", .watchdog_usec = "3000", .watchdog_pid = nullptr},
                         engine.parts()};
  service.begin();
  engine.wait_for_questions(4);
  service.end();
  EXPECT_EQ(engine.problems, 1);
}

TEST(ServiceManager, takes_paths_and_abstract_names) {
  EXPECT_NE(send_to_manager("vsock:2:1", "READY=1"), "");
  EXPECT_NE(send_to_manager("/" + std::string(200, 'x'), "READY=1"), "");
  EXPECT_NE(send_to_manager("@nfx-test-nobody-" + std::to_string(::getpid()), "READY=1"), "");
  const std::string name = "@nfx-test-" + std::to_string(::getpid());
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path, name.size());
  address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(send_to_manager(name, "READY=1"), "");
  std::array<char, 16> text{};
  EXPECT_EQ(::recv(fd, text.data(), text.size(), 0), 7);
  ::close(fd);
}

TEST(ServiceManager, reads_the_time_of_the_watchdog) {
  const auto times = [](const char* usec, const char* pid) {
    return service_times({.notify_socket = nullptr, .watchdog_usec = usec, .watchdog_pid = pid}, 42);
  };
  EXPECT_EQ(times("1500000", nullptr).watchdog, std::chrono::milliseconds{1500});
  EXPECT_EQ(times("1500000", "42").period, std::chrono::milliseconds{500});
  EXPECT_EQ(times("60000000", "42").period, std::chrono::seconds{1});
  for (const char* bad : {"", "0", "-5", "10s", "99999999999999999999"})
    EXPECT_EQ(times(bad, nullptr).watchdog, Duration::zero()) << bad;
  EXPECT_EQ(times("1500000", "43").watchdog, Duration::zero());
  EXPECT_EQ(times(nullptr, nullptr).period, std::chrono::seconds{1});
  EXPECT_EQ(times("9000000000000000000", nullptr).watchdog, std::chrono::hours{24});
}

}  // namespace
}  // namespace nfx
