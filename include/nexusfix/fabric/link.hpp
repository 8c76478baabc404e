// Pages and records between two hosts over all rails of one group, both ways. Transfers are striped over the rails that
// are up; a rail that fails or goes silent is taken out, what it may have lost is sent over the others, and it comes
// back by itself. Every page and record arrives once and whole, or the failure is reported.
// Thread: one owner, which also makes the rails. Time is an argument: nothing here reads a clock, so a test drives it.
// Cost: send_record() and poll() do not allocate, lock, throw, or call the kernel but through the rails; restart() and
// the constructor allocate. Lifetime: rails, regions and events outlive the link. All is bounded by LinkOptions; what
// is full is refused by `LinkError::full`, and nothing is dropped. Errors: what the peer or the network causes is
// reported through LinkEvents. The constructor throws std::runtime_error for what the operator can fix.
//
// A transfer needs both ends: receive() at one names where pages may be written, send() at the other where they are.
// Which is called first does not matter. Memory belongs to the link until on_received() or on_sent() reports the
// transfer: then no write, not even a late one over a rail that failed, reads or changes it.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/fabric/rail.hpp"

namespace nfx::fabric {

// The counters of one link. Each group has its own, on cache lines that no other thread writes.
// Thread: the owner of the link counts; any thread reads with read_shared(). Cost: a load and a store for each event.
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

namespace nfx::fabric {

// Chosen by the application, the same at both ends; not in use by another transfer of that direction.
enum class TransferId : std::uint64_t {};
// Number of a record in its direction, from 1 on.
enum class RecordSeq : std::uint64_t {};

inline constexpr std::size_t max_rails = 16;
inline constexpr std::uint32_t max_transfers = 64;
inline constexpr std::uint32_t max_pages = 65536;

// Which rails have which writes: some transports are fastest for small ones, others for large ones. `nfx fabric bench`
// measures both (docs/fabric.md). The rails preferred for a size carry its writes while they are up; when none of them
// is up, all others do. One bit per rail; the ends may differ.
struct RailChoice {
  std::uint32_t small_most = 0;        // bytes: records and pages up to this size are small
  std::uint16_t small_rails = 0xffff;  // preferred for these; records go over the first of them
  std::uint16_t large_rails = 0xffff;  // for the others
};

// Both ends have the same sizes; otherwise the link ends with LossReason::different_options.
struct LinkOptions {
  std::uint64_t session = 0;         // not 0, and another one for every life of this end: a random number
  std::uint32_t record_slots = 256;  // records without an acknowledgement of their arrival; a power of two, 16 to 16384
  std::uint32_t record_size = 1024;  // the longest record, 64 to 65536 bytes
  std::uint32_t transfers = 16;      // open at a time, in each direction, 1 to 64
  std::uint32_t pages = 16384;       // of one transfer, 1 to 65536
  RailChoice choice = {};
  std::uint32_t batch = 16;           // writes that are posted to a rail between two polls of it
  bool acknowledge_on_return = true;  // of on_record(); false: the application calls acknowledge()
  int node = -1;                      // of the link's own region; -1: where the thread runs

  Duration heartbeat = std::chrono::milliseconds{50};
  // A rail over which nothing comes from the peer for this time is closed.
  Duration silence = std::chrono::seconds{1};
  // A rail is closed when its writes do not arrive for this time, even if only a single write does not.
  Duration write_deadline = std::chrono::seconds{5};
  Duration reopen_after = std::chrono::milliseconds{100};
  // Without any rail for this time the link is lost. Rails that are not up yet count.
  Duration lost_after = std::chrono::seconds{5};
};

enum class LinkError : std::uint8_t {
  full,         // all records or transfers are in use; try again after a poll
  lost,         // the link is lost; restart() begins a new one
  too_long,     // the record or the transfer is longer than LinkOptions allow
  in_use,       // this id is one of an open transfer of this direction
  out_of_range  // not inside the region, no such region, or a page longer than a rail can write
};
[[nodiscard]] std::string_view to_string(LinkError error) noexcept;

enum class TransferResult : std::uint8_t {
  complete,   // every page is in the receiver's memory
  cancelled,  // by cancel_send() or cancel_receive() of either end; some pages may have arrived
  different,  // the two ends have another number or size of pages
  lost,       // the link was lost. The sender does not know then whether every page arrived
};
[[nodiscard]] std::string_view to_string(TransferResult result) noexcept;

enum class LossReason : std::uint8_t {
  no_rail,            // none was up for LinkOptions::lost_after
  peer_restarted,     // the peer has another session
  different_options,  // the peer's LinkOptions or regions differ
  protocol,           // the peer sent what no link sends
  stopped,            // stop() was called
};
[[nodiscard]] std::string_view to_string(LossReason reason) noexcept;

enum class RailChange : std::uint8_t {
  up,
  failed,    // an error completion, or the connection ended
  silent,    // LinkOptions::silence or write_deadline passed
  by_peer,   // the peer closed its end
  protocol,  // what came over it is nothing that a link sends
};
[[nodiscard]] std::string_view to_string(RailChange change) noexcept;

// Pages of one size, next to each other from `offset` on.
struct PageRange {
  RegionIndex region{};
  std::uint64_t offset = 0;
  std::uint32_t page_size = 0;
  std::uint32_t pages = 0;
};

// Calls of the application, from within poll(), stop() and restart() alone. They may call everything of the link but
// poll(), restart() and stop().
class LinkEvents {
 public:
  virtual ~LinkEvents() = default;
  // In the order of send_record(), each once. The bytes are valid during the call.
  virtual void on_record(RecordSeq seq, std::span<const std::byte> record) = 0;
  // The peer's application has acknowledged all records up to this one.
  virtual void on_acknowledged(RecordSeq) {}
  // The peer called receive() and no send() of this id is open.
  virtual void on_requested(TransferId, const PageRange&) {}
  // This page of a receive() is whole. Pages come in any order, each once.
  virtual void on_page(TransferId, std::uint32_t /*page*/) {}
  virtual void on_received(TransferId, TransferResult) {}
  virtual void on_sent(TransferId, TransferResult) {}
  virtual void on_rail(std::size_t /*rail*/, RailChange) {}
  // After the reports of all open transfers. Records beyond the last on_acknowledged() may or may not have arrived.
  virtual void on_lost(LossReason) {}
};

class LinkCore;

class Link {
 public:
  // Adds its own region to the rails, as the first one. The rails are closed.
  Link(std::span<const RailRef> rails, const LinkOptions& options, LinkEvents& events);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link();

  // Before the first poll(); registers it with every rail. A region that was added before has its index already.
  [[nodiscard]] std::expected<RegionIndex, std::string> add_region(const Region& region);

  // Serves every rail once and posts what can be posted. Returns how much there was to do.
  std::size_t poll(MonotonicTime now) noexcept;

  // Copies the record. It is sent before the call returns, if a rail has space.
  [[nodiscard]] std::expected<RecordSeq, LinkError> send_record(std::span<const std::byte> record) noexcept;
  // All records up to this one, which was received.
  void acknowledge(RecordSeq through) noexcept;

  [[nodiscard]] std::expected<void, LinkError> send(TransferId id, const PageRange& from) noexcept;
  [[nodiscard]] std::expected<void, LinkError> receive(TransferId id, const PageRange& into) noexcept;
  // Reported by on_sent() and on_received() as every end is, once the memory is free. Without effect on other ids.
  void cancel_send(TransferId id) noexcept;
  void cancel_receive(TransferId id) noexcept;

  // Ends the link as LossReason::stopped, and closes all rails: all memory is free after it.
  void stop() noexcept;
  // A lost link begins again, with nothing open. `session` is another one than before.
  void restart(std::uint64_t session, MonotonicTime now);

  [[nodiscard]] bool lost() const noexcept;
  [[nodiscard]] std::size_t rails() const noexcept;
  [[nodiscard]] std::size_t rails_up() const noexcept;
  [[nodiscard]] RecordSeq last_sent() const noexcept;
  [[nodiscard]] RecordSeq last_acknowledged() const noexcept;
  // Written by the owner with relaxed atomic stores, on cache lines of their own: read_shared() on any thread.
  [[nodiscard]] const LinkCounters& counters() const noexcept;

 private:
  std::unique_ptr<LinkCore> core_;
};

}  // namespace nfx::fabric
