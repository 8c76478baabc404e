// What the MoldUDP64 arbiter counts. Thread: the arbiter's. Cost: one addition each.
#pragma once

#include <array>
#include <cstdint>

#include "nexusfix/base/counter_rows.hpp"

namespace nfx::market {

struct MoldCounters {
  std::uint64_t messages = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t malformed = 0;
  std::uint64_t other_session = 0;
  std::uint64_t implausible = 0;
  std::uint64_t gaps = 0;
  std::uint64_t buffered = 0;
  std::uint64_t dropped = 0;
  std::uint64_t too_long = 0;
  std::uint64_t requests = 0;
  std::uint64_t stale = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t snapshots_refused = 0;

  friend bool operator==(const MoldCounters&, const MoldCounters&) = default;
};

}  // namespace nfx::market

namespace nfx {

template <>
inline constexpr auto counter_rows<market::MoldCounters> = std::to_array<CounterRow<market::MoldCounters>>({
    {&market::MoldCounters::messages, "nfx_mold_messages_total", "Messages given on, each sequence number once."},
    {&market::MoldCounters::duplicates, "nfx_mold_duplicates_total",
     "Packets that brought nothing new: the slower line of two, and repeated packets."},
    {&market::MoldCounters::malformed, "nfx_mold_malformed_total",
     "Packets that are too short for their header or their messages, or have bytes after them."},
    {&market::MoldCounters::other_session, "nfx_mold_other_session_total",
     "Packets of another session than the current one, ignored."},
    {&market::MoldCounters::implausible, "nfx_mold_implausible_total",
     "Packets too far ahead of the newest message, ignored until another one confirms them."},
    {&market::MoldCounters::gaps, "nfx_mold_gaps_total", "Gaps in the sequence numbers of both lines together."},
    {&market::MoldCounters::buffered, "nfx_mold_buffered_total", "Messages buffered after a gap."},
    {&market::MoldCounters::dropped, "nfx_mold_dropped_total",
     "Messages that left the buffer, or came too late for it, while a snapshot was awaited."},
    {&market::MoldCounters::too_long, "nfx_mold_too_long_total",
     "Messages after a gap that are longer than a place of the buffer, and count as lost."},
    {&market::MoldCounters::requests, "nfx_mold_requests_total", "Requests sent for missing messages."},
    {&market::MoldCounters::stale, "nfx_mold_stale_total", "Times that the feed became stale."},
    {&market::MoldCounters::snapshots, "nfx_mold_snapshots_total", "Snapshots after which the feed continued."},
    {&market::MoldCounters::snapshots_refused, "nfx_mold_snapshots_refused_total",
     "Snapshots that were older than the oldest buffered message."},
});
static_assert(rows_are_complete<market::MoldCounters>());

}  // namespace nfx
