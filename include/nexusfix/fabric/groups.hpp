// Several groups of network cards: the polling thread of each group, which are the cards at one PCIe switch, and
// transfers over the links of several groups at a time. Each group has a part of the pages, and a transfer is complete
// when all parts are. When a group's link is lost, its part goes over the link of another group.
// Thread: GroupThread and DividedTransfers have one owner; a GroupProgram and a GroupSide belong to the thread of their
// group. Cost: a clock reading and one virtual call for each iteration of a group. Each part of a transfer needs one
// queue entry and a page none, so no page makes two threads write the same memory. No allocation, lock or system call
// on the path of a transfer. Lifetime: DividedTransfers owns the sides and outlives the groups; memory belongs to the
// links until on_received() or on_sent() reports the transfer. Errors: as of a Link; what is full is refused.
// Constructors throw std::runtime_error for options that cannot work and threads that cannot be pinned.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/concurrent/spsc_queue.hpp"
#include "nexusfix/concurrent/worker_thread.hpp"
#include "nexusfix/fabric/link.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx::fabric {

struct GroupOptions {
  std::string name = "nfx-rail-0";  // of the thread, at most 15 characters
  CpuSet cpus;                      // empty: not pinned
  IdleMode idle = IdleMode::spin;
  Duration longest_sleep = std::chrono::microseconds{50};  // with IdleMode::block: rails have nothing that wakes
};

// The program of a group. Its constructor makes regions, rails and a Link.
class GroupProgram {
 public:
  virtual ~GroupProgram() = default;
  // Polls the link, and does the application's work. Returns how much there was; after 0 the thread idles.
  virtual std::size_t step(MonotonicTime now) = 0;
};

// The polling thread of one group: the cards at one PCIe switch. It is named and pinned first, and only then makes its
// regions, rails and link, so that their memory is on its node; from then on no other thread uses them.
// Thread: constructor, stop() and destructor from the owner; the program's functions run on the group's thread alone.
// Cost: a clock reading and one virtual call for each iteration. Lifetime: the program is destroyed after its thread
// has ended. Errors: the constructor throws std::runtime_error when the thread cannot be pinned, and what `make`
// throws.
class GroupThread {
 public:
  // Returns when `make` has returned on the new thread.
  GroupThread(const GroupOptions& options, std::function<std::unique_ptr<GroupProgram>()> make);
  ~GroupThread();
  GroupThread(const GroupThread&) = delete;
  GroupThread& operator=(const GroupThread&) = delete;

  // Ends the thread, after which the owner may use the program. Calling it again does nothing.
  void stop() noexcept;
  [[nodiscard]] GroupProgram& program() noexcept { return *program_; }

 private:
  WakeSignal signal_;
  std::atomic<bool> stopping_{false};
  std::unique_ptr<GroupProgram> program_;
  std::unique_ptr<WorkerThread> thread_;
};

inline constexpr std::size_t max_groups = 16;
// The ids of divided transfers are less.
inline constexpr std::uint64_t divided_ids = std::uint64_t{1} << 56;

// The part of a transfer that one group carries.
struct PagePart {
  std::uint32_t first = 0;
  std::uint32_t pages = 0;
};
[[nodiscard]] constexpr PagePart part_of(std::uint32_t pages, std::size_t groups, std::size_t part) noexcept {
  const auto begin = static_cast<std::uint32_t>(std::uint64_t{pages} * part / groups);
  const auto end = static_cast<std::uint32_t>(std::uint64_t{pages} * (part + 1) / groups);
  return {.first = begin, .pages = end - begin};
}

// Which transfer and part a link's TransferId is of: for on_page(), whose pages are counted from the part's first.
struct PartId {
  TransferId transfer{};
  std::size_t part = 0;
};
[[nodiscard]] constexpr TransferId encode(PartId id) noexcept {
  return TransferId{static_cast<std::uint64_t>(id.transfer) << 8 | id.part};
}
[[nodiscard]] constexpr PartId decode(TransferId id) noexcept {
  return {.transfer = TransferId{static_cast<std::uint64_t>(id) >> 8}, .part = static_cast<std::uint64_t>(id) & 0xff};
}

struct DivisionOptions {
  std::size_t groups = 1;
  std::uint32_t transfers = 4;  // open at a time, in each direction; times `groups` at most max_transfers
};

class GroupSide {
 public:
  explicit GroupSide(const DivisionOptions& options);

  // Starts and cancels what the owner has requested. Returns how much that was.
  std::size_t step(Link& link) noexcept;
  void on_received(TransferId id, TransferResult result) noexcept {
    report({.id = id, .sent = false, .result = result});
  }
  void on_sent(TransferId id, TransferResult result) noexcept { report({.id = id, .sent = true, .result = result}); }

 private:
  friend class DividedTransfers;

  enum class Call : std::uint8_t { send, receive, cancel_send, cancel_receive };
  struct Request {
    TransferId id{};
    PageRange range;
    Call call = Call::send;
  };
  struct Report {
    TransferId id{};
    bool sent = false;  // otherwise received
    TransferResult result = TransferResult::complete;
  };

  void report(const Report& report) noexcept;

  SpscQueue requests_;  // of the owner
  SpscQueue reports_;   // of the group
};

// Calls of the application, from within DividedTransfers::poll().
class DivisionEvents {
 public:
  virtual ~DivisionEvents() = default;
  virtual void on_received(TransferId id, TransferResult result) = 0;
  virtual void on_sent(TransferId id, TransferResult result) = 0;
};

// A program has these parts:
//   both ends  as many groups, whose links add the same regions in the same order. LinkOptions::transfers are at least
//              DivisionOptions::transfers times the groups, and the links have no other transfers.
//   a group    polls its link, calls step(link) of its side in each iteration, passes on_received() and on_sent() of
//              LinkEvents to the side, and restarts a link that was lost.
//   the owner  calls send(), receive() and poll()
//
// As with a link, send() waits for the peer's receive(). A part whose link is lost after its last page has arrived, and
// before the sender knows, is not requested again: the sender waits until cancel_send(), which reports `lost` then.
class DividedTransfers {
 public:
  DividedTransfers(const DivisionOptions& options, DivisionEvents& events);
  DividedTransfers(const DividedTransfers&) = delete;
  DividedTransfers& operator=(const DividedTransfers&) = delete;
  ~DividedTransfers();

  [[nodiscard]] GroupSide& side(std::size_t group) noexcept { return *sides_[group]; }

  // A range that a link refuses is reported as TransferResult::different.
  [[nodiscard]] std::expected<void, LinkError> send(TransferId id, const PageRange& from) noexcept;
  [[nodiscard]] std::expected<void, LinkError> receive(TransferId id, const PageRange& into) noexcept;
  void cancel_send(TransferId id) noexcept;
  void cancel_receive(TransferId id) noexcept;

  // Takes what the groups report. Returns how much that was.
  std::size_t poll() noexcept;

 private:
  struct Part;
  struct Transfer;

  [[nodiscard]] std::expected<void, LinkError> begin(TransferId id, const PageRange& range, bool outgoing) noexcept;
  [[nodiscard]] Transfer* find(TransferId id, bool outgoing) noexcept;
  void cancel(TransferId id, bool outgoing) noexcept;
  void start(Transfer& transfer, std::size_t part, std::size_t group) noexcept;
  void take(const GroupSide::Report& report, std::size_t group) noexcept;
  void part_was_lost(Transfer& transfer, std::size_t part) noexcept;
  void cancel_part(Transfer& transfer, std::size_t part) noexcept;
  void fail(Transfer& transfer, TransferResult result) noexcept;
  void finish(Transfer& transfer) noexcept;

  const DivisionOptions options_;
  DivisionEvents& events_;
  std::vector<std::unique_ptr<GroupSide>> sides_;
  std::vector<Transfer> transfers_;  // of both directions
};

}  // namespace nfx::fabric
