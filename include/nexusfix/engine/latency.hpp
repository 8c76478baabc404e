// Latencies that an engine always measures: the stages of each session's messages, the iterations of each poll thread,
// and the slowest hundred moments of each window of time with the host's counters of that time. Engine::latency() and
// Engine::slowest() return them.
// Thread: values. Cost: 15 KiB for each session in a report; a poll thread is not disturbed. A session takes the same
// once it has connected, on pages that are used with its first application message.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/base/latency_histogram.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

enum class LatencyStage : std::uint8_t {
  kernel_to_read,
  read_to_application,
  in_application,
  send_to_commit,
  commit_to_socket,
  request_to_answer,
  durable_lag,
  turn,  // of a poll thread, not of a session
};
inline constexpr std::size_t session_stage_count = static_cast<std::size_t>(LatencyStage::turn);

struct LatencyStageRow {
  LatencyStage stage;
  std::string_view name;
  std::string_view metric;
  std::string_view help;
};

// One for each stage, in their order.
inline constexpr auto latency_stages = std::to_array<LatencyStageRow>({
    {LatencyStage::kernel_to_read, "kernel_to_read", "nfx_kernel_to_read_seconds",
     "Time from the kernel's or network card's time stamp of received bytes until they are read; with timestamps = "
     "true."},
    {LatencyStage::read_to_application, "read_to_application", "nfx_read_to_application_seconds",
     "Time from reading the bytes that completed a message until on_message is called, earlier messages of the same "
     "read included."},
    {LatencyStage::in_application, "in_application", "nfx_in_application_seconds",
     "Time that on_message takes, what it sends included."},
    {LatencyStage::send_to_commit, "send_to_commit", "nfx_send_to_commit_seconds",
     "Time that SessionHandle::send takes to encode and store a message; of every sixteenth."},
    {LatencyStage::commit_to_socket, "commit_to_socket", "nfx_commit_to_socket_seconds",
     "Time from the end of the callback, or of the send outside of one, until the kernel has taken the messages; each "
     "counts with the oldest that left together with it. Waiting for the disk or the peer is part of it."},
    {LatencyStage::request_to_answer, "request_to_answer", "nfx_request_to_answer_seconds",
     "Time from reading a message until the kernel has taken what on_message sent on the same session; each counts "
     "with the oldest that left together with it."},
    {LatencyStage::durable_lag, "durable_lag", "nfx_durable_lag_seconds",
     "Age of the oldest record that a sync of the journal made durable, at the end of the sync; one for each sync."},
    {LatencyStage::turn, "turn", "nfx_poll_gap_seconds",
     "Time between two polls of the network by a busy-polling thread, the handling of messages included."},
});
static_assert([] {
  for (std::size_t i = 0; i < latency_stages.size(); ++i) {
    if (std::to_underlying(latency_stages[i].stage) != i) return false;
  }
  return latency_stages.size() == session_stage_count + 1;
}());

[[nodiscard]] constexpr std::string_view to_string(LatencyStage stage) noexcept {
  const auto at = static_cast<std::size_t>(stage);
  return at < latency_stages.size() ? latency_stages[at].name : "?";
}

// The latencies of a session, one histogram for each stage.
struct LatencySet {
  std::array<LatencyCounts, session_stage_count> of;

  [[nodiscard]] LatencyCounts& operator[](LatencyStage stage) noexcept { return of[static_cast<std::size_t>(stage)]; }
  [[nodiscard]] const LatencyCounts& operator[](LatencyStage stage) const noexcept {
    return of[static_cast<std::size_t>(stage)];
  }
  void add(const LatencySet& other) noexcept {
    for (std::size_t i = 0; i < of.size(); ++i) of[i].add(other.of[i]);
  }
};

// A window that ends now. It may be a fifth longer than its name (`second`: a second longer), and never begins before
// the start. LatencyReport has the exact times.
enum class LatencyWindow : std::uint8_t { second, ten_seconds, minute, day, since_start };
inline constexpr std::size_t timed_window_count = static_cast<std::size_t>(LatencyWindow::since_start);

// "1s", "10s", "1min", "1day", "start"; "?" beyond the last.
[[nodiscard]] std::string_view to_string(LatencyWindow window) noexcept;
// Zero for since_start.
[[nodiscard]] constexpr Duration length_of(LatencyWindow window) noexcept {
  constexpr std::array<std::chrono::seconds, timed_window_count + 1> lengths{
      std::chrono::seconds{1}, std::chrono::seconds{10}, std::chrono::minutes{1}, std::chrono::days{1}, {}};
  return lengths[static_cast<std::size_t>(window)];
}

// The latencies of one poll thread.
struct LoopLatency {
  LatencyCounts handling;  // from the first bytes of an iteration until its answers are sent
  LatencyCounts poll_gap;  // between two iterations, of which the first did not wait for the network
};

struct SessionLatency {
  std::string session;  // its identity
  std::uint32_t poll_thread = 0;
  std::uint64_t serial = 0;  // another one for a session that was removed and came back
  LatencySet stages;
};

struct ThreadLatency {
  std::uint32_t poll_thread = 0;
  LoopLatency loop;
  LatencySet stages;  // of its sessions, those included that were removed
};

struct LatencyReport {
  UtcTime from{}, to{};                  // to: when it was made, or the window ended
  std::vector<SessionLatency> sessions;  // sessions that have connected; for a window, sessions with a latency in it
  std::vector<ThreadLatency> threads;    // one for each poll thread
};

// The report in HdrHistogram's log format: one line for each session and stage, tagged
// "FIX.4.4:A->B/in_application", and for each poll thread, tagged "nfx-poll-0/turn", where there is any latency.
[[nodiscard]] std::string hdr_log_text(const LatencyReport& report);

// Why a moment was slow. If its messages waited for the disk or the peer, that is the cause. Otherwise it is the first
// of HostEvidence::waited and HostEvidence::stolen that is at least half of the time, and else on_message.
enum class SlowCause : std::uint8_t {
  disk,         // it waited for the journal's sync
  peer,         // the peer did not read: the kernel took no more bytes
  scheduler,    // another task ran on the thread's CPU
  steal,        // the hypervisor ran another guest
  application,  // on_message took it
  none_known,
};
// "disk", "none known"; "?" beyond the last.
[[nodiscard]] std::string_view to_string(SlowCause cause) noexcept;

// The kernel's counters of the poll thread and its CPU between two samples around the moment, which are at most some
// 200 ms further apart than the moment is long.
struct HostEvidence {
  Duration between{};  // the two samples
  Duration ran{};      // the thread
  Duration waited{};   // it could have run, while another task did
  Duration stolen{};   // by the hypervisor, in steps of 10 ms
  std::uint64_t interrupts = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t migrations = 0;
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
};

struct SlowMoment {
  UtcTime ended{};
  Duration took{};
  LatencyStage stage = LatencyStage::turn;
  std::string session;  // empty for an iteration
  std::uint32_t poll_thread = 0;
  SlowCause cause = SlowCause::none_known;
  HostEvidence host;
};

// "20261123-19:20:01.123456 3200.0 us in_application FIX.4.4:A->B nfx-poll-0: scheduler; in 100.0 ms ran 96.8 ms,
// waited 3.100 ms, 2 involuntary switches"
[[nodiscard]] std::string to_string(const SlowMoment& moment);

}  // namespace nfx
