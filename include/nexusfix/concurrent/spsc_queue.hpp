// A bounded queue of byte records between one producer thread and one consumer thread.
// Thread: one calls try_push, one calls try_pop; neither ever waits. Cost: one copy in, none out; each side rereads the
// other's index only when its last view of it says full or empty. No allocation after construction.
// Lifetime: a record that try_pop lends is dead when its visitor returns.
// When full: try_push says so and counts it; nothing is overwritten.
//
//   slots    | length | bytes ...... | length | bytes ...... |   `slot_count` of them, each with room for `record_size`
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "nexusfix/base/cache_line.hpp"

namespace nfx {

struct SpscOptions {
  std::size_t slot_count = 1024;   // rounded up to a power of two
  std::size_t record_size = 4096;  // the longest record, in bytes
};

enum class PushResult : std::uint8_t { pushed, full, too_long };

class SpscQueue {
 public:
  // Throws std::invalid_argument for a size of 0 or beyond 1 GiB in all.
  explicit SpscQueue(SpscOptions options = {})
      : record_size_(options.record_size),
        stride_((sizeof(Header) + options.record_size + alignment - 1) / alignment * alignment) {
    constexpr std::size_t max_total = std::size_t{1} << 30;
    if (options.slot_count == 0 || options.record_size == 0 || options.slot_count > max_total ||
        options.record_size > max_total || std::bit_ceil(options.slot_count) > max_total / stride_) {
      throw std::invalid_argument(
          "queue options: slot_count and record_size are at least 1 and at most 1 GiB together");
    }
    const std::size_t count = std::bit_ceil(options.slot_count);
    mask_ = count - 1;
    slots_ = std::make_unique_for_overwrite<Block[]>(count * stride_ / sizeof(Block));
  }
  SpscQueue(const SpscQueue&) = delete;
  SpscQueue& operator=(const SpscQueue&) = delete;

  // Producer: one record out of the parts, one after the other.
  template <class... Parts>
    requires(std::is_convertible_v<const Parts&, std::span<const char>> && ...)
  [[nodiscard]] PushResult try_push(const Parts&... parts) noexcept {
    const std::size_t length = (std::span<const char>(parts).size() + ... + std::size_t{0});
    if (length > record_size_) return PushResult::too_long;
    const std::size_t tail = tail_.load(std::memory_order_relaxed);  // only this thread writes it
    if (tail - head_seen_ > mask_) {
      head_seen_ = head_.load(std::memory_order_acquire);  // the consumer is done with what it released
      if (tail - head_seen_ > mask_) {
        full_count_.store(full_count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return PushResult::full;
      }
    }
    char* slot = slot_at(tail);
    const Header header{length};
    std::memcpy(slot, &header, sizeof header);
    [[maybe_unused]] char* at = slot + sizeof header;
    (..., (at = copy_to(at, parts)));
    tail_.store(tail + 1, std::memory_order_release);  // publishes the bytes
    return PushResult::pushed;
  }

  // Producer: a record that is one value.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  [[nodiscard]] PushResult try_push_value(const T& record) noexcept {
    return try_push(std::span<const char>(reinterpret_cast<const char*>(&record), sizeof record));
  }

  // Consumer: calls visitor(std::span<const char>) with the oldest record, if there is one, and then removes it.
  template <class Visitor>
  [[nodiscard]] bool try_pop(Visitor&& visitor) {
    const std::size_t head = head_.load(std::memory_order_relaxed);  // only this thread writes it
    if (head == tail_seen_) {
      tail_seen_ = tail_.load(std::memory_order_acquire);  // the producer's bytes are there with it
      if (head == tail_seen_) return false;
    }
    const char* slot = slot_at(head);
    Header header;
    std::memcpy(&header, slot, sizeof header);
    std::forward<Visitor>(visitor)(std::span<const char>(slot + sizeof header, header.length));
    head_.store(head + 1, std::memory_order_release);
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
  [[nodiscard]] std::uint64_t full_count() const noexcept { return full_count_.load(std::memory_order_relaxed); }

  // Any thread: a guess that is out of date when it returns; exact while the other side rests.
  [[nodiscard]] std::size_t size() const noexcept {
    const std::size_t head = head_.load(std::memory_order_acquire);  // first, so that the tail is not behind it
    return tail_.load(std::memory_order_acquire) - head;
  }

 private:
  struct Header {
    std::size_t length;
  };
  static constexpr std::size_t alignment = 64;  // records of neighbours share no line
  struct alignas(alignment) Block {
    char bytes[alignment];
  };

  [[nodiscard]] char* slot_at(std::size_t index) const noexcept {
    return reinterpret_cast<char*>(slots_.get()) + (index & mask_) * stride_;
  }
  static char* copy_to(char* at, std::span<const char> part) noexcept {
    if (!part.empty()) std::memcpy(at, part.data(), part.size());
    return at + part.size();
  }

  const std::size_t record_size_;
  const std::size_t stride_;
  std::size_t mask_ = 0;
  std::unique_ptr<Block[]> slots_;

  alignas(cache_line) std::atomic<std::size_t> tail_{0};  // producer writes
  std::size_t head_seen_ = 0;                             // producer's last view of head
  std::atomic<std::uint64_t> full_count_{0};
  alignas(cache_line) std::atomic<std::size_t> head_{0};  // consumer writes
  std::size_t tail_seen_ = 0;                             // consumer's last view of tail
};

}  // namespace nfx
