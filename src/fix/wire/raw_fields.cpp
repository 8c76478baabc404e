// One field after the other, as a receiver divides them.
#include "wire/raw_fields.hpp"

#include <charconv>

namespace nfx {
namespace {

struct FieldStart {
  Tag tag{};                          // 0: no tag
  const char* value_begin = nullptr;  // null: no '=' after it
};

FieldStart start_of(const char* at, const char* end) noexcept {
  if (at == end || *at < '1' || *at > '9') return {};
  std::int32_t number = 0;
  const auto [after, error] = std::from_chars(at, end, number);
  if (error != std::errc{}) return {};
  return {Tag{number}, after != end && *after == '=' ? after + 1 : nullptr};
}

}  // namespace

WriteFault fault_of_fields(std::string_view fields) noexcept {
  const char* at = fields.data();
  const char* const end = at + fields.size();
  Tag data_tag{};
  std::size_t data_size = 0;
  while (at != end) {
    const auto [tag, value_begin] = start_of(at, end);
    if (value_begin == nullptr) return {WriteError::bad_tag, tag};
    if (is_written_by_session(tag)) return {WriteError::header_field, tag};
    const auto left = static_cast<std::size_t>(end - value_begin);
    std::size_t size = 0;
    if (data_tag != Tag{} && tag == data_tag) {
      size = data_size;
      if (size >= left || value_begin[size] != soh) return {WriteError::bad_value, tag};
    } else {
      size = std::string_view{value_begin, left}.find(soh);
      if (size == std::string_view::npos) return {WriteError::incomplete, tag};
    }
    if (size == 0) return {WriteError::empty_value, tag};
    data_tag = data_tag_of(tag);
    if (data_tag != Tag{}) {
      const auto [after, error] = std::from_chars(value_begin, value_begin + size, data_size);
      if (error != std::errc{} || after != value_begin + size) return {WriteError::bad_value, tag};
    }
    at = value_begin + size + 1;
  }
  return {};
}

}  // namespace nfx
