// One value of a TOML file. Errors: BadValue, which names what was expected.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <toml++/toml.h>

#include "config/masked_text.hpp"
#include "transport/transport.hpp"

namespace nfx::config {

// The value that was expected: "expected an integer from 0 to 9".
class BadValue : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Read access to one value.
class Value {
 public:
  // `secrets` belong to the masked text.
  Value(const toml::node& node, const Secrets& secrets) noexcept : node_(&node), secrets_(&secrets) {}

  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] Endpoint endpoint() const;
  [[nodiscard]] std::vector<Endpoint> endpoints() const;  // one text or a list of them
  [[nodiscard]] std::vector<std::string> texts() const;   // one text or a list of them
  [[nodiscard]] Secret secret() const;
  // Returns the secret if `text` is its name, otherwise the text itself.
  [[nodiscard]] Secret secret_of(std::string_view text) const { return secrets_->of(text); }

 private:
  const toml::node* node_;
  const Secrets* secrets_;
};

}  // namespace nfx::config
