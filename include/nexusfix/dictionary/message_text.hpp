// A message as one line with the names of fields and values, which a generated names.hpp has: docs/codegen.md.
// Thread: any, no state. Cost: a search per field and an allocation as the text grows; not for the hot path.
#pragma once

#include <concepts>
#include <span>
#include <string>
#include <string_view>

#include "nexusfix/base/tag.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::generated {

struct NamedValue {
  std::string_view value;  // as on the wire
  std::string_view name;
};
struct NamedField {
  Tag tag{};
  std::string_view name;
  std::span<const NamedValue> values;
};
struct MessageNames {
  std::span<const NamedValue> messages;  // by MsgType
  std::span<const NamedField> fields;    // in ascending order of tags
};

// "NewOrderSingle | ClOrdID(11)=A1 | Side(54)=1 (BUY) | ...": fields in their order, without BeginString, BodyLength,
// MsgType and CheckSum. Passwords are ***, and what is not printable is \xNN. A tag or a value without a name stays a
// number.
[[nodiscard]] std::string message_text(const MessageView& message, const MessageNames& names);

}  // namespace nfx::generated
