// What one link counts. Each group has its own, on cache lines that no other thread writes.
// Thread: the owner of the link counts; any thread reads with read_shared(). Cost: a load and a store for each event.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "nexusfix/base/counter_rows.hpp"

namespace nfx::fabric {

struct LinkCounters {
  std::uint64_t pages_sent = 0;
  std::uint64_t pages_received = 0;
  std::uint64_t page_bytes_sent = 0;
  std::uint64_t page_bytes_received = 0;
  std::uint64_t pages_sent_again = 0;
  std::uint64_t records_sent = 0;
  std::uint64_t records_received = 0;
  std::uint64_t records_sent_again = 0;
  std::uint64_t statuses_sent = 0;
  std::uint64_t numbers_ignored = 0;
  std::uint64_t again = 0;
  std::uint64_t without_credit = 0;
  std::uint64_t rails_opened = 0;
  std::uint64_t rails_closed = 0;
  std::uint64_t transfers_sent = 0;
  std::uint64_t transfers_received = 0;
  std::uint64_t transfers_failed = 0;
};

// As count_shared(), by more than one.
inline void add_shared(std::uint64_t& counter, std::uint64_t more) noexcept {
  const std::atomic_ref<std::uint64_t> shared{counter};
  shared.store(shared.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace nfx::fabric

namespace nfx {

template <>
inline constexpr auto counter_rows<fabric::LinkCounters> = std::to_array<CounterRow<fabric::LinkCounters>>({
    {&fabric::LinkCounters::pages_sent, "nfx_fabric_pages_total",
     "Pages that were posted to a rail, those sent again included.", "direction", "out"},
    {&fabric::LinkCounters::pages_received, "nfx_fabric_pages_total", "Pages that arrived, each counted once.",
     "direction", "in"},
    {&fabric::LinkCounters::page_bytes_sent, "nfx_fabric_page_bytes_total",
     "Bytes of pages that were posted to a rail.", "direction", "out"},
    {&fabric::LinkCounters::page_bytes_received, "nfx_fabric_page_bytes_total", "Bytes of pages that arrived.",
     "direction", "in"},
    {&fabric::LinkCounters::pages_sent_again, "nfx_fabric_pages_sent_again_total",
     "Pages posted again because the rail that had them was closed."},
    {&fabric::LinkCounters::records_sent, "nfx_fabric_records_total",
     "Records of the application that were accepted for sending.", "direction", "out"},
    {&fabric::LinkCounters::records_received, "nfx_fabric_records_total", "Records that were given to the application.",
     "direction", "in"},
    {&fabric::LinkCounters::records_sent_again, "nfx_fabric_records_sent_again_total",
     "Records posted again because the rail that had them was closed."},
    {&fabric::LinkCounters::statuses_sent, "nfx_fabric_statuses_total",
     "Writes with credits, acknowledgements and heartbeats."},
    {&fabric::LinkCounters::numbers_ignored, "nfx_fabric_numbers_ignored_total",
     "Numbers that had arrived before, or of a transfer that has ended."},
    {&fabric::LinkCounters::again, "nfx_fabric_again_total", "Writes that a rail did not take because it was full."},
    {&fabric::LinkCounters::without_credit, "nfx_fabric_without_credit_total",
     "Times that posting to a rail stopped because the receiver's credits were used."},
    {&fabric::LinkCounters::rails_opened, "nfx_fabric_rails_total", "Rails that came up.", "change", "up"},
    {&fabric::LinkCounters::rails_closed, "nfx_fabric_rails_total", "Rails that were closed.", "change", "closed"},
    {&fabric::LinkCounters::transfers_sent, "nfx_fabric_transfers_total", "Transfers that were sent completely.",
     "direction", "out"},
    {&fabric::LinkCounters::transfers_received, "nfx_fabric_transfers_total",
     "Transfers that were received completely.", "direction", "in"},
    {&fabric::LinkCounters::transfers_failed, "nfx_fabric_transfers_failed_total",
     "Transfers that ended otherwise, in either direction."},
});
static_assert(rows_are_complete<fabric::LinkCounters>());

}  // namespace nfx
