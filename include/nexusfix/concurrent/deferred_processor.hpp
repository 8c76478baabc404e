// Takes bytes off a hot path: submit() copies them into a ring with a time stamp and returns; a worker parses, formats,
// persists or notifies through a handler.
// Thread: submit() from one thread; process() from one other, which start() provides; the counters from any.
// Cost: submit() is one copy and two stores; no allocation, lock or throw, and no system call except to wake a
// worker that sleeps. Order: the handler gets every submission once, in order.
// When full: see WhenFull; what is dropped is counted, and so is what the buffer's set() refuses. Errors: an exception
// from the handler is counted, and the next submission is processed. Lifetime: the handler's buffer is valid until it
// returns.
//
//   submit ─► ring of Capacity buffers ─► process ─► handler
//        └──► spill (bounded bytes) ──────┘            after the ring, only with WhenFull::spill
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/concurrent/cycle_counter.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/concurrent/spsc_queue.hpp"
#include "nexusfix/concurrent/worker_thread.hpp"

namespace nfx {

namespace detail {

// For counters that one thread writes and any thread reads.
inline void add(std::atomic<std::uint64_t>& counter, std::uint64_t more = 1) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace detail

struct DeferredCounters {
  std::uint64_t submitted = 0;  // accepted for the handler
  std::uint64_t spilled = 0;    // of these, through the spill
  std::uint64_t blocked = 0;    // times that submit() waited for space
  std::uint64_t dropped = 0;    // no space
  std::uint64_t too_long = 0;   // set() refused the bytes, mostly because they are too many: dropped as well
  std::uint64_t processed = 0;  // the handler returned or threw
  std::uint64_t handler_threw = 0;
  std::uint64_t lost = 0;  // submitted through the spill, and then refused by set() after all
};

// A queue between one producer and one consumer thread that does what DeferredOptions say when its ring is full. Ring
// is an SpscRing or an SpscQueue. A record is a function object of the producer's: record(queue) puts it into the ring
// or into the spill, an SpscQueue, and returns a PushResult. Thread: try_push, push_when_full and more_than_half_full
// from the producer, front and pop from the consumer, the counters from any. Cost: try_push is what record() costs, and
// a store. Lifetime: what front() returns is valid until pop().
template <class Ring>
class DeferredQueue {
 public:
  // The oldest record: in one of the two, or in none.
  struct Front {
    decltype(std::declval<Ring&>().front()) in_ring{};
    std::optional<std::span<const char>> in_spill{};
  };

  // Options with slots for `bytes` of records of different lengths; the longest has record_size bytes.
  [[nodiscard]] static SpscOptions slots_for(std::size_t bytes, std::size_t record_size) noexcept {
    constexpr std::size_t slot_size = 64;
    return {.slot_count = (bytes + slot_size - 1) / slot_size, .record_size = record_size, .slot_size = slot_size};
  }

  // `worker` is woken while the producer waits for space; null: it needs no wake-up. Throws std::invalid_argument for a
  // spill above 1 GiB, or too small for two of the longest records.
  template <class... RingArguments>
  DeferredQueue(const DeferredOptions& options, std::size_t record_size, WakeSignal* worker,
                const RingArguments&... of_ring)
      : options_(options), worker_(worker), ring_(of_ring...) {
    if (options.when_full == WhenFull::spill)
      spill_ = std::make_unique<SpscQueue>(slots_for(options.spill_bytes, record_size));
  }

  // Producer: what record() returns. Full: call push_when_full() with the same record.
  template <class Record>
  [[nodiscard]] PushResult try_push(const Record& record) noexcept {
    const PushResult result = spilling_ ? PushResult::full : record(ring_);
    if (result == PushResult::pushed) [[likely]]
      detail::add(submitted_);
    return result;
  }
  // Producer: pushed, or full, which means dropped and counted.
  template <class Record>
  [[gnu::cold, gnu::noinline]] PushResult push_when_full(const Record& record) noexcept {
    bool pushed = false;
    switch (options_.when_full) {
      case WhenFull::drop: break;
      case WhenFull::block: pushed = wait_and_push(record); break;
      case WhenFull::spill: pushed = spill(record); break;
    }
    if (pushed) {
      detail::add(submitted_);
      return PushResult::pushed;
    }
    // A reader that sees this count also sees all records before it.
    dropped_.store(dropped(std::memory_order_relaxed) + 1, std::memory_order_release);
    return PushResult::full;
  }
  // Producer: whether the consumer should start soon.
  [[nodiscard]] bool more_than_half_full() noexcept { return spilling_ || ring_.more_than_half_full(); }

  // Consumer.
  [[nodiscard]] Front front() noexcept {
    front_spilled_ = false;
    Front front{.in_ring = ring_.front()};
    if (front.in_ring || !spill_) [[likely]]
      return front;
    front.in_spill = spill_->front();
    if (!front.in_spill) return front;
    // The ring may have been filled between the two checks. Its records are older than those of the spill.
    front.in_ring = ring_.front();
    if (front.in_ring) front.in_spill.reset();
    front_spilled_ = front.in_spill.has_value();
    return front;
  }
  // Consumer: removes the record that front() returned.
  void pop() noexcept { front_spilled_ ? spill_->pop() : ring_.pop(); }

  // Any thread: filled slots, out of date when it returns.
  [[nodiscard]] std::size_t size() const noexcept { return ring_.size() + (spill_ ? spill_->size() : 0); }
  [[nodiscard]] std::uint64_t dropped(std::memory_order order = std::memory_order_acquire) const noexcept {
    return dropped_.load(order);
  }
  // The first four.
  [[nodiscard]] DeferredCounters counters() const noexcept {
    DeferredCounters counters;
    counters.submitted = submitted_.load(std::memory_order_relaxed);
    counters.spilled = spilled_.load(std::memory_order_relaxed);
    counters.blocked = blocked_.load(std::memory_order_relaxed);
    counters.dropped = dropped();
    return counters;
  }

  // See SpscIndexes.
  void hand_over_producer() noexcept {
    ring_.hand_over_producer();
    if (spill_) spill_->hand_over_producer();
  }
  void hand_over_consumer() noexcept {
    ring_.hand_over_consumer();
    if (spill_) spill_->hand_over_consumer();
  }

 private:
  template <class Record>
  bool wait_and_push(const Record& record) noexcept {
    detail::add(blocked_);
    const auto until = std::chrono::steady_clock::now() + options_.block_limit;
    do {
      if (worker_ != nullptr) worker_->notify();
      std::this_thread::yield();
      if (record(ring_) == PushResult::pushed) return true;
    } while (std::chrono::steady_clock::now() < until);
    return false;
  }

  // Once the spill is in use, everything goes there until the consumer has emptied it: this preserves the order.
  template <class Record>
  bool spill(const Record& record) noexcept {
    NFX_ASSERT(spill_ != nullptr);
    if (spilling_ && spill_->size() == 0) {
      spilling_ = false;
      if (record(ring_) == PushResult::pushed) return true;
    }
    if (record(*spill_) != PushResult::pushed) return false;
    spilling_ = true;
    detail::add(spilled_);
    return true;
  }

  const DeferredOptions options_;
  WakeSignal* const worker_;
  Ring ring_;
  std::unique_ptr<SpscQueue> spill_;

  alignas(cache_line) std::atomic<std::uint64_t> submitted_{0};  // written by the producer
  std::atomic<std::uint64_t> spilled_{0};
  std::atomic<std::uint64_t> blocked_{0};
  std::atomic<std::uint64_t> dropped_{0};
  bool spilling_ = false;                           // the producer's: all records go to the spill until that is empty
  alignas(cache_line) bool front_spilled_ = false;  // the consumer's: front() found its record in the spill
};

// Stores one submission of a DeferredProcessor: a copy of the bytes, and a stamp. set() returns false when there are
// too many bytes, and for the same bytes it returns the same every time.
template <class Buffer>
concept DeferrableBuffer =
    std::default_initializable<Buffer> &&
    requires(Buffer& buffer, const Buffer& filled, std::span<const char> bytes, std::uint64_t stamp) {
      { buffer.set(bytes, stamp) } noexcept -> std::same_as<bool>;
      { filled.view() } noexcept -> std::convertible_to<std::span<const char>>;
      { filled.stamp() } noexcept -> std::convertible_to<std::uint64_t>;
      { Buffer::capacity() } noexcept -> std::convertible_to<std::size_t>;
    };

template <std::size_t Size>
class DeferredBuffer {
 public:
  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return Size; }
  bool set(std::span<const char> bytes, std::uint64_t stamp) noexcept {
    if (bytes.size() > Size) return false;
    stamp_ = stamp;
    size_ = bytes.size();
    if (!bytes.empty()) std::memcpy(bytes_.data(), bytes.data(), bytes.size());
    return true;
  }
  [[nodiscard]] std::span<const char> view() const noexcept { return {bytes_.data(), size_}; }
  [[nodiscard]] std::uint64_t stamp() const noexcept { return stamp_; }

 private:
  std::uint64_t stamp_ = 0;
  std::size_t size_ = 0;
  std::array<char, Size> bytes_{};
};
static_assert(DeferrableBuffer<DeferredBuffer<240>>);
static_assert(sizeof(DeferredBuffer<240>) == 256);

template <DeferrableBuffer Buffer, std::size_t Capacity>
class DeferredProcessor {
 public:
  using Handler = std::function<void(const Buffer&)>;

  // Throws std::invalid_argument for a spill above 1 GiB, or too small for two of the longest submissions.
  explicit DeferredProcessor(Handler handler, DeferredOptions options = {})
      : handler_(std::move(handler)), queue_(options, sizeof(std::uint64_t) + Buffer::capacity(), &signal_) {}
  // Handles all submissions first.
  ~DeferredProcessor() {
    stop();
    while (process(Capacity) != 0) {
    }
    NFX_ASSERT(pending() == 0);
  }
  DeferredProcessor(const DeferredProcessor&) = delete;
  DeferredProcessor& operator=(const DeferredProcessor&) = delete;

  // Starts the worker; without it the program calls process(). Throws what WorkerThread's constructor throws.
  void start(WorkerOptions options = {}) {
    if (worker_) return;
    queue_.hand_over_consumer();
    worker_ = std::make_unique<WorkerThread>(
        signal_,
        WorkerThread::Work{.step = [this] { return process(batch); }, .has_work = [this] { return pending() != 0; }},
        std::move(options));
  }
  // Ends the worker once all submissions are handled. Called by the submitting thread, or after it has ended.
  void stop() noexcept { worker_.reset(); }

  // Copies the bytes, with the processor's counter as the time stamp. False: dropped and counted.
  bool submit(std::span<const char> bytes) noexcept { return submit(bytes, cycle_count()); }
  // The same with the caller's own time stamp, in any unit.
  bool submit(std::span<const char> bytes, std::uint64_t stamp) noexcept {
    const PushResult result = queue_.try_push(Submission{bytes, stamp});
    if (result != PushResult::pushed) [[unlikely]]
      return submit_otherwise(result, bytes, stamp);
    signal_.notify();
    return true;
  }

  // Handles at most `max` submissions and returns how many there were.
  std::size_t process(std::size_t max) noexcept {
    std::size_t done = 0;
    while (done < max && process_one()) ++done;
    return done;
  }

  // Any thread: approximate while other threads work. Spilled submissions count in slots of 64 bytes.
  [[nodiscard]] std::size_t pending() const noexcept { return queue_.size(); }
  [[nodiscard]] DeferredCounters counters() const noexcept {
    DeferredCounters counters = queue_.counters();
    counters.too_long = too_long_.load(std::memory_order_relaxed);
    counters.processed = processed_.load(std::memory_order_relaxed);
    counters.handler_threw = handler_threw_.load(std::memory_order_relaxed);
    counters.lost = lost_.load(std::memory_order_relaxed);
    return counters;
  }

 private:
  using Ring = SpscRing<Buffer, Capacity>;
  static constexpr std::size_t batch = 256;  // submissions per step, between two checks whether to stop

  struct Submission {
    std::span<const char> bytes;
    std::uint64_t stamp;
    PushResult operator()(Ring& ring) const noexcept {
      Buffer* const slot = ring.try_claim();
      if (slot == nullptr) return PushResult::full;
      if (!slot->set(bytes, stamp)) return PushResult::too_long;
      ring.publish();
      return PushResult::pushed;
    }
    PushResult operator()(SpscQueue& spill) const noexcept {
      return spill.try_push(std::span<const char>(reinterpret_cast<const char*>(&stamp), sizeof stamp), bytes);
    }
  };

  [[gnu::cold, gnu::noinline]] bool submit_otherwise(PushResult result, std::span<const char> bytes,
                                                     std::uint64_t stamp) noexcept {
    if (result == PushResult::full) {
      // What set() refuses is refused now, when submit() can return false, and not by the worker.
      result = probe_.set(bytes, stamp) ? queue_.push_when_full(Submission{bytes, stamp}) : PushResult::too_long;
    }
    if (result == PushResult::too_long) detail::add(too_long_);
    signal_.notify();
    return result == PushResult::pushed;
  }

  bool process_one() noexcept {
    const auto front = queue_.front();
    if (front.in_ring != nullptr) {
      handle(*front.in_ring);
    } else if (front.in_spill) {
      std::uint64_t stamp = 0;
      NFX_ASSERT(front.in_spill->size() >= sizeof stamp);
      std::memcpy(&stamp, front.in_spill->data(), sizeof stamp);
      spilled_buffer_.set(front.in_spill->subspan(sizeof stamp), stamp) ? handle(spilled_buffer_) : detail::add(lost_);
    } else {
      return false;
    }
    queue_.pop();
    return true;
  }

  void handle(const Buffer& buffer) noexcept {
    try {
      handler_(buffer);
    } catch (...) {
      detail::add(handler_threw_);
    }
    detail::add(processed_);
  }

  const Handler handler_;
  WakeSignal signal_;
  DeferredQueue<Ring> queue_;

  alignas(cache_line) std::atomic<std::uint64_t> too_long_{0};  // written by the submitting thread
  Buffer probe_;
  alignas(cache_line) std::atomic<std::uint64_t> processed_{0};  // written by the worker
  std::atomic<std::uint64_t> handler_threw_{0};
  std::atomic<std::uint64_t> lost_{0};
  Buffer spilled_buffer_;

  std::unique_ptr<WorkerThread> worker_;  // last: its thread uses all of the above
};

}  // namespace nfx
