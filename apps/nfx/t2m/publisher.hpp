// The publisher in its own process: sends each message when it is due, whatever the receiver does (open loop). With
// websocket and FIX it is a venue that the receiver connects to, as in `nfx market publish`. Forked before any thread
// exists. Errors: the child reports them on stderr; the parent sees no report. Lifetime: the child ends with the
// object, and with the process that made it, however that one ends.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "nexusfix/placement/cpu_affinity.hpp"
#include "nexusfix/transport/udp.hpp"
#include "t2m/messages.hpp"

namespace nfx::app::t2m {

// How late it was: a latency from the due time includes what it was late.
struct PublisherReport {
  std::uint64_t sent = 0;
  std::uint64_t refused = 0;  // by the kernel: no receiver, or no space; by websocket: no subscriber
  std::uint64_t late_p50_ns = 0;
  std::uint64_t late_p99_ns = 0;
  std::uint64_t late_max_ns = 0;
};

class PublisherProcess {
 public:
  // The messages were made before, with these options; the child inherits them unchanged. It waits for begin(). `to`:
  // the destination of datagrams. Throws std::runtime_error when it does not start.
  PublisherProcess(Messages& messages, const MessageOptions& options, const UdpAddress& to, const CpuSet& cpus);
  ~PublisherProcess();
  PublisherProcess(const PublisherProcess&) = delete;
  PublisherProcess& operator=(const PublisherProcess&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  // The port on which it listens; 0: it sends datagrams.
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  // Messages are due from `start`. With websocket and FIX the receiver must have subscribed before.
  void begin(UtcTime start) noexcept;
  // Whether it has sent everything, or has ended otherwise. Does not wait.
  [[nodiscard]] bool ended() noexcept;
  // After ended(). Nothing: it ended without a report.
  [[nodiscard]] std::optional<PublisherReport> report() const noexcept { return report_; }

 private:
  void end() noexcept;

  pid_t pid_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
  std::uint16_t port_ = 0;
  bool ended_ = false;
  std::optional<PublisherReport> report_;
};

}  // namespace nfx::app::t2m
