// Bounded queues between one producer thread and one consumer thread: SpscQueue of byte records, SpscRing of values of
// one type. Neither side ever waits.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/language.hpp"
#include "nexusfix/base/memory.hpp"

namespace nfx {

// Which thread owns something that only one thread at a time may use, such as the producer's side of a ring: for
// assertions. The first thread that calls is_mine() is the owner. Ownership passes on with hand_over(), or once the
// owner has ended.
// Thread: is_mine() from any; hand_over() from the owner, or while no thread uses what is owned.
// Cost: none in release builds, where nothing calls is_mine(); otherwise one load of a line that the owner writes. The
// object has the same size in every build, so that programs and libraries of both kinds can be linked.
class ThreadOwner {
 public:
  ThreadOwner() noexcept {
#ifndef NDEBUG
    static_cast<void>(this_thread());  // the first call of a thread is a system call, which belongs to construction
#endif
  }

  // Whether the calling thread is the owner, which it becomes when there is none that still runs.
  [[nodiscard]] bool is_mine() noexcept { return thread_.load(std::memory_order_relaxed) == this_thread() || take(); }
  // The next thread that calls is_mine() becomes the owner. The caller orders the memory between the two threads.
  void hand_over() noexcept { thread_.store(none, std::memory_order_relaxed); }

 private:
  static constexpr std::int32_t none = 0;

  [[nodiscard]] static std::int32_t this_thread() noexcept;  // its number in the kernel
  [[nodiscard]] bool take() noexcept;

  std::atomic<std::int32_t> thread_{none};
};
static_assert(sizeof(ThreadOwner) == 4);

// The positions of the producer and the consumer of a ring: the base of SpscQueue and SpscRing.
// Thread: has_room() and publish() are for the producer, readable() and release() for the consumer; none ever waits.
// Cost: a few cycles. Each side reads the other's position only when its last copy of it means full or empty. So the
// other side's cache line is transferred once for many records. Each side reads its own position from a line that the
// other never touches; the published line is only stored to, which does not stall.
// Positions count units from 0 and only grow; a ring of `capacity` units, a power of two, uses them modulo capacity.
// 64 bits do not overflow in centuries.
class SpscIndexes {
 public:
  // Producer: whether `units` more fit, in a ring of `capacity`.
  [[nodiscard]] bool has_room(std::size_t units, std::size_t capacity) noexcept {
    NFX_ASSERT(producer_.is_mine());
    NFX_ASSERT(units - 1 < capacity && (capacity & (capacity - 1)) == 0);
    NFX_ASSERT(seems_filled() <= capacity);
    const std::size_t tail = written();
    if (capacity - (tail - head_seen_) >= units) [[likely]]
      return true;
    head_seen_ = head_.load(std::memory_order_acquire);  // the consumer no longer reads what it released
    return capacity - (tail - head_seen_) >= units;
  }
  // Producer: the next position to write.
  [[nodiscard]] std::size_t written() const noexcept { return written_; }
  void publish(std::size_t units) noexcept {
    NFX_ASSERT(producer_.is_mine() && units != 0);
    written_ += units;
    tail_.store(written_, std::memory_order_release);
  }
  // Producer: publish() for a ring whose slots have a ready flag. readable() does not see it; filled_by_advance() does,
  // and counts a unit before the consumer can take it.
  void advance(std::size_t units) noexcept {
    NFX_ASSERT(producer_.is_mine() && units != 0);
    written_ += units;
    advanced_.store(written_, std::memory_order_relaxed);
  }
  // Producer: an upper bound of the filled units; exact when the ring last seemed full.
  [[nodiscard]] std::size_t seems_filled() const noexcept { return written() - head_seen_; }
  void look_again() noexcept {
    NFX_ASSERT(producer_.is_mine());
    head_seen_ = head_.load(std::memory_order_acquire);
    NFX_ASSERT(head_seen_ <= written_);
  }

  // Consumer: whether the position read() is filled.
  [[nodiscard]] bool readable() noexcept {
    NFX_ASSERT(consumer_.is_mine());
    const std::size_t head = read();
    NFX_ASSERT(head <= tail_seen_);
    if (head != tail_seen_) return true;
    tail_seen_ = tail_.load(std::memory_order_acquire);  // the producer's bytes are visible with it
    NFX_ASSERT(head <= tail_seen_);
    return head != tail_seen_;
  }
  [[nodiscard]] std::size_t read() const noexcept { return read_; }
  void release(std::size_t units) noexcept {
    NFX_ASSERT(consumer_.is_mine() && units != 0);
    read_ += units;
    // Only what the producer has published can be released.
    NFX_ASSERT(read_ <= tail_.load(std::memory_order_relaxed) || read_ <= advanced_.load(std::memory_order_relaxed));
    head_.store(read_, std::memory_order_release);
  }

  // For assertions: whether the calling thread is the consumer.
  [[nodiscard]] bool is_consumer() noexcept { return consumer_.is_mine(); }
  // The next thread that produces, or consumes, is the producer or consumer: for programs that move a role from one
  // running thread to another and order their memory themselves. Without effect where assertions are off.
  void hand_over_producer() noexcept {
#ifndef NDEBUG
    producer_.hand_over();
#endif
  }
  void hand_over_consumer() noexcept {
#ifndef NDEBUG
    consumer_.hand_over();
#endif
  }

  // Any thread: out of date when it returns; exact while neither side works.
  [[nodiscard]] std::size_t filled() const noexcept {
    const std::size_t head = head_.load(std::memory_order_acquire);  // first, so that the tail is not smaller
    return tail_.load(std::memory_order_acquire) - head;
  }

  // The same for a ring whose producer calls advance() instead of publish().
  [[nodiscard]] std::size_t filled_by_advance() const noexcept {
    // First: what is released was written before, so the later load sees at least that.
    const std::size_t head = head_.load(std::memory_order_acquire);
    return advanced_.load(std::memory_order_relaxed) - head;
  }

  // Counted by the producer, read by any thread.
  void count_full() noexcept { full_.store(full_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t full_count() const noexcept { return full_.load(std::memory_order_relaxed); }

 private:
  alignas(cache_line) std::atomic<std::size_t> tail_{0};  // producer writes, consumer reads
  alignas(cache_line) std::size_t written_ = 0;           // producer's own copy of tail
  std::size_t head_seen_ = 0;                             // producer's last copy of head
  std::atomic<std::uint64_t> full_{0};
  std::atomic<std::size_t> advanced_{0};  // written_, where tail_ is not used
  ThreadOwner producer_;
  alignas(cache_line) std::atomic<std::size_t> head_{0};  // consumer writes, producer reads
  alignas(cache_line) std::size_t read_ = 0;              // consumer's own copy of head
  std::size_t tail_seen_ = 0;                             // consumer's last copy of tail
  ThreadOwner consumer_;
};
static_assert(sizeof(SpscIndexes) == 4 * cache_line);

// A bounded queue of byte records between one producer thread and one consumer thread.
// Thread: the producer calls try_push, the consumer front, pop and try_pop; none ever waits. Cost: one copy in, none
// out; no allocation after construction. Lifetime: a record from front() or try_pop is valid until it is popped.
// When full: try_push returns full and counts it; nothing is overwritten.
//
//   slots    | length | bytes ...... | length | bytes ...... |   `slot_count` of them
//
// By default each slot holds one record of up to `record_size` bytes. With `slot_size`, slots have that size and a
// record uses as many adjacent slots as it needs, so that many short records or a few long ones fit. A record that does
// not fit before the end begins at the start again:
//
//   slots    | ... bytes | free ...... | length | bytes | bytes | wrap |

struct SpscOptions {
  std::size_t slot_count = 1024;   // rounded up to a power of two
  std::size_t record_size = 4096;  // the longest record, in bytes
  std::size_t slot_size = 0;       // 0: one record per slot; otherwise bytes per slot, a power of two of at least 16
};

enum class PushResult : std::uint8_t { pushed, full, too_long };

class SpscQueue {
 public:
  // Throws std::invalid_argument for a size of 0, for more than 1 GiB in total, and for slots that cannot hold two of
  // the longest records.
  explicit SpscQueue(SpscOptions options = {})
      : record_size_(options.record_size), shift_(options.slot_size == 0 ? 0U : log2_of(options.slot_size)) {
    if (options.slot_count == 0 || options.record_size == 0 || options.slot_count > max_total ||
        options.record_size > max_total || options.slot_size > max_total) {
      refuse();
    }
    const std::size_t whole = sizeof(Header) + options.record_size;
    // Records of up to a cache line are adjacent, so that few lines are transferred; longer ones are aligned to lines.
    const std::size_t step = whole <= cache_line ? sizeof(Header) : alignment;
    stride_ = shift_ == 0 ? (whole + step - 1) / step * step : options.slot_size;
    const std::size_t count = std::bit_ceil(options.slot_count);
    if (count > max_total / stride_) refuse();
    if (options.slot_size != 0 && (options.slot_size < 2 * sizeof(Header) || !std::has_single_bit(options.slot_size) ||
                                   count < 2 * slots_for(options.record_size))) {
      throw std::invalid_argument(
          "queue options: slot_size is a power of two from 16 on, and slot_count of them hold two of the longest "
          "records");
    }
    mask_ = count - 1;
    slots_ = std::make_unique_for_overwrite<Block[]>((count * stride_ + sizeof(Block) - 1) / sizeof(Block));
  }
  SpscQueue(const SpscQueue&) = delete;
  SpscQueue& operator=(const SpscQueue&) = delete;

  // Producer: one record, the concatenation of the parts.
  template <class... Parts>
    requires(std::is_convertible_v<const Parts&, std::span<const char>> && ...)
  [[nodiscard]] PushResult try_push(const Parts&... parts) noexcept {
    const std::size_t length = (std::span<const char>(parts).size() + ... + std::size_t{0});
    if (length > record_size_) [[unlikely]]
      return PushResult::too_long;
    if (shift_ != 0) return push_spanning(length, parts...);
    if (!indexes_.has_room(1, mask_ + 1)) [[unlikely]] {
      indexes_.count_full();
      return PushResult::full;
    }
    NFX_ASSERT(indexes_.seems_filled() < slot_count());
    NFX_ASSERT(lies_inside(slot_at(indexes_.written()), length));
    write(slot_at(indexes_.written()), length, parts...);
    indexes_.publish(1);
    return PushResult::pushed;
  }

  // Producer: a record that is one value.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  [[nodiscard]] PushResult try_push_value(const T& record) noexcept {
    return try_push(std::span<const char>(reinterpret_cast<const char*>(&record), sizeof record));
  }

  // Producer: whether more than half of the slots are filled; reads the consumer's position only when it seems so.
  [[nodiscard]] bool more_than_half_full() noexcept {
    if (indexes_.seems_filled() <= (mask_ + 1) / 2) return false;
    indexes_.look_again();
    return indexes_.seems_filled() > (mask_ + 1) / 2;
  }

  // Consumer: the oldest record, if there is one; it stays until pop().
  [[nodiscard]] std::optional<std::span<const char>> front() noexcept {
    if (!indexes_.readable()) return std::nullopt;
    const char* slot = slot_at(indexes_.read());
    std::size_t length = length_at(slot);
    if (length == wrap_mark) [[unlikely]] {  // the record at the start was published with it
      indexes_.release(mask_ + 1 - (indexes_.read() & mask_));
      slot = slot_at(0);
      length = length_at(slot);
    }
    NFX_ASSERT(length <= record_size_ && lies_inside(slot, length));
    return std::span<const char>(slot + sizeof(Header), length);
  }
  // Consumer: removes the record that front() returned.
  void pop() noexcept {
    NFX_ASSERT(length_at(slot_at(indexes_.read())) <= record_size_);
    indexes_.release(shift_ == 0 ? 1 : slots_for(length_at(slot_at(indexes_.read()))));
  }

  // Consumer: calls visitor(std::span<const char>) with the oldest record, if there is one, and then removes it.
  template <class Visitor>
  [[nodiscard]] bool try_pop(Visitor&& visitor) {
    const auto record = front();
    if (!record) return false;
    std::forward<Visitor>(visitor)(*record);
    pop();
    return true;
  }

  // Consumer: a record that was pushed as a value of the same type.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  [[nodiscard]] bool try_pop_value(T& record) noexcept {
    return try_pop([&](std::span<const char> bytes) { std::memcpy(&record, bytes.data(), sizeof record); });
  }

  [[nodiscard]] std::size_t slot_count() const noexcept { return mask_ + 1; }
  [[nodiscard]] std::size_t record_size() const noexcept { return record_size_; }

  // Any thread: how often try_push found the queue full.
  [[nodiscard]] std::uint64_t full_count() const noexcept { return indexes_.full_count(); }

  // Any thread: filled slots; out of date when it returns, exact while neither side works.
  [[nodiscard]] std::size_t size() const noexcept { return indexes_.filled(); }

  // See SpscIndexes.
  void hand_over_producer() noexcept { indexes_.hand_over_producer(); }
  void hand_over_consumer() noexcept { indexes_.hand_over_consumer(); }

 private:
  struct Header {
    std::size_t length;
  };
  static constexpr std::size_t wrap_mark = SIZE_MAX;
  static constexpr std::size_t max_total = std::size_t{1} << 30;
  static constexpr std::size_t alignment = 64;
  struct alignas(alignment) Block {
    char bytes[alignment];
  };

  [[noreturn, gnu::cold]] static void refuse() {
    throw std::invalid_argument("queue options: slot_count and record_size are at least 1 and at most 1 GiB together");
  }
  [[nodiscard]] static unsigned log2_of(std::size_t size) noexcept {
    return static_cast<unsigned>(std::bit_width(size) - 1);
  }
  [[nodiscard]] std::size_t slots_for(std::size_t length) const noexcept {
    return (sizeof(Header) + length + stride_ - 1) >> shift_;
  }
  [[nodiscard]] char* slot_at(std::size_t index) const noexcept {
    return reinterpret_cast<char*>(slots_.get()) + (index & mask_) * stride_;
  }
  // Whether a record of this length, with its header, ends before the slots do.
  [[nodiscard]] bool lies_inside(const char* slot, std::size_t length) const noexcept {
    const auto before = static_cast<std::size_t>(slot - reinterpret_cast<const char*>(slots_.get()));
    return before + sizeof(Header) + length <= slot_count() * stride_;
  }
  [[nodiscard]] static std::size_t length_at(const char* slot) noexcept {
    Header header;
    std::memcpy(&header, slot, sizeof header);
    return header.length;
  }
  static char* copy_to(char* at, std::span<const char> part) noexcept {
    if (!part.empty()) std::memcpy(at, part.data(), part.size());
    return at + part.size();
  }
  template <class... Parts>
  static void write(char* slot, std::size_t length, const Parts&... parts) noexcept {
    const Header header{length};
    std::memcpy(slot, &header, sizeof header);
    [[maybe_unused]] char* at = slot + sizeof header;
    (..., (at = copy_to(at, parts)));
  }

  template <class... Parts>
  [[nodiscard]] PushResult push_spanning(std::size_t length, const Parts&... parts) noexcept {
    const std::size_t needed = slots_for(length);
    const std::size_t before_end = mask_ + 1 - (indexes_.written() & mask_);
    const std::size_t skipped = before_end < needed ? before_end : 0;
    NFX_ASSERT(needed <= slot_count() / 2);  // so that a record fits together with the slots that it skips
    if (!indexes_.has_room(skipped + needed, mask_ + 1)) [[unlikely]] {
      indexes_.count_full();
      return PushResult::full;
    }
    if (skipped != 0) {
      const Header wrap{wrap_mark};
      std::memcpy(slot_at(indexes_.written()), &wrap, sizeof wrap);
    }
    NFX_ASSERT(indexes_.seems_filled() + skipped + needed <= slot_count());
    NFX_ASSERT(lies_inside(slot_at(indexes_.written() + skipped), length));
    write(slot_at(indexes_.written() + skipped), length, parts...);
    indexes_.publish(skipped + needed);
    return PushResult::pushed;
  }

  const std::size_t record_size_;
  const unsigned shift_;  // log2 of a slot's bytes when records span slots, 0 when each has its own
  std::size_t stride_ = 0;
  std::size_t mask_ = 0;
  std::unique_ptr<Block[]> slots_;
  SpscIndexes indexes_;
};

// A bounded ring of values of one type between one producer thread and one consumer thread: SpscQueue without lengths.
// For values larger than one word, each slot has a ready flag: the flag is transferred together with the value, so that
// a consumer that keeps up takes one cache miss, not two. Smaller values share cache lines, which polling each slot
// would take away from the producer every time; for them the producer publishes its position.
// Thread: the producer calls try_claim, publish and try_push, the consumer front, pop and try_pop; none ever waits.
// Cost: writing the value into the slot; no allocation after construction.
// Lifetime: slots are constructed with the ring and reused, so a value stays unchanged until it is written again.
// When full: try_claim returns null, try_push returns false, and both count it; nothing is overwritten.
template <class T, std::size_t Capacity>
class SpscRing {
  static_assert(std::has_single_bit(Capacity), "the capacity of a ring is a power of two");

 public:
  // The slots are initialised here, so that the first values cause no page faults.
  SpscRing() : slots_(std::make_unique<Slot[]>(Capacity)) {}
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  // Producer: the slot to fill before publish(), or null when the ring is full. Claiming again gives the same slot.
  [[nodiscard]] T* try_claim() noexcept {
    if (!indexes_.has_room(1, Capacity)) {
      indexes_.count_full();
      return nullptr;
    }
    return &slots_[indexes_.written() & mask].value;
  }
  void publish() noexcept {
    NFX_ASSERT(indexes_.seems_filled() < Capacity);
    if constexpr (slots_have_flags) {
      const std::size_t at = indexes_.written();
      // The slot holds the value of the round before.
      NFX_ASSERT(slots_[at & mask].filled.load(std::memory_order_relaxed) == (at < Capacity ? 0 : at + 1 - Capacity));
      indexes_.advance(1);  // first, so that a thread that sees a value taken also sees it counted, see size()
      slots_[at & mask].filled.store(at + 1, std::memory_order_release);
    } else {
      indexes_.publish(1);
    }
  }
  [[nodiscard]] bool try_push(const T& value) noexcept(std::is_nothrow_copy_assignable_v<T>) {
    T* const slot = try_claim();
    if (slot == nullptr) return false;
    *slot = value;
    publish();
    return true;
  }

  // Consumer: the oldest value, or null; pop() frees its slot.
  [[nodiscard]] T* front() noexcept {
    NFX_ASSERT(indexes_.is_consumer());
    Slot& slot = slots_[indexes_.read() & mask];
    if constexpr (slots_have_flags) {
      if (slot.filled.load(std::memory_order_acquire) != indexes_.read() + 1) return nullptr;
      // The other lines are prefetched while the first is processed.
      for (std::size_t at = line; at < std::min(sizeof(Slot), fetched_ahead); at += line)
        __builtin_prefetch(reinterpret_cast<const char*>(&slot) + at);
      return &slot.value;
    } else {
      return indexes_.readable() ? &slot.value : nullptr;
    }
  }
  void pop() noexcept {
    if constexpr (slots_have_flags) {
      NFX_ASSERT(slots_[indexes_.read() & mask].filled.load(std::memory_order_relaxed) == indexes_.read() + 1);
    }
    indexes_.release(1);
  }
  [[nodiscard]] bool try_pop(T& value) noexcept(std::is_nothrow_copy_assignable_v<T>) {
    const T* const slot = front();
    if (slot == nullptr) return false;
    value = *slot;
    pop();
    return true;
  }

  [[nodiscard]] static constexpr std::size_t slot_count() noexcept { return Capacity; }
  [[nodiscard]] std::uint64_t full_count() const noexcept { return indexes_.full_count(); }
  [[nodiscard]] std::size_t size() const noexcept {
    return slots_have_flags ? indexes_.filled_by_advance() : indexes_.filled();
  }

  // See SpscIndexes.
  void hand_over_producer() noexcept { indexes_.hand_over_producer(); }
  void hand_over_consumer() noexcept { indexes_.hand_over_consumer(); }

 private:
  static constexpr bool slots_have_flags = sizeof(T) > sizeof(std::size_t);
  static constexpr std::size_t mask = Capacity - 1;
  static constexpr std::size_t line = 64;  // bytes that are transferred between cores together
  static constexpr std::size_t fetched_ahead = 8 * line;

  // A slot of a line or more shares no line with its neighbours: one side writes it while the other reads the one
  // before.
  static constexpr std::size_t bytes_of_slot = sizeof(T) + sizeof(std::size_t);
  struct alignas(std::max(alignof(T), std::min(line, std::bit_ceil(bytes_of_slot)))) FlaggedSlot {
    std::atomic<std::size_t> filled{0};  // position after the value's, counted from 0; marks the slot as filled
    T value;
  };
  struct PlainSlot {
    T value;
  };
  using Slot = std::conditional_t<slots_have_flags, FlaggedSlot, PlainSlot>;

  const std::unique_ptr<Slot[]> slots_;
  SpscIndexes indexes_;
};

}  // namespace nfx
