// The stages of a message on its way through the engine, and their latencies.
// Thread: LatencySet as LatencyCounts: one writer, copies by any. Cost: a set is 15 KiB. Lifetime, errors: values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "nexusfix/base/latency_histogram.hpp"

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

// The latencies of a session's stages.
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

}  // namespace nfx
