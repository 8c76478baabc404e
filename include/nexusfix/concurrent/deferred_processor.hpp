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
#include <span>
#include <thread>
#include <utility>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/concurrent/cycle_counter.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/concurrent/spsc_queue.hpp"
#include "nexusfix/concurrent/worker_thread.hpp"

namespace nfx {

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

template <DeferrableBuffer Buffer, std::size_t Capacity>
class DeferredProcessor {
 public:
  using Handler = std::function<void(const Buffer&)>;

  // Throws std::invalid_argument for a spill above 1 GiB, or too small for two of the longest submissions.
  explicit DeferredProcessor(Handler handler, DeferredOptions options = {})
      : handler_(std::move(handler)), options_(options) {
    if (options_.when_full == WhenFull::spill) {
      spill_ =
          std::make_unique<SpscQueue>(SpscOptions{.slot_count = (options_.spill_bytes + spill_slot - 1) / spill_slot,
                                                  .record_size = sizeof(std::uint64_t) + Buffer::capacity(),
                                                  .slot_size = spill_slot});
    }
  }
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
    ring_.hand_over_consumer();
    if (spill_) spill_->hand_over_consumer();
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
    if (Buffer* const slot = spilling_ ? nullptr : ring_.try_claim(); slot != nullptr) [[likely]] {
      if (!slot->set(bytes, stamp)) return refuse_too_long();
      ring_.publish();
      count(submitted_);
      signal_.notify();
      return true;
    }
    return submit_when_full(bytes, stamp);
  }

  // Handles at most `max` submissions and returns how many there were.
  std::size_t process(std::size_t max) noexcept {
    std::size_t done = 0;
    while (done < max && process_one()) ++done;
    return done;
  }

  // Any thread: approximate while other threads work. Spilled submissions count in slots of 64 bytes.
  [[nodiscard]] std::size_t pending() const noexcept { return ring_.size() + (spill_ ? spill_->size() : 0); }
  [[nodiscard]] DeferredCounters counters() const noexcept {
    const auto read = [](const std::atomic<std::uint64_t>& counter) { return counter.load(std::memory_order_relaxed); };
    return {.submitted = read(submitted_),
            .spilled = read(spilled_),
            .blocked = read(blocked_),
            .dropped = read(dropped_),
            .too_long = read(too_long_),
            .processed = read(processed_),
            .handler_threw = read(handler_threw_),
            .lost = read(lost_)};
  }

 private:
  static constexpr std::size_t spill_slot = 64;
  static constexpr std::size_t batch = 256;  // submissions per step, between two checks whether to stop

  // One thread writes each counter.
  static void count(std::atomic<std::uint64_t>& counter) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  [[gnu::cold, gnu::noinline]] bool refuse_too_long() noexcept {
    count(too_long_);
    return false;
  }

  [[gnu::cold, gnu::noinline]] bool submit_when_full(std::span<const char> bytes, std::uint64_t stamp) noexcept {
    if (bytes.size() > Buffer::capacity()) return refuse_too_long();
    switch (options_.when_full) {
      case WhenFull::drop: break;
      case WhenFull::block:
        if (!probe_.set(bytes, stamp)) return refuse_too_long();
        if (wait_and_submit(bytes, stamp)) return true;
        break;
      case WhenFull::spill:
        // What set() refuses is refused now, when submit() can return false, and not by the worker.
        if (!probe_.set(bytes, stamp)) return refuse_too_long();
        if (spill(bytes, stamp)) return true;
        break;
    }
    signal_.notify();
    count(dropped_);
    return false;
  }

  bool wait_and_submit(std::span<const char> bytes, std::uint64_t stamp) noexcept {
    count(blocked_);
    const auto until = std::chrono::steady_clock::now() + options_.block_limit;
    do {
      signal_.notify();
      std::this_thread::yield();
      if (Buffer* const slot = ring_.try_claim(); slot != nullptr && slot->set(bytes, stamp)) {
        ring_.publish();
        count(submitted_);
        signal_.notify();
        return true;
      }
    } while (std::chrono::steady_clock::now() < until);
    return false;
  }

  // Once the spill is in use, everything goes there until the worker has emptied it: this preserves the order.
  bool spill(std::span<const char> bytes, std::uint64_t stamp) noexcept {
    if (spilling_ && spill_->size() == 0) {
      spilling_ = false;
      if (Buffer* const slot = ring_.try_claim(); slot != nullptr && slot->set(bytes, stamp)) {
        ring_.publish();
        count(submitted_);
        signal_.notify();
        return true;
      }
    }
    NFX_ASSERT(bytes.size() <= Buffer::capacity());
    const std::span<const char> head(reinterpret_cast<const char*>(&stamp), sizeof stamp);
    if (spill_->try_push(head, bytes) != PushResult::pushed) return false;
    spilling_ = true;
    count(submitted_);
    count(spilled_);
    signal_.notify();
    return true;
  }

  bool process_one() noexcept {
    if (const Buffer* const buffer = ring_.front()) {
      handle(*buffer);
      ring_.pop();
      return true;
    }
    if (!spill_) return false;
    const auto record = spill_->front();
    if (!record) return false;
    // The ring may have been filled between the two checks; all of it was published before what is in the spill.
    if (ring_.front() != nullptr) return process_one();
    std::uint64_t stamp = 0;
    NFX_ASSERT(record->size() >= sizeof stamp);
    std::memcpy(&stamp, record->data(), sizeof stamp);
    if (spilled_buffer_.set(record->subspan(sizeof stamp), stamp)) [[likely]] {
      handle(spilled_buffer_);
    } else {
      count(lost_);
    }
    spill_->pop();
    return true;
  }

  void handle(const Buffer& buffer) noexcept {
    try {
      handler_(buffer);
    } catch (...) {
      count(handler_threw_);
    }
    count(processed_);
  }

  const Handler handler_;
  const DeferredOptions options_;
  SpscRing<Buffer, Capacity> ring_;
  std::unique_ptr<SpscQueue> spill_;
  WakeSignal signal_;

  alignas(cache_line) bool spilling_ = false;  // used by the submitting thread
  std::atomic<std::uint64_t> submitted_{0};
  std::atomic<std::uint64_t> spilled_{0};
  std::atomic<std::uint64_t> blocked_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> too_long_{0};
  Buffer probe_;
  alignas(cache_line) std::atomic<std::uint64_t> processed_{0};  // written by the worker
  std::atomic<std::uint64_t> handler_threw_{0};
  std::atomic<std::uint64_t> lost_{0};
  Buffer spilled_buffer_;

  std::unique_ptr<WorkerThread> worker_;  // last: its thread uses all of the above
};

}  // namespace nfx
