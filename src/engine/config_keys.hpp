// The keys of a configuration file: one row each, with how its value is read, its default and what it means.
// parse_config applies them, config_reference prints them; there is no other list.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include <toml++/toml.h>

#include "nexusfix/engine/engine_config.hpp"

namespace nfx::config {

// What is wrong with a value, and what would be right: "expected an integer from 0 to 9".
class BadValue : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Read access to one value that complains in words.
class Value {
 public:
  explicit Value(const toml::node& node) noexcept : node_(&node) {}

  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] Endpoint endpoint() const;
  [[nodiscard]] std::vector<Endpoint> endpoints() const;  // one text or a list of them

 private:
  const toml::node* node_;
};

// A session as the file describes it; the dictionary is loaded when all keys are known.
struct SessionDraft {
  SessionSettings settings;
  std::string dictionary;  // file name, "none", or empty for the one that fits begin_string
};

template <class Target>
struct Key {
  std::string_view name;
  std::string_view kind;
  void (*read)(Target&, const Value&);
  std::string (*show)(const Target&);  // a default-made target's value, as it would stand in the file
  std::string_view meaning;
};

[[nodiscard]] std::span<const Key<EngineConfig>> engine_keys() noexcept;
[[nodiscard]] std::span<const Key<SessionDraft>> session_keys() noexcept;

}  // namespace nfx::config
