// Frames and indexes all messages of a receive buffer in one call.
// Thread: the reader's and the view's. Cost: per message one frame and one parse; no allocation. Lifetime: bytes and
// view are valid until the handler returns. Errors: passed to the handler with each message.
#pragma once

#include <cstddef>
#include <string_view>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/wire/framer.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx {

// The item at the start of the remaining buffer.
struct BatchItem {
  Frame frame;                        // complete, garbled or too_large
  WireError error = WireError::none;  // none: the view holds the message; otherwise the view is empty
  std::string_view bytes;             // the message, or the bytes to drop; for too_large all remaining bytes
  std::size_t bytes_behind = 0;       // bytes after this item in the buffer
};

struct BatchEnd {
  std::size_t used = 0;       // processed bytes at the start of the buffer
  std::size_t wanted = 0;     // not 0: the rest is an incomplete message, which needs this many bytes
  std::size_t oversized = 0;  // not 0: the rest begins with a message of this size, which is too large
};

// Calls on_item(const BatchItem&) -> bool for every whole message and for garbage between messages. Stops when on_item
// returns false, when no whole message is left, or when a message begins that is too large.
template <class OnItem>
BatchEnd read_batch(std::string_view buffer, FrameReader& reader, MessageView& view, OnItem&& on_item) {
  std::size_t used = 0;
  while (used < buffer.size()) {
    const std::string_view rest = buffer.substr(used);
    const Frame frame = reader.next(rest);
    if (frame.status == FrameStatus::need_more) return {used, frame.size, 0};
    if (frame.status == FrameStatus::too_large && frame.size != 0) [[unlikely]]
      return {used, 0, frame.size};
    const std::size_t size = frame.status == FrameStatus::too_large ? rest.size() : frame.size;
    used += size;
    NFX_ASSERT(size != 0 && used <= buffer.size());
    BatchItem item{frame, frame.error, rest.substr(0, size), rest.size() - size};
    if (frame.status == FrameStatus::complete) item.error = view.parse(item.bytes);
    if (!on_item(item)) break;
  }
  return {used, 0, 0};
}

}  // namespace nfx
