// Frames and indexes all messages of a receive buffer in one call.
// Thread: that of the reader and the view. Cost: per message one frame and one parse; no allocation.
// Lifetime: bytes and view are valid until the handler returns. Errors: passed to the handler with each message.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/call_trace.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/wire/framer.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx {

// What was found at the start of the rest of the buffer.
struct BatchItem {
  Frame frame;                        // complete, garbled or too_large
  WireError error = WireError::none;  // none: the view holds the message; otherwise the view is empty
  std::string_view bytes;             // the message, or the bytes to drop; with too_large everything that is left
  std::size_t bytes_behind = 0;       // bytes after this item in the buffer
};

struct BatchEnd {
  std::size_t used = 0;       // bytes at the start of the buffer that are processed
  std::size_t wanted = 0;     // not 0: the rest is an incomplete message, of which this many bytes are needed
  std::size_t oversized = 0;  // not 0: the rest begins with a message of this size, which is too large
};

// Calls on_item(const BatchItem&) -> bool for every whole message and for garbage between messages, until it returns
// false, the buffer has no further whole message, or a message that is too large begins.
template <class OnItem>
BatchEnd read_batch(std::string_view buffer, FrameReader& reader, MessageView& view, OnItem&& on_item) {
  NFX_TRACE();
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
