// Shared by all feeds: their states, their outputs, and how a feed of numbered updates gets the snapshots that repair a
// loss.
// Thread: the feed's. Cost: values; an output is one call by pointer. Errors: none; the functions of an output do not
// throw. Lifetime: an output outlives its feed, and does not call back into it.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/market/event.hpp"

namespace nfx::market {

enum class FeedState : std::uint8_t {
  waiting,     // nothing has come
  live,        // every message that is known of was given to the sink
  recovering,  // messages are missing. Later ones are buffered
  stale,       // what was built is not current: messages are missing for too long, or nothing comes
  ended,       // the session ended, and every message of it was given to the sink
};
[[nodiscard]] std::string_view to_string(FeedState state) noexcept;

// An object that has event(const Event&), without its type. The object outlives it.
class EventOutput {
 public:
  template <class Output>
    requires(!std::same_as<std::remove_cv_t<Output>, EventOutput> &&
             requires(Output& output, const Event& event) { output.event(event); })
  EventOutput(Output& output) noexcept  // NOLINT(google-explicit-constructor): any such object is one
      : to_(&output), event_([](void* to, const Event& event) noexcept { static_cast<Output*>(to)->event(event); }) {}

  void event(const Event& event) const noexcept { event_(to_, event); }

 private:
  void* to_;
  void (*event_)(void*, const Event&) noexcept;
};

class FeedOutput {
 public:
  virtual ~FeedOutput() = default;
  // Event::instrument is the InstrumentIndex as a number. An instrument that stops being live gets an event of kind
  // none with event_flag::recovering.
  virtual void event(const Event& event) noexcept = 0;
  // A snapshot of this instrument is wanted.
  virtual void request_snapshot(InstrumentIndex index) noexcept = 0;
};

enum class InstrumentState : std::uint8_t {
  recovering,  // something was lost, or nothing has been received yet: a snapshot is requested
  live,        // every update since the snapshot was applied
  stale,       // recovering for longer than RecoveryOptions::stale_after, or the venue refused the request
};
[[nodiscard]] std::string_view to_string(InstrumentState state) noexcept;

// Options for numbered updates. Snapshots are requested again after retry_min, with delays that grow up to retry_max;
// an instrument that is not live for `stale_after` is stale.
struct RecoveryOptions {
  std::uint32_t instruments = 1024;
  std::uint32_t buffered_entries = 1u << 16;  // of all instruments
  std::uint32_t old_updates_max = 1000;       // consecutive ones, after which the venue's numbers have begun again
  std::uint32_t old_snapshots_max = 8;        // the same for refused snapshots
  Duration retry_min{500'000'000};
  Duration retry_max{30'000'000'000};
  Duration request_spacing{0};  // between two requests of any instruments
  Duration stale_after{10'000'000'000};
};

// Counters of the recovery of numbered updates.
struct RecoveryCounters {
  std::uint64_t gaps = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t buffered = 0;
  std::uint64_t dropped = 0;
  std::uint64_t late = 0;
  std::uint64_t lost = 0;
  std::uint64_t renumbered = 0;
  std::uint64_t requests = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t snapshots_not_needed = 0;
  std::uint64_t snapshots_too_old = 0;
  std::uint64_t stale = 0;

  friend bool operator==(const RecoveryCounters&, const RecoveryCounters&) = default;
};

}  // namespace nfx::market

namespace nfx {

template <>
inline constexpr auto counter_rows<market::RecoveryCounters> = std::to_array<CounterRow<market::RecoveryCounters>>({
    {&market::RecoveryCounters::gaps, "nfx_feed_gaps_total", "Gaps in the update numbers of an instrument."},
    {&market::RecoveryCounters::duplicates, "nfx_feed_duplicates_total",
     "Updates that were applied or buffered before."},
    {&market::RecoveryCounters::buffered, "nfx_feed_buffered_total", "Updates buffered until a snapshot arrives."},
    {&market::RecoveryCounters::dropped, "nfx_feed_dropped_total",
     "Updates dropped while a snapshot was awaited: the buffer was full, or they have no number."},
    {&market::RecoveryCounters::late, "nfx_feed_late_total", "Missing updates that arrived late and were applied."},
    {&market::RecoveryCounters::lost, "nfx_feed_lost_total",
     "Updates that could not be read or did not fit the book, so that it needs a snapshot."},
    {&market::RecoveryCounters::renumbered, "nfx_feed_renumbered_total",
     "Times that the update numbers of an instrument began again at lower ones."},
    {&market::RecoveryCounters::requests, "nfx_feed_snapshot_requests_total", "Snapshots requested."},
    {&market::RecoveryCounters::snapshots, "nfx_feed_snapshots_total", "Snapshots applied."},
    {&market::RecoveryCounters::snapshots_not_needed, "nfx_feed_snapshots_ignored_total",
     "Snapshots that were not applied.", "reason", "not_needed"},
    {&market::RecoveryCounters::snapshots_too_old, "nfx_feed_snapshots_ignored_total",
     "Snapshots that were not applied.", "reason", "too_old"},
    {&market::RecoveryCounters::stale, "nfx_feed_stale_total", "Times that an instrument became stale."},
});
static_assert(rows_are_complete<market::RecoveryCounters>());

}  // namespace nfx
