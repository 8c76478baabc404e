// Writes JSON text piece by piece; commas, quotes and escapes are its business.
// Thread: one owner. Errors: none; the caller closes what it opens.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nfx::bench {

class Json {
 public:
  Json& begin_object() { return open('{'); }
  Json& end_object() { return close('}'); }
  Json& begin_array() { return open('['); }
  Json& end_array() { return close(']'); }
  Json& key(std::string_view name);

  Json& value(std::string_view text);
  Json& value(const char* text) { return value(std::string_view{text}); }
  Json& value(double number);  // null unless finite
  Json& value(bool truth);
  Json& value(std::unsigned_integral auto number) { return raw(std::to_string(number)); }

  template <typename Value>
  Json& member(std::string_view name, const Value& what) {
    return key(name).value(what);
  }

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  Json& open(char bracket);
  Json& close(char bracket);
  Json& raw(std::string_view text);
  void quote(std::string_view text);
  void separate();

  std::string text_;
  std::vector<bool> has_elements_{false};
  bool after_key_ = false;
};

}  // namespace nfx::bench
