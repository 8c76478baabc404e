// Fuzz target for the bytes that a client sends to the venue of `nfx market publish`: a request, then frames. Requires
// that events are the same however the bytes arrive, and that shown text is within its bound.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz_target.hpp"
#include "nexusfix/base/assert.hpp"
#include "publish/websocket_peer.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 10000};

namespace nfx::market {
namespace {

constexpr std::string_view request =
    "GET /stream?streams=a@depth HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

// All events up to the first failure.
std::string run(std::string_view bytes, std::size_t step, bool opened) {
  WebsocketPeer peer;
  if (opened) peer.received(request);
  std::string log;
  while (!bytes.empty()) {
    peer.received(bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
    std::string_view data;
    for (WebsocketPeerEvent event; (event = peer.next(data)) != WebsocketPeerEvent::none;) {
      log += std::to_string(static_cast<int>(event)) + ":";
      if (event == WebsocketPeerEvent::failed) return log;
      NFX_REQUIRE(data.size() <= WebsocketPeer::frame_max);
      log += data;
      log += ";";
    }
  }
  return log;
}

}  // namespace
}  // namespace nfx::market

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = nfx::fuzz::text_of(data, size);
  for (const bool opened : {true, false}) {
    const std::string at_once = nfx::market::run(bytes, bytes.size() + 1, opened);
    NFX_REQUIRE(at_once == nfx::market::run(bytes, 1, opened));
    NFX_REQUIRE(at_once == nfx::market::run(bytes, 7, opened));
  }
  return 0;
}
