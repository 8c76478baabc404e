// Converts TOML values for all keys; errors name the expected value.
#include "config/value.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx::config {

std::string Value::text() const {
  if (const auto* value = node_->as_string()) return value->get();
  throw BadValue("expected a text in quotes");
}

bool Value::boolean() const {
  if (const auto* value = node_->as_boolean()) return value->get();
  throw BadValue("expected true or false");
}

std::int64_t Value::integer(std::int64_t least, std::int64_t most) const {
  NFX_ASSERT(least <= most);
  const auto* value = node_->as_integer();
  if (value != nullptr && value->get() >= least && value->get() <= most) return value->get();
  throw BadValue("expected an integer from " + std::to_string(least) + " to " + std::to_string(most));
}

Endpoint Value::endpoint() const {
  if (const auto* value = node_->as_string()) {
    if (auto endpoint = Endpoint::parse(value->get())) return *std::move(endpoint);
  }
  throw BadValue("expected an address such as \"127.0.0.1:9878\" or \"[::1]:9878\"");
}

std::vector<Endpoint> Value::endpoints() const {
  const auto* list = node_->as_array();
  if (list == nullptr) return {endpoint()};
  std::vector<Endpoint> result;
  for (const toml::node& each : *list) result.push_back(Value{each, *secrets_}.endpoint());
  if (result.empty()) throw BadValue("expected at least one address");
  NFX_ASSERT(result.size() == list->size());
  return result;
}

Secret Value::secret() const {
  if (const auto* value = node_->as_string()) return secret_of(value->get());
  throw BadValue("expected a text in quotes");
}

std::vector<std::string> Value::texts() const {
  const auto* list = node_->as_array();
  if (list == nullptr) return {text()};
  std::vector<std::string> result;
  for (const toml::node& each : *list) result.push_back(Value{each, *secrets_}.text());
  return result;
}

}  // namespace nfx::config
