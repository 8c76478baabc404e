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
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "base/clocks.hpp"
#include "market/fix_venue.hpp"
#include "nexusfix/base/latency_histogram.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/transport/udp.hpp"
#include "output.hpp"
#include "placement/place_thread.hpp"
#include "publish/websocket_venue.hpp"

namespace nfx::app::t2m {
namespace {

// A sleep may end this much too late.
constexpr Duration spin_before{150'000};
// The maximum time expected for an answer of a venue.
constexpr Duration serve_before{5'000};

// Sends the messages.
class Venue {
 public:
  virtual ~Venue() = default;
  [[nodiscard]] virtual std::uint16_t port() const { return 0; }
  // False: it was refused.
  virtual bool send(Messages& messages, const Messages::Packet& packet, UtcTime due) = 0;
  // Waits for at most `longest`, or until a connection needs something, and answers it.
  virtual void serve(Duration longest) = 0;
};

class Datagrams final : public Venue {
 public:
  explicit Datagrams(const UdpAddress& to) : sender_(to) {}
  bool send(Messages& messages, const Messages::Packet& packet, UtcTime due) override {
    const std::string_view bytes = messages.bytes(packet, due);
    UdpSent sent = sender_.send(bytes);
    if (sent == UdpSent::busy) {
      sender_.wait(Duration{10'000'000});
      sent = sender_.send(bytes);
    }
    return sent == UdpSent::sent;
  }
  void serve(Duration longest) override {
    const timespec pause{0, static_cast<long>(longest.count())};
    if (longest > Duration::zero()) ::nanosleep(&pause, nullptr);
  }

 private:
  UdpSender sender_;
};

class Websocket final : public Venue {
 public:
  explicit Websocket(const MessageOptions& options)
      : names_(names_of(options.feed, options.names)), venue_({.listen = {"127.0.0.1", 0}, .names = 0}) {}
  [[nodiscard]] std::uint16_t port() const override { return venue_.port(); }
  bool send(Messages& messages, const Messages::Packet& packet, UtcTime due) override {
    const std::uint64_t before = venue_.counters().sent;
    venue_.send(names_[packet.name], messages.bytes(packet, due));
    return venue_.counters().sent != before;
  }
  void serve(Duration longest) override { venue_.serve(longest); }

 private:
  std::vector<std::string> names_;
  nfx::market::WebsocketVenue venue_;
};

class Fix final : public Venue {
 public:
  explicit Fix(const MessageOptions& options)
      : venue_({.listen = {"127.0.0.1", 0}, .seed = options.seed, .names = options.names}) {}
  [[nodiscard]] std::uint16_t port() const override { return venue_.port(); }
  bool send(Messages&, const Messages::Packet&, UtcTime due) override {
    const std::uint64_t before = venue_.publisher().counters().unsent;
    venue_.step(due);
    venue_.serve(Duration::zero());
    return venue_.publisher().counters().unsent == before;
  }
  void serve(Duration longest) override { venue_.serve(longest); }

 private:
  market::FixVenue venue_;
};

std::unique_ptr<Venue> make_venue(const MessageOptions& options, const UdpAddress& to) {
  switch (options.feed) {
    case FeedKind::itch:
    case FeedKind::dbn: break;
    case FeedKind::ws: return std::make_unique<Websocket>(options);
    case FeedKind::fix: return std::make_unique<Fix>(options);
  }
  return std::make_unique<Datagrams>(to);
}

void wait_until(UtcTime due, Venue& venue) {
  for (;;) {
    const Duration left = due - read_utc();
    if (left <= Duration::zero()) return;
    if (left > spin_before) {
      venue.serve(std::min<Duration>(left - spin_before, Duration{50'000'000}));
    } else if (left > serve_before) {
      venue.serve(Duration::zero());
    } else {
      cpu_pause();
    }
  }
}

PublisherReport publish(Messages& messages, Venue& venue, UtcTime start) {
  PublisherReport report;
  const auto late = std::make_unique<LatencyHistogram>();
  std::uint64_t number = 0;
  for (const Messages::Packet& packet : messages.packets()) {
    const UtcTime due = start + packet.due;
    wait_until(due, venue);
    if (++number >= messages.first_measured()) late->record(read_utc() - due);
    ++(venue.send(messages, packet, due) ? report.sent : report.refused);
  }
  report.late_p50_ns = late->percentile(50);
  report.late_p99_ns = late->percentile(99);
  report.late_max_ns = late->max();
  return report;
}

// The start time, when it comes. Nothing: the receiver is gone.
std::optional<UtcTime> wait_for_start(int in, Venue& venue) {
  for (;;) {
    std::int64_t start = 0;
    const ssize_t got = ::read(in, &start, sizeof start);
    if (got == sizeof start) return UtcTime{Duration{start}};
    if (got >= 0 || (errno != EAGAIN && errno != EINTR)) return std::nullopt;
    venue.serve(Duration{1'000'000});
  }
}

template <class T>
bool write_value(int out, const T& value) {
  return ::write(out, &value, sizeof value) == sizeof value;
}

[[noreturn]] void run_child(Messages& messages, const MessageOptions& options, const UdpAddress& to, const CpuSet& cpus,
                            int in, int out) {
  int status = 1;
  try {
    if (!cpus.empty()) (void)place_thread(cpus);
    const std::unique_ptr<Venue> venue = make_venue(options, to);
    const bool told = write_value(out, venue->port());
    if (const auto start = told ? wait_for_start(in, *venue) : std::nullopt) {
      status = write_value(out, publish(messages, *venue, *start)) ? 0 : 1;
      // Its connections are served on until the receiver ends it.
      if (venue->port() != 0) (void)wait_for_start(in, *venue);
    }
  } catch (const std::exception& error) {
    print_error("nfx t2m: publisher: {}\n", error.what());
  }
  ::_exit(status);
}

}  // namespace

PublisherProcess::PublisherProcess(Messages& messages, const MessageOptions& options, const UdpAddress& to,
                                   const CpuSet& cpus) {
  std::array<int, 2> down{}, up{};
  if (::pipe2(down.data(), O_CLOEXEC) != 0 || ::pipe2(up.data(), O_CLOEXEC) != 0)
    throw std::system_error{errno, std::generic_category(), "pipe"};
  ::fcntl(down[0], F_SETFL, O_NONBLOCK);
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
    run_child(messages, options, to, cpus, down[0], up[1]);
  }
  ::close(down[0]);
  ::close(up[1]);
  to_child_ = down[1];
  from_child_ = up[0];
  if (::read(from_child_, &port_, sizeof port_) != sizeof port_) {
    end();
    throw std::runtime_error("the publisher's process did not start");
  }
  ::fcntl(from_child_, F_SETFL, O_NONBLOCK);
}

PublisherProcess::~PublisherProcess() { end(); }

void PublisherProcess::end() noexcept {
  ::close(to_child_);
  ::close(from_child_);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void PublisherProcess::begin(UtcTime start) noexcept {
  const std::int64_t ns = start.time_since_epoch().count();
  (void)!::write(to_child_, &ns, sizeof ns);
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
