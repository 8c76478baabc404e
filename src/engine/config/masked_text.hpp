// Replaces the secrets in the text of a configuration by names, because parsers leave copies of their input in ordinary
// memory. Equal secrets have equal names as long as the process runs, so that two texts can be compared. Masked:
// `password` and the secret fields of `logon_fields`, if they are printable ASCII in quotes on one line; in QuickFIX
// settings LogonTag and keys with "Password". All other text is unchanged.
// Thread: values. Errors: none; the parser reports invalid TOML.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/secret.hpp"

namespace nfx::config {

class Secrets {
 public:
  // Adds a secret, and returns the name that represents it from now on.
  [[nodiscard]] std::string add(std::string_view text);
  // Returns the secret if `text` is its name, otherwise the text itself.
  [[nodiscard]] Secret of(std::string_view text) const;

 private:
  std::map<std::string, Secret, std::less<>> by_name_;
};

struct MaskedText {
  std::string text;
  Secrets secrets;

  // Converts a column in the masked text, as the parser reports it, to the original column.
  [[nodiscard]] std::size_t original_column(std::size_t line, std::size_t column) const noexcept;

  struct Longer {
    std::size_t line, column;  // from here on
    std::ptrdiff_t by;
  };
  std::vector<Longer> longer;
};

// Names already in the text are kept, so that a masked text can be masked again.
[[nodiscard]] MaskedText mask_toml(std::string_view toml);
[[nodiscard]] MaskedText mask_quickfix(std::string_view text);
// Masks a text of either format; clears `text`.
[[nodiscard]] MaskedText mask(std::string& text);

}  // namespace nfx::config
