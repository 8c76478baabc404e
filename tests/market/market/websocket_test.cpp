// The client side of a websocket: handshake, frames, close, and what a server can send.
#include "market/websocket.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace nfx::market {
namespace {

constexpr WebsocketMask mask{1, 2, 3, 4};
constexpr const char* answer_lines =
    "HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

std::string frame(int first, const std::string& payload) {
  std::string bytes(1, static_cast<char>(first));
  if (payload.size() < 126) {
    bytes += static_cast<char>(payload.size());
  } else if (payload.size() < 65536) {
    bytes += {126, static_cast<char>(payload.size() >> 8), static_cast<char>(payload.size())};
  } else {
    bytes += 127;
    for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(payload.size() >> shift);
  }
  return bytes + payload;
}

class WebsocketTest : public testing::Test {
 protected:
  explicit WebsocketTest(const WebsocketOptions& options = {.message_size = 1000, .output_size = 1024, .frames = 8})
      : client(options) {}

  void connect() {
    WebsocketRequest request{.host = "server.example.com", .path = "/chat"};
    std::memcpy(request.key.data(), "the sample nonce", 16);
    ASSERT_TRUE(client.connect(request));
    handshake = client.to_send();
    client.sent(handshake.size());
  }
  void receive(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::span<char> space = client.space();
      const std::size_t size = std::min(space.size(), bytes.size());
      ASSERT_NE(size, 0u);
      std::memcpy(space.data(), bytes.data(), size);
      client.received(size);
      bytes.remove_prefix(size);
    }
  }
  WebsocketEvent next() { return client.next(mask); }
  void open() {
    connect();
    receive(answer_lines);
    ASSERT_EQ(next().kind, WebsocketEventKind::open);
  }
  // The client's output, unmasked: opcode and payload of one frame.
  std::string sent() {
    const std::string bytes{client.to_send()};
    client.sent(bytes.size());
    if (bytes.size() < 6) return "nothing";
    EXPECT_EQ(bytes[1] & 0x80, 0x80);
    const std::size_t size = bytes[1] & 0x7F;
    EXPECT_EQ(bytes.size(), 6 + size);
    EXPECT_EQ(bytes.substr(2, 4), (std::string{1, 2, 3, 4}));
    std::string text = std::to_string(bytes[0] & 0x0F) + ":";
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(bytes[6 + i] ^ mask[i % 4]);
    return text;
  }
  void expect_failure(const std::string& bytes, WebsocketError error, const std::string& answer) {
    open();
    receive(bytes);
    WebsocketEvent event = next();
    while (event.kind != WebsocketEventKind::failed && event.kind != WebsocketEventKind::none) event = next();
    EXPECT_EQ(event.kind, WebsocketEventKind::failed) << bytes;
    EXPECT_EQ(to_string(client.error()), to_string(error));
    EXPECT_EQ(sent(), answer);
    EXPECT_EQ(client.state(), WebsocketState::failed);
    EXPECT_EQ(next().kind, WebsocketEventKind::none);
    EXPECT_FALSE(client.send_text("x", mask));
  }

  WebsocketClient client;
  std::string handshake;
};

constexpr const char* protocol_close = "8:\x03\xEA";

TEST_F(WebsocketTest, the_handshake_is_that_of_the_rfc) {
  std::array<char, 28> accept;
  websocket_accept("dGhlIHNhbXBsZSBub25jZQ==", accept);
  EXPECT_EQ((std::string_view{accept.data(), accept.size()}), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  connect();
  EXPECT_EQ(handshake,
            "GET /chat HTTP/1.1\r\nHost: server.example.com\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
  for (const char c : std::string_view{answer_lines}) {
    EXPECT_EQ(next().kind, WebsocketEventKind::none);
    receive({&c, 1});
  }
  EXPECT_EQ(next().kind, WebsocketEventKind::open);
  EXPECT_EQ(client.state(), WebsocketState::open);
}

struct Answer {
  const char* text;
  WebsocketError error;
};

TEST_F(WebsocketTest, an_answer_that_is_not_that_of_the_request_fails) {
  constexpr Answer answers[] = {
      {"SSH-2.0-x\r\n\r\n", WebsocketError::not_http},
      {"HTTP/1.0 101 x\r\n\r\n", WebsocketError::not_http},
      {"HTTP/1.1 404 Not Found\r\n\r\n", WebsocketError::refused},
      {"HTTP/1.1 101 x\r\nno colon\r\n\r\n", WebsocketError::not_http},
      {"HTTP/1.1 101 x\r\n\r\n", WebsocketError::bad_upgrade},
      {"HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n", WebsocketError::bad_accept},
      {"HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n",
       WebsocketError::bad_accept},
      {"HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Accept: "
       "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
       "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
       WebsocketError::extension},
      {"HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Accept: "
       "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
       "Sec-WebSocket-Protocol: chat\r\n\r\n",
       WebsocketError::protocol},
  };
  for (const Answer& answer : answers) {
    SCOPED_TRACE(answer.text);
    connect();
    receive(answer.text);
    EXPECT_EQ(next().kind, WebsocketEventKind::failed);
    EXPECT_EQ(to_string(client.error()), to_string(answer.error));
    EXPECT_TRUE(client.to_send().empty());
  }
  EXPECT_EQ(client.http_status(), 101);
  connect();
  receive("HTTP/1.1 101 x\r\n" + std::string(8200, 'x'));
  EXPECT_EQ(next().kind, WebsocketEventKind::failed);
  EXPECT_EQ(client.error(), WebsocketError::handshake_too_large);
}

TEST_F(WebsocketTest, a_request_cannot_be_made_to_say_more) {
  EXPECT_FALSE(client.connect({.host = "a\r\nX: y", .path = "/"}));
  EXPECT_FALSE(client.connect({.host = "a", .path = "/ HTTP/1.1\r\n"}));
  EXPECT_FALSE(client.connect({.host = "a", .path = "x"}));
  EXPECT_FALSE(client.connect({.host = "a", .more_headers = "X: y"}));
  EXPECT_FALSE(client.connect({.host = "a", .more_headers = "X: y\r\n\r\nGET / HTTP/1.1\r\n"}));
  EXPECT_TRUE(client.connect({.host = "a", .more_headers = "X: y\r\n"}));
}

TEST_F(WebsocketTest, messages_are_read_where_they_are_with_padding_after_them) {
  open();
  receive(frame(0x81, "hello") + frame(0x82, std::string("\xff\0", 2)) + frame(0x81, ""));
  const WebsocketEvent text = next();
  EXPECT_EQ(text.kind, WebsocketEventKind::text);
  EXPECT_EQ(text.data, "hello");
  EXPECT_GE(text.readable, text.data.size() + WebsocketClient::padding);
  EXPECT_EQ(next().kind, WebsocketEventKind::binary);
  EXPECT_EQ(next().data, "");
  EXPECT_EQ(next().kind, WebsocketEventKind::none);
}

TEST_F(WebsocketTest, fragments_are_one_message_with_control_frames_between_them) {
  open();
  receive(frame(0x01, "hel\xC3") + frame(0x89, "now"));
  EXPECT_EQ(next().kind, WebsocketEventKind::ping);
  EXPECT_EQ(sent(), "10:now");
  receive(frame(0x00, std::string("\xA4", 1)) + frame(0x8A, "") + frame(0x80, "lo"));
  EXPECT_EQ(next().kind, WebsocketEventKind::pong);
  const WebsocketEvent text = next();
  EXPECT_EQ(text.kind, WebsocketEventKind::text);
  EXPECT_EQ(text.data, "hel\xC3\xA4lo");
}

TEST_F(WebsocketTest, what_a_server_must_not_send_fails_with_the_code_of_the_rfc) {
  const std::string protocol{protocol_close};
  expect_failure(frame(0xC1, "x"), WebsocketError::reserved_bits, protocol);
  expect_failure(frame(0x83, "x"), WebsocketError::unknown_opcode, protocol);
  expect_failure(frame(0x8B, "x"), WebsocketError::unknown_opcode, protocol);
  expect_failure(std::string("\x81\x81\0\0\0\0x", 7), WebsocketError::masked, protocol);
  expect_failure(frame(0x09, "x"), WebsocketError::bad_control_frame, protocol);
  expect_failure(frame(0x89, std::string(126, 'x')), WebsocketError::bad_control_frame, protocol);
  expect_failure(std::string("\x81\x7E\x00\x05hello", 9), WebsocketError::bad_length, protocol);
  expect_failure(std::string("\x81\x7F\xFF\0\0\0\0\0\0\0", 10), WebsocketError::bad_length, protocol);
  expect_failure(frame(0x80, "x"), WebsocketError::bad_continuation, protocol);
  expect_failure(frame(0x01, "x") + frame(0x81, "y"), WebsocketError::bad_continuation, protocol);
  expect_failure(frame(0x88, "x"), WebsocketError::bad_close, protocol);
  expect_failure(frame(0x88, "\x03\xED"), WebsocketError::bad_close, protocol);
  expect_failure(frame(0x81, std::string(1001, 'x')), WebsocketError::too_large, "8:\x03\xF1");
  expect_failure(frame(0x01, std::string(600, 'x')) + frame(0x00, std::string(401, 'x')), WebsocketError::too_large,
                 "8:\x03\xF1");
  std::string many = frame(0x01, "");
  for (int i = 0; i < 8; ++i) many += frame(0x00, "");
  expect_failure(many, WebsocketError::too_many_frames, "8:\x03\xF1");
}

TEST_F(WebsocketTest, text_that_is_not_utf8_fails) {
  for (const char* text :
       {"\xFF", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xC3", "abcdefgh\xC3"}) {
    SCOPED_TRACE(text);
    expect_failure(frame(0x81, text), WebsocketError::not_utf8, "8:\x03\xEF");
  }
  open();
  receive(frame(0x81, "\xE2\x82\xAC \xF0\x9F\x98\x80 12345678 \xEF\xBF\xBF"));
  EXPECT_EQ(next().kind, WebsocketEventKind::text);
}

TEST_F(WebsocketTest, what_is_not_ascii_is_found_in_every_place_of_a_text_of_every_length) {
  for (std::size_t size = 2; size <= 50; ++size) {
    for (std::size_t place = 0; place + 2 <= size; ++place) {
      SCOPED_TRACE(std::to_string(place) + " of " + std::to_string(size));
      std::string text(size, 'x');
      text.replace(place, 2, "\xC3\xA9");
      open();
      receive(frame(0x81, text));
      ASSERT_EQ(next().kind, WebsocketEventKind::text);
      text[place + 1] = 'x';
      receive(frame(0x81, text));
      ASSERT_EQ(next().kind, WebsocketEventKind::failed);
    }
  }
}

TEST_F(WebsocketTest, a_close_is_answered_once_and_nothing_follows_it) {
  open();
  receive(frame(0x88, std::string("\x03\xE9") + "bye") + frame(0x81, "late"));
  const WebsocketEvent event = next();
  EXPECT_EQ(event.kind, WebsocketEventKind::closed);
  EXPECT_EQ(event.code, close_code::going_away);
  EXPECT_EQ(event.data, "bye");
  EXPECT_GE(event.readable, event.data.size() + WebsocketClient::padding);
  EXPECT_EQ(sent(), "8:\x03\xE9");
  EXPECT_EQ(client.state(), WebsocketState::closed);
  EXPECT_EQ(next().kind, WebsocketEventKind::none);

  open();
  EXPECT_TRUE(client.close(close_code::normal, "done", mask));
  EXPECT_FALSE(client.close(close_code::normal, "done", mask));
  EXPECT_EQ(sent(),
            "8:\x03\xE8"
            "done");
  // Messages until the server's close frame are still given; a ping is not answered any more.
  receive(frame(0x81, "last") + frame(0x89, "") + frame(0x88, ""));
  EXPECT_EQ(next().data, "last");
  EXPECT_EQ(next().kind, WebsocketEventKind::ping);
  EXPECT_EQ(next().code, close_code::no_code);
  EXPECT_EQ(sent(), "nothing");
}

TEST_F(WebsocketTest, what_does_not_fit_the_output_is_refused_and_pongs_are_counted) {
  open();
  EXPECT_FALSE(client.send_text(std::string(1024, 'x'), mask));
  EXPECT_TRUE(client.send_text(std::string(1000, 'x'), mask));
  receive(frame(0x89, "0123456789012345"));
  EXPECT_EQ(next().kind, WebsocketEventKind::ping);
  EXPECT_EQ(client.pongs_left_out(), 1u);
  client.sent(client.to_send().size());
  EXPECT_TRUE(client.send_text("x", mask));
  EXPECT_EQ(sent(), "1:x");
}

TEST_F(WebsocketTest, messages_are_the_same_however_the_bytes_arrive) {
  std::mt19937_64 random{5};
  std::vector<std::string> messages;
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    std::string text(random() % 1001, static_cast<char>('a' + i % 26));
    messages.push_back(text);
    if (random() % 2 == 0) {
      bytes += frame(0x81, text);
      continue;
    }
    const std::size_t cut = random() % (text.size() + 1);
    bytes += frame(0x01, text.substr(0, cut)) + frame(0x89, "p") + frame(0x80, text.substr(cut));
  }
  open();
  std::size_t got = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::span<char> space = client.space();
    ASSERT_FALSE(space.empty());
    const std::size_t size = std::min({space.size(), bytes.size() - at, std::size_t{1} + random() % 3000});
    std::memcpy(space.data(), bytes.data() + at, size);
    client.received(size);
    at += size;
    for (WebsocketEvent event; (event = next()).kind != WebsocketEventKind::none;) {
      client.sent(client.to_send().size());
      if (event.kind == WebsocketEventKind::ping) continue;
      ASSERT_EQ(event.kind, WebsocketEventKind::text);
      ASSERT_EQ(event.data, messages[got]);
      ++got;
    }
  }
  EXPECT_EQ(got, messages.size());
}

}  // namespace
}  // namespace nfx::market
