// The notification socket of systemd: datagrams with one state each.
#include "engine/service_manager.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

namespace nfx {
namespace {

// Zero: not a number, or none.
std::int64_t number_in(const char* text) noexcept {
  if (text == nullptr) return 0;
  const char* const end = text + std::strlen(text);
  std::int64_t number = 0;
  const auto [at, error] = std::from_chars(text, end, number);
  return error == std::errc{} && at == end && number > 0 ? number : 0;
}

constexpr const char* thread_name = "nfx-service";
constexpr Duration longest_period = std::chrono::seconds{1};
// While it stops: a poll thread that has ended answers no more, and the end of the process must not wait for that.
constexpr Duration patience_at_end = std::chrono::milliseconds{100};

}  // namespace

ServiceEnvironment read_service_environment() noexcept {
  return {.notify_socket = std::getenv("NOTIFY_SOCKET"),
          .watchdog_usec = std::getenv("WATCHDOG_USEC"),
          .watchdog_pid = std::getenv("WATCHDOG_PID")};
}

ServiceTimes service_times(const ServiceEnvironment& environment, std::int64_t pid) noexcept {
  ServiceTimes times{.watchdog = {}, .period = longest_period};
  const bool ours = environment.watchdog_pid == nullptr || number_in(environment.watchdog_pid) == pid;
  // Beyond a day it is as good as none, and cannot overflow.
  const std::int64_t usec = std::min<std::int64_t>(number_in(environment.watchdog_usec), 86'400'000'000);
  if (!ours || usec == 0) return times;
  times.watchdog = std::chrono::microseconds{usec};
  times.period = std::min(longest_period, times.watchdog / 3);
  return times;
}

std::string send_to_manager(std::string_view socket, std::string_view text) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const bool abstract = socket.starts_with('@');
  if ((!abstract && !socket.starts_with('/')) || socket.size() >= sizeof address.sun_path)
    return "NOTIFY_SOCKET is neither a path nor an abstract name: " + std::string{socket};
  std::ranges::copy(socket, address.sun_path);
  if (abstract) address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket.size() + (abstract ? 0 : 1));
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return "NOTIFY_SOCKET: " + std::generic_category().message(errno);
  ssize_t sent = 0;
  do {
    // A manager that does not read must not hold this thread: what it had no space for is sent again a period later.
    sent = ::sendto(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                    reinterpret_cast<const sockaddr*>(&address), size);
  } while (sent < 0 && errno == EINTR);
  const int error = sent < 0 ? errno : 0;
  ::close(fd);
  return error == 0 ? std::string{}
                    : "NOTIFY_SOCKET " + std::string{socket} + ": " + std::generic_category().message(error);
}

ServiceManager::ServiceManager(const ServiceEnvironment& environment, Engine engine)
    : socket_(environment.notify_socket == nullptr ? "" : environment.notify_socket),
      times_(service_times(environment, ::getpid())),
      engine_(std::move(engine)) {}

void ServiceManager::begin() {
  if (socket_.empty() || thread_.joinable()) return;
  // Signals are for the threads that wait for them.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread{[this] {
    if (!engine_.in_place) return run();
    engine_.in_place(thread_name, [this] { run(); });
  }};
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ServiceManager::end() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock{mutex_};
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ServiceManager::run() {
  for (;;) {
    step();
    std::unique_lock lock{mutex_};
    if (changed_.wait_for(lock, times_.period, [this] { return stop_; })) break;
  }
  // The engine has ended.
  if (!told_stopping_) send("STOPPING=1");
}

void ServiceManager::step() {
  // Poll threads answer while they log out too, until the last one has ended.
  const bool stopping = engine_.stopping();
  if (stopping && !told_stopping_) told_stopping_ = send("STOPPING=1");
  if (!engine_.answers(stopping ? std::min(times_.period, patience_at_end) : times_.period)) return;
  if (!told_ready_ && !stopping) {
    told_ready_ = send("READY=1");
    if (!told_ready_) return;  // it is ready before it is alive
  }
  if (times_.watchdog != Duration::zero()) send("WATCHDOG=1");
}

// False: not sent.
bool ServiceManager::send(std::string_view text) {
  const std::string problem = send_to_manager(socket_, text);
  if (!problem.empty() && !std::exchange(reported_, true)) engine_.problem(problem);
  return problem.empty();
}

}  // namespace nfx
