// The client side of a websocket (RFC 6455, RFC 7692 refused) over bytes: handshake, frames of the server to messages,
// and frames to the server. No socket, clock or random source: the caller moves the bytes and gives random ones.
// Written from the RFC and not with libwslay: that library calls back for every read and write, copies each payload and
// allocates for each message, where here a message is read in the buffer into which the socket received it.
// Thread: one owner. Cost: a frame's header, and one pass for UTF-8 of text; payloads of one frame are not moved; no
// allocation after construction. Lifetime: the view of a message is valid until next() or space() is called; it is
// followed by `padding` readable bytes. Errors: WebsocketError, after which only the close frame is to be sent. Bounds:
// WebsocketOptions; a server that sends more ends in an error with the close code of the RFC.
//
//   client.connect({.host = "stream.example", .path = "/ws", .key = sixteen_random_bytes});
//   for (;;) {
//     client.sent(send(client.to_send()));
//     client.received(receive(client.space()));
//     for (WebsocketEvent event; (event = client.next(mask)).kind != WebsocketEventKind::none;) use(event);
//   }
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "nexusfix/base/language.hpp"

namespace nfx::market {

struct WebsocketOptions {
  std::size_t message_size = 1u << 20;  // of a message, all of its frames together
  std::size_t handshake_size = 8192;    // of the server's answer
  std::size_t output_size = 64u << 10;  // frames that are not sent yet
  std::size_t frames = 1024;            // of one message
};

enum class WebsocketState : std::uint8_t {
  connecting,  // the server's answer is awaited
  open,
  closing,  // a close frame was made, the server's is awaited
  closed,
  failed,  // error() states why
};

enum class WebsocketError : std::uint8_t {
  none,
  handshake_too_large,
  not_http,       // the answer is not one of HTTP/1.1
  refused,        // another status than 101: http_status()
  bad_upgrade,    // Upgrade or Connection does not name a websocket
  bad_accept,     // Sec-WebSocket-Accept does not belong to the key
  extension,      // an extension, such as permessage-deflate, that was not offered
  protocol,       // a subprotocol that was not offered
  reserved_bits,  // RSV1 to RSV3 are set: an extension again
  unknown_opcode,
  masked,             // frames of a server are not
  bad_control_frame,  // fragmented or longer than 125 bytes
  bad_length,         // not in the shortest form, or beyond 2^63
  bad_continuation,   // without a beginning, or a beginning within a message
  too_large,          // WebsocketOptions::message_size
  too_many_frames,    // WebsocketOptions::frames
  not_utf8,           // text, or the reason of a close
  bad_close,          // a code that must not be sent, or one byte of it
};
[[nodiscard]] std::string_view to_string(WebsocketError error) noexcept;

// Close codes of RFC 6455, 7.4.1.
namespace close_code {
inline constexpr std::uint16_t normal = 1000, going_away = 1001, protocol_error = 1002, no_code = 1005, bad_data = 1007,
                               too_large = 1009, no_extension = 1010;
}

enum class WebsocketEventKind : std::uint8_t {
  none,    // more bytes are needed
  open,    // the handshake is done
  text,    // a message, valid UTF-8
  binary,  // a message
  ping,    // answered
  pong,
  closed,  // code and reason of the server; its close frame is answered
  failed,  // error()
};

struct WebsocketEvent {
  WebsocketEventKind kind = WebsocketEventKind::none;
  std::string_view data;     // of the message or control frame; the reason of a close
  std::uint16_t code = 0;    // of a close; close_code::no_code if it has none
  std::size_t readable = 0;  // bytes from data.data() on, at least padding more than the message
};

// The server and what names the connection.
struct WebsocketRequest {
  std::string_view host;  // Host, with the port if it is not 443
  std::string_view path = "/";
  std::array<std::uint8_t, 16> key{};  // random
  std::string_view more_headers = {};  // complete lines that end with CRLF
};

// A mask is four random bytes of a real source: RFC 6455, 10.3.
using WebsocketMask = std::array<std::uint8_t, 4>;

// base64 of SHA-1 of the key's text and the number of RFC 6455; `out` gets 28 characters.
void websocket_accept(std::string_view key, std::span<char, 28> out) noexcept;

class WebsocketClient {
 public:
  static constexpr std::size_t padding = 64;

  explicit WebsocketClient(const WebsocketOptions& options);

  // Begins a connection: what is to be sent first is in to_send(). False: host, path or headers do not fit or have
  // control characters.
  bool connect(const WebsocketRequest& request);

  // Where the socket may write, never empty after next() was called until it gave none; then how much it wrote.
  [[nodiscard]] std::span<char> space() noexcept;
  void received(std::size_t size) noexcept;
  // The next event in the received bytes. `mask` is for the answer to a ping or a close.
  [[nodiscard]] WebsocketEvent next(WebsocketMask mask) noexcept;

  // Frames to the server. False: not open, or WebsocketOptions::output_size is reached, and nothing is sent of it.
  bool send_text(std::string_view text, WebsocketMask mask) noexcept;
  bool send_ping(std::string_view data, WebsocketMask mask) noexcept;  // at most 125 bytes
  // Once. `reason`: at most 123 bytes.
  bool close(std::uint16_t code, std::string_view reason, WebsocketMask mask) noexcept;

  [[nodiscard]] std::string_view to_send() const noexcept {
    return {output_.data() + link_.sent, link_.output_used - link_.sent};
  }
  void sent(std::size_t size) noexcept;

  [[nodiscard]] WebsocketState state() const noexcept { return link_.state; }
  [[nodiscard]] WebsocketError error() const noexcept { return link_.error; }
  [[nodiscard]] int http_status() const noexcept { return link_.http_status; }
  // Pings that are not answered, because the answer to an older one is not sent yet and the space was used up.
  [[nodiscard]] std::uint64_t pongs_left_out() const noexcept { return pongs_left_out_; }

 private:
  struct Frame {
    std::size_t header = 0;
    std::uint64_t size = 0;
    std::uint8_t opcode = 0;
    bool final = false;
  };

  WebsocketEvent read_handshake(WebsocketMask mask) noexcept;
  [[nodiscard]] WebsocketError check_answer(std::string_view answer) noexcept;
  // 0: more bytes are needed; 1: a frame's header; -1: failed.
  int read_header(Frame& frame) noexcept;
  WebsocketEvent data_frame(const Frame& frame, WebsocketMask mask) noexcept;
  WebsocketEvent control_frame(const Frame& frame, WebsocketMask mask) noexcept;
  WebsocketEvent close_frame(std::string_view payload, WebsocketMask mask) noexcept;
  WebsocketEvent fail(WebsocketError error, WebsocketMask mask) noexcept;
  bool put_frame(std::uint8_t opcode, std::string_view head, std::string_view payload, WebsocketMask mask) noexcept;
  void compact() noexcept;

  // The state of one connection.
  struct Link {
    std::size_t begin = 0;    // of the bytes that were not read yet
    std::size_t end = 0;      // of the received ones
    std::size_t message = 0;  // where the payload of the unfinished message begins
    std::size_t message_size = 0;
    std::size_t frames = 0;   // of the unfinished message
    std::uint8_t opcode = 0;  // of the unfinished message; 0: none
    std::size_t output_used = 0;
    std::size_t sent = 0;
    std::array<char, 28> accept{};
    WebsocketState state = WebsocketState::closed;
    WebsocketError error = WebsocketError::none;
    bool close_sent = false;
    int http_status = 0;
  };

  WebsocketOptions options_;
  std::vector<char> input_;
  std::vector<char> output_;
  Link link_;
  std::uint64_t pongs_left_out_ = 0;
};

}  // namespace nfx::market
