// Copies the messages of one session for a thread that shows them.
// Thread: MessageTap::record() and everything of LoopTaps belong to the poll thread; take() and extend() to one other
// at a time. Cost: while no session is copied one comparison for each message; otherwise a copy of at most most_bytes
// for each message of that session. When full: the message is dropped and counted. Errors: none; never waits.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "engine/recent_messages.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/memory.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/concurrent/spsc_queue.hpp"

namespace nfx {

class MessageTap {
 public:
  static constexpr std::size_t slot_bytes = 64;

  explicit MessageTap(std::size_t session)
      : session_(session),
        queue_({.slot_count = RecentMessages::queue_bytes / slot_bytes,
                .record_size = sizeof(Header) + RecentMessages::most_bytes,
                .slot_size = slot_bytes}) {}

  [[nodiscard]] std::size_t session() const noexcept { return session_; }

  void record(Direction direction, UtcTime time, std::string_view bytes) noexcept {
    const Header header{time, bytes.size(), direction};
    const std::span<const char> copied{bytes.data(), std::min(bytes.size(), RecentMessages::most_bytes)};
    // A full queue counts it.
    static_cast<void>(queue_.try_push(std::span{reinterpret_cast<const char*>(&header), sizeof header}, copied));
  }

  // Calls visitor(time, direction, size, bytes) for everything that waits, oldest first.
  template <class Visitor>
  void take(Visitor&& visitor) {
    const auto one = [&](std::span<const char> record) {
      NFX_ASSERT(record.size() >= sizeof(Header));
      Header header;
      std::memcpy(&header, record.data(), sizeof header);
      const auto bytes = record.subspan(sizeof header);
      visitor(header.time, header.direction, header.size, std::string_view{bytes.data(), bytes.size()});
    };
    // The poll thread may add as quickly as this takes.
    for (std::size_t left = queue_.slot_count(); left != 0 && queue_.try_pop(one); --left) {
    }
  }

  // Until when the poll thread copies; it removes the tap with the first message after that.
  void extend(MonotonicTime until) noexcept { until_.store(until, std::memory_order_relaxed); }
  [[nodiscard]] MonotonicTime until() const noexcept { return until_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return queue_.full_count(); }
  // Whether a poll thread has it. Once it has not, it will not touch it again.
  [[nodiscard]] bool attached() const noexcept { return attached_.load(std::memory_order_acquire); }

 private:
  friend class LoopTaps;
  struct Header {
    UtcTime time{};
    std::size_t size = 0;
    Direction direction{};
  };

  const std::size_t session_;
  alignas(cache_line) std::atomic<MonotonicTime> until_{MonotonicTime{}};
  std::atomic<bool> attached_{false};
  SpscQueue queue_;
};

// Those of one poll thread.
class LoopTaps {
 public:
  [[nodiscard]] bool any() const noexcept { return count_ != 0; }

  // A message of this session. Removes the taps whose time is over.
  [[gnu::cold, gnu::noinline]] void record(std::size_t session, Direction direction, Instant now,
                                           std::string_view bytes) noexcept {
    for (std::size_t i = 0; i < count_;) {
      MessageTap& tap = *taps_[i];
      if (now.monotonic >= tap.until()) {
        remove(i);
        continue;
      }
      if (tap.session() == session) tap.record(direction, now.utc, bytes);
      ++i;
    }
  }

  // `tap` stays until it is not attached any more.
  void attach(MessageTap& tap) noexcept {
    NFX_ASSERT(!tap.attached());
    NFX_ASSERT(count_ < taps_.size());  // the owner has no more of them
    taps_[count_++] = &tap;
    tap.attached_.store(true, std::memory_order_relaxed);
  }
  void detach(const MessageTap& tap) noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
      if (taps_[i] == &tap) return remove(i);
    }
  }

 private:
  void remove(std::size_t at) noexcept {
    MessageTap& tap = *taps_[at];
    taps_[at] = taps_[--count_];
    tap.attached_.store(false, std::memory_order_release);
  }

  std::array<MessageTap*, RecentMessages::most_sessions> taps_{};
  std::size_t count_ = 0;
};

}  // namespace nfx
