// A message as a log shows it: one line, secrets masked. Thread: any, no state. Cost: one pass and an allocation when
// `out` must grow; for the worker of a log, not for a hot path.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/language.hpp"
#include "nexusfix/base/tag.hpp"

namespace nfx {

enum class Separator : std::uint8_t {
  bar,  // '|' for SOH, and whatever is not printable UTF-8 as \xNN: for people
  raw,  // the bytes as they were, but line feeds as \x0a: for programs
};

struct MessageTextOptions {
  Separator separator = Separator::bar;
  bool show_secrets = false;
};

// Appends `message`, which may be cut short or no FIX at all. The values of secret fields (wire/secret_fields.hpp)
// become ***; of data fields as many bytes as their length states, and everything to the end of the message when that
// leads nowhere. What follows a secret and is not a field (a password with SOH in it) is taken for more of it.
void append_message_text(std::string& out, std::string_view message, MessageTextOptions options);

// Overwrites the same values with as many asterisks, so that lengths and places stay.
void mask_secrets(std::span<char> message) noexcept;

struct ShownField {
  Tag tag{};          // 0: bytes between two SOH that are not a field
  std::string value;  // printable
};

// The same field by field, with the same values masked.
[[nodiscard]] std::vector<ShownField> shown_fields(std::string_view message, bool show_secrets = false);

}  // namespace nfx
