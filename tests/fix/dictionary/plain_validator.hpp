// The rules of nexusfix/dictionary/validator.hpp, written to be read: values are checked a character at a time, members
// are searched one after the other, and every field takes the same way. What validate() has to agree with.
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
