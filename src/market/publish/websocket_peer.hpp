// The server's side of one connection that begins with an HTTP request and may become a websocket (RFC 6455): bytes of
// the client in, requests and messages out, and frames to the client. Extensions are not agreed to.
// Thread: one owner. Cost: one copy of what is received. Errors: WebsocketPeerEvent::failed; the connection is to be
// closed. Bounds: 8 KiB of a request, 64 KiB of a frame; messages of several frames are not accepted from clients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx::market {

enum class WebsocketPeerEvent : std::uint8_t {
  none,     // more bytes are needed
  get,      // an HTTP request: data is its target
  upgrade,  // a request for a websocket: data is its target, and answer() accepts it
  text,     // a message
  ping,     // answer it with a pong of data
  pong,
  close,  // answer it with a close, and close the connection
  failed,
};

class WebsocketPeer {
 public:
  static constexpr std::size_t head_max = 8u << 10, frame_max = 64u << 10;

  void received(std::string_view bytes) { input_ += bytes; }
  // `data` is valid until the next call.
  [[nodiscard]] WebsocketPeerEvent next(std::string_view& data);

  // After `upgrade`: accepts it.
  [[nodiscard]] std::string answer() const;

 private:
  WebsocketPeerEvent next_request(std::string_view& data);
  WebsocketPeerEvent next_frame(std::string_view& data);

  std::string input_;
  std::string current_;  // what `data` shows
  std::string key_;
  bool open_ = false;
};

enum class WebsocketOpcode : std::uint8_t { continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

// A server's frame.
void append_frame(std::string& out, WebsocketOpcode opcode, std::string_view payload, bool last = true);
// A message in `pieces` frames.
void append_fragments(std::string& out, std::string_view text, std::size_t pieces);
// A whole HTTP answer, after which the connection is closed.
[[nodiscard]] std::string http_answer(int status, std::string_view body);

}  // namespace nfx::market
