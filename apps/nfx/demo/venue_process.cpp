// Forks the demonstration's venue, which sends its port, counters and orders to the parent through a pipe.
#include "demo/venue_process.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>
#include <type_traits>

#include "nexusfix/engine/engine.hpp"
#include "output.hpp"

namespace nfx::app::demo {
namespace {

bool write_all(int fd, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size != 0) {
    const ssize_t n = ::write(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool read_all(int fd, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size != 0) {
    const ssize_t n = ::read(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

template <class T>
bool write_value(int fd, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return write_all(fd, &value, sizeof value);
}

template <class T>
bool read_value(int fd, T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return read_all(fd, &value, sizeof value);
}

// All members of a report except its orders, in the order in which both sides write and read them.
template <class Report, class Each>
bool for_each_part(Report& report, Each&& each) {
  return each(report.counts) && each(report.session) && each(report.next_inbound) && each(report.next_outbound) &&
         each(report.thread_before) && each(report.thread_after);
}

int serve(const VenueOptions& options, int out) {
  Venue venue{options.max_requests};
  EngineConfig config;
  config.idle = options.idle;
  config.placement = options.placement;
  config.latency = options.latency;
  config.sessions = {options.session};
  config.sessions[0].listen = {"127.0.0.1", 0};
  Engine engine{config, venue};
  engine.start();
  if (!write_value(out, engine.local_endpoint(0)->port)) return 1;
  engine.turn(Duration::zero());
  require_in_place(engine);
  while (!venue.done()) engine.turn(Duration::max());
  engine.stop();
  while (!engine.finished()) engine.turn(std::chrono::milliseconds{10});

  VenueReport report;
  report.counts = venue.counts();
  report.session = engine.session(0)->counters();
  report.next_inbound = value(engine.session(0)->next_inbound());
  report.next_outbound = value(engine.session(0)->next_outbound());
  report.thread_before = venue.thread_before();
  report.thread_after = venue.thread_after();
  report.orders = venue.summaries();
  const std::uint64_t count = report.orders.size();
  const bool written = for_each_part(report, [&](const auto& part) { return write_value(out, part); }) &&
                       write_value(out, count) && write_all(out, report.orders.data(), count * sizeof(OrderSummary));
  return written ? 0 : 1;
}

}  // namespace

void require_in_place(const Engine& engine) {
  for (const ThreadReport& report : engine.thread_reports()) {
    if (report.cpus != report.planned) throw std::runtime_error("--isolate: " + to_string(report));
  }
}

SessionSettings demo_session(Role role) {
  SessionSettings settings;
  settings.session.role = role;
  settings.session.sender_comp_id = role == Role::acceptor ? "VENUE" : "TRADER";
  settings.session.target_comp_id = role == Role::acceptor ? "TRADER" : "VENUE";
  settings.session.timestamp_digits = 6;
  settings.prefault = true;
  settings.session.logout_timeout = std::chrono::seconds{5};
  return settings;
}

VenueProcess::VenueProcess(const VenueOptions& options) {
  int fds[2];
  if (::pipe(fds) != 0) throw std::system_error{errno, std::generic_category(), "pipe"};
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw std::system_error{errno, std::generic_category(), "fork"};
  if (pid_ == 0) {
    ::close(fds[0]);
    // The child never outlives the trader, however that one ends.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::prctl(PR_SET_NAME, "nfx-venue");
    int status = 1;
    try {
      status = serve(options, fds[1]);
    } catch (const std::exception& error) {
      print_error("nfx: demo venue: {}\n", error.what());
    }
    ::_exit(status);
  }
  ::close(fds[1]);
  read_fd_ = fds[0];
}

VenueProcess::~VenueProcess() {
  ::close(read_fd_);
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::optional<std::uint16_t> VenueProcess::port() {
  std::uint16_t port = 0;
  if (!read_value(read_fd_, port)) return std::nullopt;
  return port;
}

std::optional<VenueReport> VenueProcess::report() {
  VenueReport report;
  std::uint64_t count = 0;
  if (!for_each_part(report, [&](auto& part) { return read_value(read_fd_, part); }) || !read_value(read_fd_, count)) {
    return std::nullopt;
  }
  report.orders.resize(count);
  if (!read_all(read_fd_, report.orders.data(), count * sizeof(OrderSummary))) return std::nullopt;
  int status = 0;
  const bool ended = ::waitpid(pid_, &status, 0) == pid_ && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  pid_ = -1;
  if (!ended) return std::nullopt;
  return report;
}

}  // namespace nfx::app::demo
