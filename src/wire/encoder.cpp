#include "nexusfix/wire/encoder.hpp"

#include <charconv>
#include <cstring>

#include "kernels/kernels.hpp"

namespace nfx {
namespace {

constexpr std::size_t max_begin_string_size = 16;
constexpr std::size_t max_body_length_digits = 7;
constexpr std::size_t max_body_length = 9'999'999;
static_assert(2 + max_begin_string_size + 1 + 2 + max_body_length_digits + 1 <= Encoder::prefix_size);

}  // namespace

Encoder::Encoder(std::span<char> buffer) noexcept
    : buffer_(buffer),
      fields_(std::span<char>{}),
      trailer_room_(buffer.size() < prefix_size + trailer_size ? 0 : trailer_size) {}

void Encoder::begin(std::string_view begin_string, std::string_view msg_type) noexcept {
  begin_string_ = begin_string;
  fields_ = trailer_room_ == 0
                ? FieldWriter{std::span<char>{}}
                : FieldWriter{buffer_.subspan(prefix_size, buffer_.size() - prefix_size - trailer_room_)};
  fields_.append(Tag::MsgType, msg_type);
}

std::string_view Encoder::finish() noexcept {
  const std::string_view body = fields_.view();
  if (!fields_.ok() || body.empty() || body.size() > max_body_length) return {};
  if (begin_string_.empty() || begin_string_.size() > max_begin_string_size ||
      begin_string_.find(soh) != std::string_view::npos) {
    return {};
  }
  // The prefix is as long as it needs to be and ends right where the fields begin.
  char prefix[prefix_size];
  char* at = prefix;
  *at++ = '8';
  *at++ = '=';
  std::memcpy(at, begin_string_.data(), begin_string_.size());
  at += begin_string_.size();
  *at++ = soh;
  *at++ = '9';
  *at++ = '=';
  at = std::to_chars(at, prefix + sizeof prefix, body.size()).ptr;
  *at++ = soh;
  const auto used = static_cast<std::size_t>(at - prefix);
  char* const message = buffer_.data() + prefix_size - used;
  std::memcpy(message, prefix, used);

  const std::size_t summed = used + body.size();
  write_check_sum_field(message + summed, check_sum({message, summed}));
  return {message, summed + trailer_size};
}

std::uint8_t check_sum(std::string_view bytes) noexcept {
  return kernels::kernels().check_sum(bytes.data(), bytes.size());
}

void write_check_sum_field(char* out, std::uint8_t sum) noexcept {
  out[0] = '1';
  out[1] = '0';
  out[2] = '=';
  out[3] = static_cast<char>('0' + sum / 100);
  out[4] = static_cast<char>('0' + sum / 10 % 10);
  out[5] = static_cast<char>('0' + sum % 10);
  out[6] = soh;
}

}  // namespace nfx
