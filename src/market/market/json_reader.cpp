// Reads messages by the scan, and by simdjson what the scan leaves.
#include <stdexcept>

#include "base/text.hpp"
#include "market/json_fields.hpp"
#include "market/json_message.hpp"

#ifdef NFX_WITH_SIMDJSON

#include <simdjson.h>

#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "nexusfix/base/assert.hpp"

namespace nfx::market {
namespace {

static_assert(json_padding >= simdjson::SIMDJSON_PADDING);

namespace ondemand = simdjson::ondemand;

class Reader final : public JsonReader {
 public:
  explicit Reader(const JsonLimits& limits) : limits_(limits), fields_(limits.levels) {
    copy_.resize(limits.message_size + json_padding);
    if (parser_.allocate(limits.message_size) != simdjson::SUCCESS) throw std::bad_alloc{};
  }

  JsonError read(const JsonBytes& bytes, JsonMessage& out) noexcept override {
    if (scan_json(bytes, fields_)) [[likely]]
      return bytes.size <= limits_.message_size ? fields_.interpret(out) : refuse(JsonError::too_large, out);
    ++slow_;
    return read_slowly(bytes, out);
  }

  JsonError read_slowly(const JsonBytes& bytes, JsonMessage& out) noexcept override {
    fields_.clear();
    if (bytes.size > limits_.message_size) return refuse(JsonError::too_large, out);
    // For wrong JSON, simdjson's error depends on the bytes after it, which differ between live and replay.
    if (bytes.size != 0) std::memcpy(copy_.data(), bytes.data, bytes.size);
    std::memset(copy_.data() + bytes.size, 0, json_padding);
    ondemand::document document;
    ondemand::object object;
    if (parser_.iterate(simdjson::padded_string_view(copy_.data(), bytes.size, copy_.size())).get(document) ||
        document.get_object().get(object)) {
      return refuse(JsonError::not_json, out);
    }
    JsonError error = read_object(object, false);
    // Bytes after the object.
    if (error == JsonError::none && document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
      error = JsonError::not_json;
    }
    const JsonError meaning = fields_.interpret(out);
    // The symbol is of use with an error too.
    return error != JsonError::none ? error : meaning;
  }

 private:
  static JsonError refuse(JsonError error, JsonMessage& out) noexcept {
    out = JsonMessage{};
    return error;
  }

  JsonError read_object(ondemand::object& object, bool nested) noexcept {
    for (auto item : object) {
      ondemand::field field;
      std::string_view name;
      if (std::move(item).get(field) || field.unescaped_key().get(name)) return JsonError::not_json;
      const JsonKey key = json_key(name);
      if (key == JsonKey::other) continue;
      ondemand::value value = field.value();
      JsonError error = JsonError::none;
      if (key == JsonKey::data && !nested) {
        ondemand::object inner;
        if (!fields_.set(key, JsonType::rest, {})) return JsonError::repeated_key;
        if (value.get_object().get(inner)) return JsonError::not_json;
        error = read_object(inner, true);
      } else {
        error = read_value(key, value);
      }
      if (error != JsonError::none) return error;
    }
    return JsonError::none;
  }

  JsonError read_value(JsonKey key, ondemand::value& value) noexcept {
    ondemand::json_type type{};
    if (value.type().get(type)) return JsonError::not_json;
    std::string_view text;
    JsonType kind = JsonType::rest;
    switch (type) {
      case ondemand::json_type::string:
        if (value.get_string().get(text)) return JsonError::not_json;
        kind = JsonType::text;
        break;
      case ondemand::json_type::number: {
        double ignored = 0;
        text = trimmed(value.raw_json_token());  // which reaches to the next one
        // A number of any other shape is checked, and refused where it is used.
        if (!plain(text) && value.get_double().get(ignored)) return JsonError::not_json;
        kind = JsonType::number;
        break;
      }
      case ondemand::json_type::boolean: {
        bool is_true = false;
        if (value.get_bool().get(is_true)) return JsonError::not_json;
        text = is_true ? "true" : "false";
        kind = JsonType::boolean;
        break;
      }
      case ondemand::json_type::array: return read_levels(key, value);
      case ondemand::json_type::object: break;
      case ondemand::json_type::null: {
        bool is_null = false;
        if (simdjson::simdjson_result<bool>(value.is_null()).get(is_null) || !is_null) return JsonError::not_json;
        break;
      }
    }
    return fields_.set(key, kind, text) ? JsonError::none : JsonError::repeated_key;
  }

  JsonError read_levels(JsonKey key, ondemand::value& value) noexcept {
    const bool has_levels = key == JsonKey::b || key == JsonKey::a || key == JsonKey::bids || key == JsonKey::asks;
    if (!fields_.set(key, has_levels ? JsonType::levels : JsonType::rest, {})) return JsonError::repeated_key;
    if (!has_levels) return JsonError::none;
    ondemand::array levels;
    if (value.get_array().get(levels)) return JsonError::not_json;
    const std::size_t begin = fields_.level_count();
    for (auto item : levels) {
      ondemand::array level;
      if (const auto error = item.get_array().get(level)) {
        return error == simdjson::INCORRECT_TYPE ? JsonError::wrong_type : JsonError::not_json;
      }
      std::string_view parts[2];
      std::size_t count = 0;
      for (auto part : level) {
        if (count == 2) return JsonError::wrong_type;
        if (const auto error = part.get_string().get(parts[count++])) {
          return error == simdjson::INCORRECT_TYPE ? JsonError::wrong_type : JsonError::not_json;
        }
      }
      if (count != 2) return JsonError::wrong_type;
      if (const JsonError error = fields_.add_level(parts[0], parts[1]); error != JsonError::none) return error;
    }
    fields_.end_levels(key, begin);
    return JsonError::none;
  }

  // A whole number without a sign, as JSON has it.
  static bool plain(std::string_view text) noexcept {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos &&
           (text[0] != '0' || text.size() == 1);
  }

  JsonLimits limits_;
  JsonFields fields_;
  ondemand::parser parser_;
  std::vector<char> copy_;
};

}  // namespace

std::unique_ptr<JsonReader> make_json_reader(const JsonLimits& limits) {
  NFX_REQUIRE(limits.message_size >= 1 && limits.message_size <= 1u << 30);
  return std::make_unique<Reader>(limits);
}

bool has_json_reader() noexcept { return true; }

}  // namespace nfx::market

#else

namespace nfx::market {

std::unique_ptr<JsonReader> make_json_reader(const JsonLimits&) {
  throw std::runtime_error("built without simdjson: install the package libsimdjson-dev and build again");
}

bool has_json_reader() noexcept { return false; }

}  // namespace nfx::market

#endif
