// One value of a TOML file. Errors: BadValue, which names what was expected.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <toml++/toml.h>

#include "nexusfix/transport/transport.hpp"

namespace nfx::config {

// What was expected instead of a value: "expected an integer from 0 to 9".
class BadValue : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Read access to one value.
class Value {
 public:
  explicit Value(const toml::node& node) noexcept : node_(&node) {}

  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] Endpoint endpoint() const;
  [[nodiscard]] std::vector<Endpoint> endpoints() const;  // one text or a list of them
  [[nodiscard]] std::vector<std::string> texts() const;   // the same

 private:
  const toml::node* node_;
};

}  // namespace nfx::config
