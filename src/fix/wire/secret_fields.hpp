// The only list of fields that no log and no tool may show. Cost: a few compares.
#pragma once

#include "nexusfix/base/tag.hpp"

namespace nfx {

// Passwords and fields that may contain one: RawData(96) does in the Logons of many venues.
[[nodiscard]] constexpr bool is_secret(Tag tag) noexcept {
  return tag == Tag::Password || tag == Tag::NewPassword || tag == Tag::RawData || tag == Tag::EncryptedPassword ||
         tag == Tag{1404};
}

// Shown in place of a secret.
inline constexpr const char* masked_text = "***";

}  // namespace nfx
