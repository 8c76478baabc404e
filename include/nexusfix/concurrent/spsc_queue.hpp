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
#pragma once

#include <algorithm>
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
#include "nexusfix/base/cache_line.hpp"
#include "nexusfix/concurrent/spsc_indexes.hpp"

namespace nfx {

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

}  // namespace nfx
