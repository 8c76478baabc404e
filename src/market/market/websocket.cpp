// Frames of RFC 6455, section 5, as a client reads and writes them.
#include "market/websocket.hpp"

#include <algorithm>
#include <cstring>

#include "base/enumerator_name.hpp"
#include "base/utf8.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx::market {
namespace {

constexpr std::uint8_t op_continuation = 0, op_text = 1, op_binary = 2, op_close = 8, op_ping = 9, op_pong = 10;
// The bytes that a receive may bring besides an unfinished message, and the longest header of a server's frame.
constexpr std::size_t receive_space = 4096, header_most = 10;
constexpr std::size_t control_most = 125;

bool is_ascii(const char* p) noexcept {  // 16 characters
  std::uint64_t words[2];
  std::memcpy(words, p, sizeof words);
  return ((words[0] | words[1]) & 0x8080808080808080) == 0;
}

bool is_utf8(std::string_view text) noexcept {
  if (text.size() >= 16) {
    const char* const last = text.data() + text.size() - 16;
    const char* at = text.data();
    while (at < last && is_ascii(at)) at += 16;
    if (at >= last && is_ascii(last)) return true;
    text.remove_prefix(static_cast<std::size_t>(std::min(at, last) - text.data()));
  }
  while (!text.empty()) {
    while (text.size() >= 8) {
      std::uint64_t word;
      std::memcpy(&word, text.data(), sizeof word);
      if ((word & 0x8080808080808080) != 0) break;
      text.remove_prefix(8);
    }
    if (text.empty()) break;
    const std::size_t size = utf8_character_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

bool may_be_received(std::uint16_t code) noexcept {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

std::uint16_t code_of(WebsocketError error) noexcept {
  switch (error) {
    case WebsocketError::too_large:
    case WebsocketError::too_many_frames: return close_code::too_large;
    case WebsocketError::not_utf8: return close_code::bad_data;
    default: return close_code::protocol_error;
  }
}

}  // namespace

std::string_view to_string(WebsocketError error) noexcept { return enumerator_name(error); }

WebsocketClient::WebsocketClient(const WebsocketOptions& options)
    : options_(options),
      input_(std::max(options.message_size, options.handshake_size) + header_most + receive_space + padding),
      output_(options.output_size) {
  NFX_REQUIRE(options.message_size >= control_most && options.output_size >= 512 && options.frames >= 1);
}

std::span<char> WebsocketClient::space() noexcept {
  const std::size_t capacity = input_.size() - padding;
  if (capacity - link_.end < receive_space) compact();
  NFX_ASSERT(link_.end < capacity || link_.state == WebsocketState::failed || link_.state == WebsocketState::closed);
  return std::span{input_}.subspan(link_.end, capacity - link_.end);
}

// The unfinished message and what was not read yet move to the beginning.
void WebsocketClient::compact() noexcept {
  if (link_.state == WebsocketState::failed || link_.state == WebsocketState::closed) link_.begin = link_.end;
  if (link_.opcode != 0 && link_.message != 0) {
    std::memmove(input_.data(), input_.data() + link_.message, link_.message_size);
    link_.message = 0;
  }
  const std::size_t to = link_.opcode != 0 ? link_.message + link_.message_size : 0;
  NFX_ASSERT(to <= link_.begin);
  std::memmove(input_.data() + to, input_.data() + link_.begin, link_.end - link_.begin);
  link_.end = to + (link_.end - link_.begin);
  link_.begin = to;
}

void WebsocketClient::received(std::size_t size) noexcept {
  NFX_ASSERT(size <= input_.size() - padding - link_.end);
  link_.end += size;
}

WebsocketEvent WebsocketClient::next(WebsocketMask mask) noexcept {
  if (link_.state == WebsocketState::connecting) return read_handshake(mask);
  while (link_.state == WebsocketState::open || link_.state == WebsocketState::closing) {
    Frame frame;
    const int found = read_header(frame);
    if (found == 0) return {};
    if (found < 0) return fail(link_.error, mask);
    const bool control = frame.opcode >= op_close;
    const WebsocketEvent event = control ? control_frame(frame, mask) : data_frame(frame, mask);
    if (event.kind != WebsocketEventKind::none) return event;
  }
  return {};
}

int WebsocketClient::read_header(Frame& frame) noexcept {
  const std::size_t unread = link_.end - link_.begin;
  if (unread < 2) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(input_[link_.begin + i]); };
  const auto refuse = [&](WebsocketError error) {
    link_.error = error;
    return -1;
  };
  frame.final = (byte(0) & 0x80) != 0;
  frame.opcode = byte(0) & 0x0F;
  if ((byte(0) & 0x70) != 0) return refuse(WebsocketError::reserved_bits);
  const bool control = frame.opcode >= op_close;
  if (frame.opcode > op_pong || (frame.opcode > op_binary && !control)) return refuse(WebsocketError::unknown_opcode);
  if ((byte(1) & 0x80) != 0) return refuse(WebsocketError::masked);
  frame.size = byte(1);
  frame.header = 2;
  if (control && (!frame.final || frame.size > control_most)) return refuse(WebsocketError::bad_control_frame);
  if (frame.size > control_most) {
    const std::size_t length = frame.size == 126 ? 2 : 8;
    if (unread < 2 + length) return 0;
    frame.size = 0;
    for (std::size_t i = 0; i < length; ++i) frame.size = frame.size << 8 | byte(2 + i);
    frame.header = 2 + length;
    const std::uint64_t least = length == 2 ? 126 : 65536;
    if (frame.size < least || frame.size >> 63 != 0) return refuse(WebsocketError::bad_length);
  }
  if (!control) {
    const bool continues = frame.opcode == op_continuation;
    if (continues != (link_.opcode != 0)) return refuse(WebsocketError::bad_continuation);
    const std::size_t before = continues ? link_.message_size : 0;
    if (frame.size > options_.message_size - before) return refuse(WebsocketError::too_large);
    if (continues && link_.frames >= options_.frames) return refuse(WebsocketError::too_many_frames);
  }
  return unread - frame.header >= frame.size ? 1 : 0;
}

WebsocketEvent WebsocketClient::data_frame(const Frame& frame, WebsocketMask mask) noexcept {
  const std::size_t payload = link_.begin + frame.header;
  const auto size = static_cast<std::size_t>(frame.size);
  if (frame.opcode != op_continuation) {
    link_.opcode = frame.opcode;
    link_.message = payload;
    link_.message_size = size;
    link_.frames = 1;
  } else {
    std::memmove(input_.data() + link_.message + link_.message_size, input_.data() + payload, size);
    link_.message_size += size;
    ++link_.frames;
  }
  link_.begin = payload + size;
  if (!frame.final) return {};
  WebsocketEvent event;
  event.kind = link_.opcode == op_text ? WebsocketEventKind::text : WebsocketEventKind::binary;
  event.data = {input_.data() + link_.message, link_.message_size};
  event.readable = input_.size() - link_.message;
  link_.opcode = 0;
  if (event.kind == WebsocketEventKind::text && !is_utf8(event.data)) return fail(WebsocketError::not_utf8, mask);
  return event;
}

WebsocketEvent WebsocketClient::control_frame(const Frame& frame, WebsocketMask mask) noexcept {
  WebsocketEvent event;
  event.data = {input_.data() + link_.begin + frame.header, static_cast<std::size_t>(frame.size)};
  event.readable = input_.size() - link_.begin - frame.header;
  link_.begin += frame.header + event.data.size();
  if (frame.opcode == op_close) return close_frame(event.data, mask);
  event.kind = frame.opcode == op_ping ? WebsocketEventKind::ping : WebsocketEventKind::pong;
  // Nothing is sent after a close frame.
  if (frame.opcode == op_ping && !link_.close_sent && !put_frame(op_pong, {}, event.data, mask)) ++pongs_left_out_;
  return event;
}

WebsocketEvent WebsocketClient::close_frame(std::string_view payload, WebsocketMask mask) noexcept {
  WebsocketEvent event;
  event.kind = WebsocketEventKind::closed;
  event.code = close_code::no_code;
  if (!payload.empty()) {
    if (payload.size() == 1) return fail(WebsocketError::bad_close, mask);
    event.code =
        static_cast<std::uint16_t>(static_cast<std::uint8_t>(payload[0]) << 8 | static_cast<std::uint8_t>(payload[1]));
    event.data = payload.substr(2);
    event.readable = static_cast<std::size_t>(input_.data() + input_.size() - event.data.data());
    if (!may_be_received(event.code)) return fail(WebsocketError::bad_close, mask);
    if (!is_utf8(event.data)) return fail(WebsocketError::not_utf8, mask);
  }
  if (!link_.close_sent) put_frame(op_close, {}, payload.substr(0, 2), mask);
  link_.close_sent = true;
  link_.state = WebsocketState::closed;
  return event;
}

WebsocketEvent WebsocketClient::fail(WebsocketError error, WebsocketMask mask) noexcept {
  if (link_.state == WebsocketState::open && !link_.close_sent) close(code_of(error), {}, mask);
  link_.state = WebsocketState::failed;
  link_.error = error;
  link_.begin = link_.end;
  link_.opcode = 0;
  WebsocketEvent event;
  event.kind = WebsocketEventKind::failed;
  return event;
}

bool WebsocketClient::put_frame(std::uint8_t opcode, std::string_view head, std::string_view payload,
                                WebsocketMask mask) noexcept {
  const std::size_t size = head.size() + payload.size();
  const std::size_t length = size <= control_most ? 0 : size <= 0xFFFF ? 2 : 8;
  if (output_.size() - link_.output_used < 6 + length + size) return false;
  char* out = output_.data() + link_.output_used;
  *out++ = static_cast<char>(0x80 | opcode);
  *out++ = static_cast<char>(0x80 | (length == 0 ? size : length == 2 ? 126 : 127));
  for (std::size_t i = length; i-- > 0;) *out++ = static_cast<char>(size >> 8 * i);
  for (const std::uint8_t byte : mask) *out++ = static_cast<char>(byte);
  std::size_t place = 0;
  for (const std::string_view part : {head, payload}) {
    for (const char c : part) *out++ = static_cast<char>(static_cast<std::uint8_t>(c) ^ mask[place++ % 4]);
  }
  link_.output_used += 6 + length + size;
  return true;
}

bool WebsocketClient::send_text(std::string_view text, WebsocketMask mask) noexcept {
  return link_.state == WebsocketState::open && put_frame(op_text, {}, text, mask);
}

bool WebsocketClient::send_ping(std::string_view data, WebsocketMask mask) noexcept {
  return link_.state == WebsocketState::open && data.size() <= control_most && put_frame(op_ping, {}, data, mask);
}

bool WebsocketClient::close(std::uint16_t code, std::string_view reason, WebsocketMask mask) noexcept {
  if (link_.state != WebsocketState::open || link_.close_sent || reason.size() > control_most - 2) return false;
  const char head[2] = {static_cast<char>(code >> 8), static_cast<char>(code)};
  if (!put_frame(op_close, {head, 2}, reason, mask)) return false;
  link_.close_sent = true;
  link_.state = WebsocketState::closing;
  return true;
}

void WebsocketClient::sent(std::size_t size) noexcept {
  NFX_ASSERT(size <= link_.output_used - link_.sent);
  link_.sent += size;
  if (link_.sent == link_.output_used) {
    link_.sent = link_.output_used = 0;
  } else if (link_.sent > output_.size() / 2) {
    std::memmove(output_.data(), output_.data() + link_.sent, link_.output_used - link_.sent);
    link_.output_used -= link_.sent;
    link_.sent = 0;
  }
}

}  // namespace nfx::market
