// Replaces the secrets in the text of a configuration by names, because parsers leave copies of what they read in
// ordinary memory. Equal secrets have equal names as long as the process runs, so that two texts can be compared.
// Masked: `password` and the secret fields of `logon_fields`, where they are printable ASCII in quotes on one line; in
// QuickFIX settings LogonTag and keys with "Password". All other text stays as it is.
// Thread: values. Errors: none; the parser reports what is no TOML.
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
  // The name that stands for the text from now on.
  [[nodiscard]] std::string add(std::string_view text);
  // A text, or the secret that it is the name of.
  [[nodiscard]] Secret of(std::string_view text) const;

 private:
  std::map<std::string, Secret, std::less<>> by_name_;
};

struct MaskedText {
  std::string text;
  Secrets secrets;

  // Where something is that a parser has found in the masked text.
  [[nodiscard]] std::size_t original_column(std::size_t line, std::size_t column) const noexcept;

  struct Longer {
    std::size_t line, column;  // from here on
    std::ptrdiff_t by;
  };
  std::vector<Longer> longer;
};

// Names that are in a text already stay, so that a masked text may be masked again.
[[nodiscard]] MaskedText mask_toml(std::string_view toml);
[[nodiscard]] MaskedText mask_quickfix(std::string_view text);
// Of either format; clears `text`.
[[nodiscard]] MaskedText mask(std::string& text);

}  // namespace nfx::config
