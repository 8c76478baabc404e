// Fuzz target for an HTTP server's answer to a request for a snapshot. Requires that the result is the same however the
// bytes arrive, and that the body is within its bound.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz_target.hpp"
#include "market/http_answer.hpp"
#include "nexusfix/base/assert.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 10000};

namespace nfx::market {
namespace {

constexpr HttpLimits limits{.head = 256, .body = 128};

std::string run(HttpAnswer& answer, std::string_view bytes, std::size_t step) {
  answer.begin();
  for (std::size_t at = 0; at < bytes.size(); at += step) answer.received(bytes.substr(at, step));
  std::string log = std::to_string(static_cast<int>(answer.state())) + ":";
  if (answer.ended() == HttpState::complete) {
    NFX_REQUIRE(answer.body().size <= limits.body && answer.status() >= 0 && answer.status() <= 999);
    log += std::to_string(answer.status()) + ":";
    log += answer.body().text();
  }
  return log;
}

}  // namespace
}  // namespace nfx::market

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static nfx::market::HttpAnswer answer{nfx::market::limits};
  const std::string_view bytes = nfx::fuzz::text_of(data, size);
  const std::string at_once = nfx::market::run(answer, bytes, bytes.size() + 1);
  NFX_REQUIRE(at_once == nfx::market::run(answer, bytes, 1));
  NFX_REQUIRE(at_once == nfx::market::run(answer, bytes, 7));
  return 0;
}
