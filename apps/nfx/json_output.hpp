// JSON documents that commands print.
// Thread: any. Cost: allocates. Errors: none; bytes that are not UTF-8 are replaced.
#pragma once

#include <nlohmann/json.hpp>

#include "log/print.hpp"

namespace nfx::app {

using Json = nlohmann::ordered_json;

// One line of printable ASCII.
[[nodiscard]] inline SafeText json_line(const Json& json) {
  SafeText out;
  out += json.dump(-1, ' ', true, Json::error_handler_t::replace);
  out += '\n';
  return out;
}

// null where there is none.
template <class Value>
[[nodiscard]] Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json{};
}

}  // namespace nfx::app
