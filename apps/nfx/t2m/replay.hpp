// How a recording of a run states what it is of: "t2m itch 4 1767571200000000000".
// Thread: any, values. Errors: nothing for another text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "t2m/messages.hpp"

namespace nfx::app::t2m {

[[nodiscard]] std::string describe(const MessageOptions& messages, UtcTime midnight);

struct Described {
  FeedKind feed{};
  std::uint16_t names = 0;
  UtcTime midnight{};
};
[[nodiscard]] std::optional<Described> read_description(std::string_view text);

}  // namespace nfx::app::t2m
