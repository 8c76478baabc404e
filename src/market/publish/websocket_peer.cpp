// Requests and masked frames.
#include "publish/websocket_peer.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "market/http_text.hpp"
#include "market/websocket.hpp"

namespace nfx::market {

WebsocketPeerEvent WebsocketPeer::next(std::string_view& data) { return open_ ? next_frame(data) : next_request(data); }

WebsocketPeerEvent WebsocketPeer::next_request(std::string_view& data) {
  const std::size_t end = input_.find("\r\n\r\n");
  if (end == std::string::npos) {
    return input_.size() > head_max + 3 ? WebsocketPeerEvent::failed : WebsocketPeerEvent::none;
  }
  if (end > head_max) return WebsocketPeerEvent::failed;
  const std::string head = input_.substr(0, end + 2);
  input_.erase(0, end + 4);
  const std::size_t target = head.find(' ');
  const std::size_t after = head.find(' ', target + 1);
  const std::size_t line = head.find("\r\n");
  if (!head.starts_with("GET /") || after == std::string::npos || after > line) return WebsocketPeerEvent::failed;
  current_ = head.substr(target + 1, after - target - 1);
  data = current_;
  std::string_view lines = std::string_view{head}.substr(line + 2);
  bool upgrade = false;
  while (!lines.empty()) {
    const auto header = http_text::take_header(lines);
    if (!header) return WebsocketPeerEvent::failed;
    if (same_ignoring_case(header->name, "Upgrade")) upgrade = same_ignoring_case(header->value, "websocket");
    if (same_ignoring_case(header->name, "Sec-WebSocket-Key")) key_ = header->value;
  }
  if (!upgrade) return WebsocketPeerEvent::get;
  if (key_.size() != 24) return WebsocketPeerEvent::failed;
  open_ = true;
  return WebsocketPeerEvent::upgrade;
}

std::string WebsocketPeer::answer() const {
  std::array<char, 28> accept;
  websocket_accept(key_, accept);
  return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
         std::string{accept.data(), accept.size()} + "\r\n\r\n";
}

WebsocketPeerEvent WebsocketPeer::next_frame(std::string_view& data) {
  const auto byte = [this](std::size_t i) { return static_cast<unsigned char>(input_[i]); };
  if (input_.size() < 6) return WebsocketPeerEvent::none;
  std::size_t size = byte(1) & 0x7Fu, at = 2;
  // Complete, without extensions, masked, and not too long.
  if ((byte(0) & 0xF0u) != 0x80u || (byte(1) & 0x80u) == 0 || size == 127) return WebsocketPeerEvent::failed;
  if (size == 126) {
    size = std::size_t{byte(2)} << 8 | byte(3);
    at = 4;
  }
  if (input_.size() < at + 4 + size) return WebsocketPeerEvent::none;
  const auto opcode = static_cast<WebsocketOpcode>(byte(0) & 0x0Fu);
  current_.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    current_[i] = static_cast<char>(byte(at + 4 + i) ^ byte(at + i % 4));
  }
  input_.erase(0, at + 4 + size);
  data = current_;
  switch (opcode) {
    case WebsocketOpcode::text: return WebsocketPeerEvent::text;
    case WebsocketOpcode::ping: return WebsocketPeerEvent::ping;
    case WebsocketOpcode::pong: return WebsocketPeerEvent::pong;
    case WebsocketOpcode::close: return WebsocketPeerEvent::close;
    case WebsocketOpcode::continuation:
    case WebsocketOpcode::binary: break;
  }
  return WebsocketPeerEvent::failed;
}

void append_frame(std::string& out, WebsocketOpcode opcode, std::string_view payload, bool last) {
  out += static_cast<char>((last ? 0x80u : 0u) | static_cast<unsigned>(opcode));
  const std::size_t size = payload.size();
  if (size < 126) {
    out += static_cast<char>(size);
  } else {
    const unsigned bytes = size < 65536 ? 2 : 8;
    out += static_cast<char>(bytes == 2 ? 126 : 127);
    for (unsigned i = bytes; i-- > 0;) out += static_cast<char>(size >> (8 * i));
  }
  out += payload;
}

void append_fragments(std::string& out, std::string_view text, std::size_t pieces) {
  const std::size_t size = std::max<std::size_t>(1, text.size() / std::max<std::size_t>(1, pieces));
  WebsocketOpcode opcode = WebsocketOpcode::text;
  do {
    const std::string_view piece = text.substr(0, size);
    text.remove_prefix(piece.size());
    append_frame(out, opcode, piece, text.empty());
    opcode = WebsocketOpcode::continuation;
  } while (!text.empty());
}

std::string http_answer(int status, std::string_view body) {
  return "HTTP/1.1 " + std::to_string(status) + (status == 200 ? " OK" : " Error") +
         "\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + std::string{body};
}

}  // namespace nfx::market
