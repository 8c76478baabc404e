// The rules of nexusfix/dictionary/validator.hpp in readable form: values are checked a character at a time, members
// are searched one after the other, and every field is handled the same way. validate() must agree with it.
#pragma once

#include <optional>
#include <vector>

#include "nexusfix/dictionary/validator.hpp"

namespace nfx::dictionary_test {

struct PlainVerdict {
  std::optional<Violation> rejected;
  std::vector<Violation> tolerated;

  friend bool operator==(const PlainVerdict&, const PlainVerdict&) = default;
};

[[nodiscard]] PlainVerdict validate_plainly(const MessageView& message, const Dictionary& dictionary,
                                            const ValidationPolicy& policy);

}  // namespace nfx::dictionary_test
