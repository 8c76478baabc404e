// Fuzz target for the bytes of a websocket server, during the handshake and after it. Requires that events and sent
// bytes are the same however the bytes arrive, and that messages are within their bounds.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "fuzz_target.hpp"
#include "market/websocket.hpp"
#include "nexusfix/base/assert.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 10000};

namespace nfx::market {
namespace {

constexpr WebsocketOptions options{.message_size = 256, .handshake_size = 512, .output_size = 8192, .frames = 4};
constexpr std::string_view answer =
    "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

// All events, and everything that the client sent.
std::string run(WebsocketClient& client, std::string_view bytes, std::size_t step, bool opened) {
  WebsocketRequest request{.host = "a"};
  std::memcpy(request.key.data(), "the sample nonce", 16);
  NFX_REQUIRE(client.connect(request));
  client.sent(client.to_send().size());
  std::string log;
  const auto receive = [&](std::string_view part) {
    while (!part.empty()) {
      const std::span<char> space = client.space();
      const std::size_t size = std::min({space.size(), part.size(), step});
      if (size == 0) return;
      std::memcpy(space.data(), part.data(), size);
      client.received(size);
      part.remove_prefix(size);
      for (WebsocketEvent event; (event = client.next({5, 6, 7, 8})).kind != WebsocketEventKind::none;) {
        NFX_REQUIRE(event.data.size() <= options.message_size);
        NFX_REQUIRE(event.data.empty() || event.readable >= event.data.size() + WebsocketClient::padding);
        log += std::to_string(static_cast<int>(event.kind)) + ":" + std::to_string(event.code) + ":";
        log += event.data;
        log += ";";
      }
    }
  };
  if (opened) receive(answer);
  receive(bytes);
  log += to_string(client.error());
  log += client.to_send();
  return log;
}

}  // namespace
}  // namespace nfx::market

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static nfx::market::WebsocketClient client{nfx::market::options};
  const std::string_view bytes = nfx::fuzz::text_of(data, size);
  for (const bool opened : {true, false}) {
    const std::string at_once = nfx::market::run(client, bytes, 4096, opened);
    NFX_REQUIRE(at_once == nfx::market::run(client, bytes, 1, opened));
    NFX_REQUIRE(at_once == nfx::market::run(client, bytes, 7, opened));
  }
  return 0;
}
