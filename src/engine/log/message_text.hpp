// Formats a message for a log: one line, with secrets masked.
// Thread: any, no state. Cost: one pass, and an allocation if `out` must grow; for the worker of a log, not for a hot
// path.
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
  bar,  // '|' for SOH, and \xNN for bytes that are not printable UTF-8: for people
  raw,  // unchanged bytes, except newlines as \x0a: for programs
};

struct MessageTextOptions {
  Separator separator = Separator::bar;
  bool show_secrets = false;
};

// Appends `message`, which may be cut short or not be FIX at all. The values of secret fields (wire/secret_fields.hpp)
// become ***. For data fields, the mask covers as many bytes as their length says, or the rest of the message if the
// length is wrong. Text after a secret that is not a field (a password with SOH in it) counts as part of the secret.
void append_message_text(std::string& out, std::string_view message, MessageTextOptions options);

// Overwrites the same values with as many asterisks, so that lengths and offsets do not change.
void mask_secrets(std::span<char> message) noexcept;

struct ShownField {
  Tag tag{};          // 0: bytes between two SOH that are not a field
  std::string value;  // printable
};

// The same, field by field.
[[nodiscard]] std::vector<ShownField> shown_fields(std::string_view message, bool show_secrets = false);

}  // namespace nfx
