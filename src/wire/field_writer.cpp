#include "nexusfix/wire/field_writer.hpp"

#include <algorithm>
#include <charconv>

namespace nfx {
namespace {

constexpr std::size_t max_number_size = 20;  // "-9223372036854775808"

}  // namespace

char* FieldWriter::open(Tag tag, std::size_t size) noexcept {
  if (!ok_) return nullptr;
  char text[max_number_size];
  const auto tag_size = static_cast<std::size_t>(std::to_chars(text, text + sizeof text, nfx::value(tag)).ptr - text);
  const auto room = static_cast<std::size_t>(end_ - at_);
  // In this order nothing can overflow, however large `size` is.
  if (room < tag_size + 2 || room - tag_size - 2 < size) {
    ok_ = false;
    return nullptr;
  }
  std::memcpy(at_, text, tag_size);
  at_[tag_size] = '=';
  return at_ + tag_size + 1;
}

FieldWriter& FieldWriter::append(Tag tag, std::string_view text) noexcept {
  char* out = open(tag, text.size());
  if (out == nullptr) return *this;
  if (!text.empty()) {
    if (std::memchr(text.data(), soh, text.size()) != nullptr) {
      ok_ = false;
      return *this;
    }
    std::memcpy(out, text.data(), text.size());
    out += text.size();
  }
  *out++ = soh;
  at_ = out;
  return *this;
}

FieldWriter& FieldWriter::append(Tag tag, Decimal value) noexcept {
  char text[Decimal::max_text_size];
  return append(tag, std::string_view{text, value.write(text)});
}

FieldWriter& FieldWriter::append(Tag tag, UtcTime time, unsigned fraction_digits) noexcept {
  char text[max_utc_timestamp_size];
  return append(tag, std::string_view{text, write_utc_timestamp(text, time, fraction_digits)});
}

FieldWriter& FieldWriter::append_signed(Tag tag, std::int64_t value) noexcept {
  char text[max_number_size];
  const char* const end = std::to_chars(text, text + sizeof text, value).ptr;
  return append(tag, std::string_view{text, static_cast<std::size_t>(end - text)});
}

FieldWriter& FieldWriter::append_unsigned(Tag tag, std::uint64_t value) noexcept {
  char text[max_number_size];
  const char* const end = std::to_chars(text, text + sizeof text, value).ptr;
  return append(tag, std::string_view{text, static_cast<std::size_t>(end - text)});
}

FieldWriter& FieldWriter::append_data(Tag length_tag, Tag data_tag, std::string_view data) noexcept {
  char* const before = at_;
  append_unsigned(length_tag, data.size());
  char* out = open(data_tag, data.size());
  if (out == nullptr) {
    at_ = before;  // never a length without its data
    return *this;
  }
  out = std::copy(data.begin(), data.end(), out);
  *out++ = soh;
  at_ = out;
  return *this;
}

FieldWriter& FieldWriter::append_raw(std::string_view fields) noexcept {
  if (!ok_ || fields.empty()) return *this;
  if (fields.back() != soh || static_cast<std::size_t>(end_ - at_) < fields.size()) {
    ok_ = false;
    return *this;
  }
  at_ = std::copy(fields.begin(), fields.end(), at_);
  return *this;
}

}  // namespace nfx
