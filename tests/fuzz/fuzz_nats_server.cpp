// Fuzz target for the bytes of a nats-server. Requires that the check is the same however the bytes arrive, and that it
// accepts no line and no message beyond its bounds: libnats allocates the size that a line states.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz_target.hpp"
#include "nats/server_bytes.hpp"
#include "nexusfix/base/assert.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 10000};

namespace nfx::nats {
namespace {

bool run(std::string_view bytes, std::size_t step) {
  ServerBytes check;
  bool good = true;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const bool now = check.take(bytes.substr(at, step));
    NFX_REQUIRE(good || !now);
    good = now;
  }
  return good;
}

// The sizes that libnats reads in the line of a message.
void require_bounds(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find("\r\n");
    if (end == std::string_view::npos) return;
    const std::string_view line = bytes.substr(0, end);
    NFX_REQUIRE(line.size() < ServerBytes::info_max);
    bytes.remove_prefix(end + 2);
    if (!line.starts_with("MSG ") && !line.starts_with("HMSG ")) continue;
    if (line.ends_with(' ') || line.ends_with('\t')) return;
    std::size_t size = 0;
    for (const char c : line.substr(line.find_last_of(" \t") + 1)) size = size * 10 + static_cast<std::size_t>(c - '0');
    NFX_REQUIRE(size <= ServerBytes::message_max);
    if (bytes.size() < size + 2) return;
    NFX_REQUIRE(bytes.substr(size, 2) == "\r\n");
    bytes.remove_prefix(size + 2);
  }
}

}  // namespace
}  // namespace nfx::nats

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = nfx::fuzz::text_of(data, size);
  const bool good = nfx::nats::run(bytes, bytes.size() + 1);
  NFX_REQUIRE(good == nfx::nats::run(bytes, 1));
  NFX_REQUIRE(good == nfx::nats::run(bytes, 7));
  if (good) nfx::nats::require_bounds(bytes);
  return 0;
}
