// Two network namespaces of a test's or a benchmark's own, joined by veth interfaces. Nothing is left behind when the
// process ends. Needs root and iproute2.
#pragma once

#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace nfx::testing {

class NetworkNamespace {
 public:
  NetworkNamespace() = default;
  explicit NetworkNamespace(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~NetworkNamespace() {
    if (fd_ >= 0) ::close(fd_);
  }
  NetworkNamespace(NetworkNamespace&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  NetworkNamespace& operator=(NetworkNamespace&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  static NetworkNamespace current() { return NetworkNamespace{"/proc/thread-self/ns/net"}; }
  [[nodiscard]] bool enter() const { return fd_ >= 0 && ::setns(fd_, CLONE_NEWNET) == 0; }

 private:
  int fd_ = -1;
};

inline bool run_command(const std::string& text) { return std::system((text + " >/dev/null 2>&1").c_str()) == 0; }

// Takes an interface up that computes its checksums: otherwise the kernel leaves them to a card that is not there, and
// lwIP drops the segments.
inline bool take_up(const std::string& interface) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ethtool_value off{.cmd = ETHTOOL_STXCSUM, .data = 0};
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  request.ifr_data = reinterpret_cast<char*>(&off);
  const bool done = ::ioctl(fd, SIOCETHTOOL, &request) == 0;
  ::close(fd);
  return done && run_command("ip link set " + interface + " up");
}

// Makes the calling thread's own namespace and another one, until it ends.
class TwoNamespaces {
 public:
  // Each command makes a pair of interfaces; OTHER in it stands for the other namespace.
  explicit TwoNamespaces(const std::vector<std::string>& commands) {
    problem_ = make(commands);
    if (!problem_.empty()) static_cast<void>(home_.enter());
  }
  ~TwoNamespaces() { static_cast<void>(home_.enter()); }
  TwoNamespaces(const TwoNamespaces&) = delete;
  TwoNamespaces& operator=(const TwoNamespaces&) = delete;

  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  [[nodiscard]] const NetworkNamespace& own() const noexcept { return own_; }
  [[nodiscard]] const NetworkNamespace& other() const noexcept { return other_; }

  // Calls `what` in the other namespace: sockets and threads belong to the one they are made in.
  template <class Function>
  auto in_other(const Function& what) const {
    struct Back {
      const NetworkNamespace& own;
      ~Back() {
        if (!own.enter()) std::abort();
      }
    } back{own_};
    if (!other_.enter()) std::abort();
    return what();
  }

 private:
  std::string make(const std::vector<std::string>& commands) {
    home_ = NetworkNamespace::current();
    if (::unshare(CLONE_NEWNET) != 0) return "a network namespace needs root";
    own_ = NetworkNamespace::current();
    int ready[2];
    if (::pipe(ready) != 0) return "no pipe";
    const pid_t other = ::fork();
    if (other == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const char done = ::unshare(CLONE_NEWNET) == 0 ? 'y' : 'n';
      if (::write(ready[1], &done, 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    char done = 'n';
    bool made = ::read(ready[0], &done, 1) == 1 && done == 'y';
    ::close(ready[0]);
    ::close(ready[1]);
    const std::string pid = std::to_string(other);
    other_ = NetworkNamespace{"/proc/" + pid + "/ns/net"};
    for (std::string command : commands) {
      if (const std::size_t at = command.find("OTHER"); at != std::string::npos) command.replace(at, 5, pid);
      made = made && run_command(command);
    }
    ::kill(other, SIGKILL);
    ::waitpid(other, nullptr, 0);
    return made ? "" : "veth interfaces cannot be made (needs iproute2 and CAP_NET_ADMIN)";
  }

  NetworkNamespace home_, own_, other_;
  std::string problem_;
};

}  // namespace nfx::testing
