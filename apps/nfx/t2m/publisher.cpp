// Sends messages by their times: asleep until shortly before each, then busy-polling the clock.
#include "t2m/publisher.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <memory>
#include <string>
#include <system_error>

#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/observe/latency_histogram.hpp"
#include "nexusfix/placement/place_thread.hpp"
#include "nexusfix/transport/udp_sender.hpp"
#include "output.hpp"

namespace nfx::app::t2m {
namespace {

// A sleep may end so much too late.
constexpr Duration spin_before{150'000};

UtcTime utc_now() { return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()); }

void wait_until(UtcTime due) {
  for (;;) {
    const Duration left = due - utc_now();
    if (left <= Duration::zero()) return;
    if (left > spin_before) {
      const timespec pause{0, static_cast<long>(std::min<Duration>(left - spin_before, Duration{50'000'000}).count())};
      ::nanosleep(&pause, nullptr);
    } else {
      cpu_pause();
    }
  }
}

PublisherReport publish(Messages& messages, const UdpAddress& to) {
  UdpSender sender{to};
  PublisherReport report;
  const auto late = std::make_unique<LatencyHistogram>();
  const UtcTime start = utc_now() + Duration{20'000'000};
  std::uint64_t number = 0;
  for (const Messages::Packet& packet : messages.packets()) {
    const UtcTime due = start + packet.due;
    const std::string_view bytes = messages.bytes(packet, due);
    wait_until(due);
    if (++number >= messages.first_measured()) late->record(utc_now() - due);
    UdpSent sent = sender.send(bytes);
    if (sent == UdpSent::busy) {
      sender.wait(Duration{10'000'000});
      sent = sender.send(bytes);
    }
    ++(sent == UdpSent::sent ? report.sent : report.refused);
  }
  report.late_p50_ns = late->percentile(50);
  report.late_p99_ns = late->percentile(99);
  report.late_max_ns = late->max();
  return report;
}

[[noreturn]] void run_child(Messages& messages, const UdpAddress& to, const CpuSet& cpus, int in, int out) {
  int status = 1;
  try {
    if (!cpus.empty()) (void)place_thread(cpus);
    char begin = 0;
    if (::read(in, &begin, 1) == 1) {
      const PublisherReport report = publish(messages, to);
      status = ::write(out, &report, sizeof report) == sizeof report ? 0 : 1;
    }
  } catch (const std::exception& error) {
    print_error("nfx t2m: publisher: {}\n", error.what());
  }
  ::_exit(status);
}

}  // namespace

PublisherProcess::PublisherProcess(Messages& messages, const UdpAddress& to, const CpuSet& cpus) {
  std::array<int, 2> down{}, up{};
  if (::pipe2(down.data(), O_CLOEXEC) != 0 || ::pipe2(up.data(), O_CLOEXEC) != 0)
    throw std::system_error{errno, std::generic_category(), "pipe"};
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw std::system_error{errno, std::generic_category(), "fork"};
  if (pid_ == 0) {
    ::close(down[1]);
    ::close(up[0]);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::prctl(PR_SET_NAME, "nfx-publisher");
    run_child(messages, to, cpus, down[0], up[1]);
  }
  ::close(down[0]);
  ::close(up[1]);
  to_child_ = down[1];
  from_child_ = up[0];
  ::fcntl(from_child_, F_SETFL, O_NONBLOCK);
}

PublisherProcess::~PublisherProcess() {
  ::close(to_child_);
  ::close(from_child_);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void PublisherProcess::begin() noexcept {
  const char go = 1;
  (void)!::write(to_child_, &go, 1);
}

bool PublisherProcess::ended() noexcept {
  if (ended_) return true;
  PublisherReport report;
  const ssize_t got = ::read(from_child_, &report, sizeof report);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (got == sizeof report) report_ = report;
  return ended_ = true;
}

}  // namespace nfx::app::t2m
