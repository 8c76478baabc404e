// The HTTP part of a websocket: the request, and whether the answer belongs to it.
#include <algorithm>
#include <bit>

#include "base/text.hpp"
#include "market/http_text.hpp"
#include "market/websocket.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx::market {

using http_text::has_controls, http_text::has_token;

namespace {

using Sha1Sum = std::array<std::uint8_t, 20>;

// RFC 3174, for the accept value alone: it proves that the server read the key and protects nothing.
class Sha1 {
 public:
  void add(std::string_view bytes) noexcept {
    for (const char c : bytes) put(static_cast<std::uint8_t>(c));
  }
  [[nodiscard]] Sha1Sum finish() noexcept {
    const std::uint64_t bits = size_ * 8;
    put(0x80);
    while (size_ % 64 != 56) put(0);
    for (int shift = 56; shift >= 0; shift -= 8) put(static_cast<std::uint8_t>(bits >> shift));
    Sha1Sum sum;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] = static_cast<std::uint8_t>(sums_[i / 4] >> (24 - 8 * (i % 4)));
    }
    return sum;
  }

 private:
  void put(std::uint8_t byte) noexcept {
    block_[size_ % 64] = byte;
    if (++size_ % 64 == 0) mix();
  }
  void mix() noexcept {
    std::array<std::uint32_t, 80> words;
    for (std::size_t i = 0; i < 16; ++i) {
      words[i] = 0;
      for (std::size_t k = 0; k < 4; ++k) words[i] = words[i] << 8 | block_[4 * i + k];
    }
    for (std::size_t i = 16; i < 80; ++i) {
      words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
    }
    auto [a, b, c, d, e] = sums_;
    for (std::size_t i = 0; i < 80; ++i) {
      const std::uint32_t mixed = i < 20   ? ((b & c) | (~b & d)) + 0x5A827999
                                  : i < 40 ? (b ^ c ^ d) + 0x6ED9EBA1
                                  : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDC
                                           : (b ^ c ^ d) + 0xCA62C1D6;
      const std::uint32_t next = std::rotl(a, 5) + mixed + e + words[i];
      e = d;
      d = c;
      c = std::rotl(b, 30);
      b = a;
      a = next;
    }
    const std::array<std::uint32_t, 5> more{a, b, c, d, e};
    for (std::size_t i = 0; i < 5; ++i) sums_[i] += more[i];
  }

  std::array<std::uint32_t, 5> sums_{0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  std::array<std::uint8_t, 64> block_{};
  std::uint64_t size_ = 0;
};

}  // namespace

void websocket_accept(std::string_view key, std::span<char, 28> out) noexcept {
  Sha1 sha1;
  sha1.add(key);
  sha1.add("258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
  write_base64(out.data(), text_of_bytes(sha1.finish()));
}

bool WebsocketClient::connect(const WebsocketRequest& request) {
  link_ = {};
  const bool bad_lines = !request.more_headers.empty() && !request.more_headers.ends_with("\r\n");
  const bool ends_headers = request.more_headers.starts_with("\r\n") || request.more_headers.contains("\r\n\r\n");
  if (request.host.empty() || has_controls(request.host) || !request.path.starts_with('/') ||
      has_controls(request.path) || bad_lines || ends_headers) {
    return false;
  }
  std::array<char, 24> key;
  write_base64(key.data(), text_of_bytes(request.key));
  const std::string_view parts[] = {"GET ",
                                    request.path,
                                    " HTTP/1.1\r\nHost: ",
                                    request.host,
                                    "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ",
                                    {key.data(), key.size()},
                                    "\r\nSec-WebSocket-Version: 13\r\n",
                                    request.more_headers,
                                    "\r\n"};
  std::size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  if (size > output_.size()) return false;
  for (const std::string_view part : parts)
    link_.output_used += part.copy(output_.data() + link_.output_used, part.size());
  websocket_accept({key.data(), key.size()}, link_.accept);
  link_.state = WebsocketState::connecting;
  return true;
}

WebsocketEvent WebsocketClient::read_handshake(WebsocketMask mask) noexcept {
  const std::string_view unread{input_.data() + link_.begin, link_.end - link_.begin};
  const std::size_t end = unread.find("\r\n\r\n");
  if (end == std::string_view::npos || end + 4 > options_.handshake_size) {
    return unread.size() > options_.handshake_size ? fail(WebsocketError::handshake_too_large, mask) : WebsocketEvent{};
  }
  const WebsocketError error = check_answer(unread.substr(0, end + 2));
  if (error != WebsocketError::none) return fail(error, mask);
  link_.begin += end + 4;
  link_.state = WebsocketState::open;
  WebsocketEvent event;
  event.kind = WebsocketEventKind::open;
  return event;
}

// Complete lines.
WebsocketError WebsocketClient::check_answer(std::string_view answer) noexcept {
  const auto status = http_text::take_status(answer);
  if (!status) return WebsocketError::not_http;
  link_.http_status = *status;
  if (link_.http_status != 101) return WebsocketError::refused;
  bool upgrade = false, connection = false;
  int accepts = 0;
  bool accepted = false;
  while (!answer.empty()) {
    const auto header = http_text::take_header(answer);
    if (!header) return WebsocketError::not_http;
    const auto [name, value] = *header;
    if (same_ignoring_case(name, "Upgrade")) upgrade = same_ignoring_case(value, "websocket");
    if (same_ignoring_case(name, "Connection")) connection |= has_token(value, "upgrade");
    if (same_ignoring_case(name, "Sec-WebSocket-Accept")) {
      ++accepts;
      accepted = value == std::string_view{link_.accept.data(), link_.accept.size()};
    }
    if (same_ignoring_case(name, "Sec-WebSocket-Extensions") && !value.empty()) return WebsocketError::extension;
    if (same_ignoring_case(name, "Sec-WebSocket-Protocol") && !value.empty()) return WebsocketError::protocol;
  }
  if (!upgrade || !connection) return WebsocketError::bad_upgrade;
  return accepts == 1 && accepted ? WebsocketError::none : WebsocketError::bad_accept;
}

}  // namespace nfx::market
