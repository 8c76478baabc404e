// The keys of the QuickFIX engines, and the conversion of each value to a NexusFIX setting. There is no other list.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "config/quickfix_settings.hpp"

namespace nfx::quickfix {

// The conversion of a value. `special` values depend on other keys of the session; the translation handles them by
// name.
enum class Conversion : std::uint8_t {
  none,             // ignored or refused
  special,          // has code of its own
  text,             // unchanged
  flag,             // Y true, N false
  inverted_flag,    // Y false, N true
  count,            // an integer, 0 included
  seconds,          // an integer; QuickFIX/Go also writes "10s" or "1m30s"
  strict_when_no,   // N strict, Y lenient
  strict_when_yes,  // Y strict, N lenient
  tls_option        // the TLS option with the name of the first NexusFIX key
};

enum class Side : std::uint8_t { both, initiator, acceptor };

struct KeyRow {
  QuickFixKey key;
  Conversion conversion = Conversion::none;
  Side side = Side::both;
  std::string_view harmless = {};  // for ignored or refused keys: this value causes no warning or error
  bool tls = false;                // ignored if TLS is turned off
};

// Used instead of engine names, for keys that exist only in NexusFIX.
inline constexpr std::string_view ours_only = "NexusFIX";

[[nodiscard]] std::span<const KeyRow> key_rows();

// The row for a key of a file, ignoring case; null if no QuickFIX engine has the key.
[[nodiscard]] const KeyRow* find_key(std::string_view name);

// All names, for suggestions.
[[nodiscard]] const std::vector<std::string_view>& key_names();

// Compares keys, ignoring case.
[[nodiscard]] bool same_key(std::string_view a, std::string_view b) noexcept;
// Orders names as same_key() compares them.
struct KeyOrder {
  bool operator()(std::string_view a, std::string_view b) const noexcept {
    return std::ranges::lexicographical_compare(a, b, {}, lower, lower);
  }
};
[[nodiscard]] bool starts_with_key(std::string_view text, std::string_view prefix) noexcept;

// The number after `prefix`: 3 for "SocketConnectHost3"; 0 without one; none for another key.
[[nodiscard]] std::optional<std::size_t> numbered(std::string_view name, std::string_view prefix) noexcept;

}  // namespace nfx::quickfix
