// Which fields no log and no screen may show: the one list of them. Cost: some compares.
#pragma once

#include "nexusfix/base/tag.hpp"

namespace nfx {

// Passwords and whatever may carry one: RawData(96) does in Logons of many venues.
[[nodiscard]] constexpr bool is_secret(Tag tag) noexcept {
  return tag == Tag::Password || tag == Tag::NewPassword || tag == Tag::RawData || tag == Tag::EncryptedPassword ||
         tag == Tag{1404};
}

// What stands where a secret stood.
inline constexpr const char* masked_text = "***";

}  // namespace nfx
