// Messages that other threads hand to a poll thread.
// Thread: try_push from any (a mutex among the producers, which the poll thread never takes); drain from the poll
// thread. Cost: drain of an empty queue is one load. Bounds: slots and their size; try_push returns false when the
// queue is full or the message too long.
#pragma once

#include <cstdint>
#include <cstring>
#include <mutex>
#include <span>
#include <string_view>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/concurrent/spsc_queue.hpp"

namespace nfx {

class SubmitQueue {
 public:
  explicit SubmitQueue(SpscOptions options = {.slot_count = 256, .record_size = 8192}) : queue_(options) {}

  [[nodiscard]] bool try_push(std::uint32_t session, std::string_view msg_type, std::string_view body) noexcept {
    const Header header{session, static_cast<std::uint32_t>(msg_type.size())};
    const std::span<const char> head{reinterpret_cast<const char*>(&header), sizeof header};
    const std::lock_guard lock{producers_};
    queue_.hand_over_producer();
    NFX_ASSERT(queue_.size() <= queue_.slot_count());
    return queue_.try_push(head, std::span<const char>{msg_type}, std::span<const char>{body}) == PushResult::pushed;
  }

  // Calls visitor(session, msg_type, body) for what is there, at most one queue's worth.
  template <class Visitor>
  void drain(Visitor&& visitor) {
    for (std::size_t left = queue_.slot_count(); left != 0; --left) {
      const bool popped = queue_.try_pop([&](std::span<const char> record) {
        Header header;
        NFX_ASSERT(record.size() >= sizeof header && record.size() <= queue_.record_size());
        std::memcpy(&header, record.data(), sizeof header);
        NFX_ASSERT(header.msg_type_size <= record.size() - sizeof header);
        const std::string_view text{record.data() + sizeof header, record.size() - sizeof header};
        visitor(header.session, text.substr(0, header.msg_type_size), text.substr(header.msg_type_size));
      });
      if (!popped) return;
    }
  }

 private:
  struct Header {
    std::uint32_t session;
    std::uint32_t msg_type_size;
  };

  std::mutex producers_;
  SpscQueue queue_;
};

}  // namespace nfx
