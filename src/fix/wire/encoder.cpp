// Completes messages in the caller's buffer. BodyLength is written last, into space reserved before the fields.
#include "nexusfix/wire/encoder.hpp"

#include <cstring>

#include "kernels/kernels.hpp"

namespace nfx {

static_assert(HeaderTemplate::max_front_size <= Encoder::prefix_size);

Encoder::Encoder(std::span<char> buffer) noexcept
    : fields_(buffer.size() < prefix_size + trailer_size
                  ? std::span<char>{}
                  : buffer.subspan(prefix_size, buffer.size() - prefix_size - trailer_size)),
      has_room_(buffer.size() >= prefix_size + trailer_size) {}

void Encoder::begin(std::string_view begin_string, std::string_view msg_type) noexcept {
  begin_string_ = begin_string;
  header_ = nullptr;
  fields_.clear();
  msg_type.empty() ? fields_.append_raw("35=\x01") : fields_.append<Tag::MsgType>(msg_type);
}

inline void Encoder::write_header(std::string_view msg_type, SeqNum seq, UtcTime now) noexcept {
  HeaderTemplate& header = *header_;
  const MessageHeader fields{.msg_type = msg_type, .seq = seq, .sending_time = now};
  char* end;
  if (msg_type.size() == 1 && msg_type[0] != soh && static_cast<std::size_t>(fields_.room()) >= header.ample_room(1))
      [[likely]] {
    end = header.write_amply(fields, fields_.begin_, fields_.sum_);
  } else {
    end = header.write(fields, fields_.begin_, fields_.end_, fields_.sum_);
    if (end == nullptr) {
      fields_.fail(Tag::MsgType,
                   msg_type.find(soh) != std::string_view::npos ? WriteError::contains_soh : WriteError::no_space);
      return;
    }
  }
  NFX_ASSERT(fields_.begin_ < end && end <= fields_.end_);
  fields_.at_ = end;
}

void Encoder::begin(HeaderTemplate& header, std::string_view msg_type, SeqNum seq, UtcTime now) noexcept {
  header_ = &header;
  fields_.clear();
  write_header(msg_type, seq, now);
}

void Encoder::begin_in(std::span<char> room, HeaderTemplate& header, std::string_view msg_type, SeqNum seq,
                       UtcTime now) noexcept {
  constexpr std::size_t usual_body_length = 100;
  constexpr std::size_t more_digits = 4;  // of max_body_length
  const std::size_t front = header.front_size(usual_body_length);
  const std::size_t around = front + more_digits + trailer_size;
  header_ = &header;
  room_ = room.data();
  const bool fits = room.size() > around;
  // Not by assigning a new writer: reading back what was just written in smaller pieces takes longer than the rest.
  fields_.begin_ = fits ? room.data() + front : nullptr;
  fields_.end_ = fits ? room.data() + room.size() - (around - front) : nullptr;
  fields_.clear();
  write_header(msg_type, seq, now);
}

inline std::string_view Encoder::finish_with_template() noexcept {
  const std::size_t body_length = fields_.size();
  NFX_ASSERT(header_->front_size(body_length) <= prefix_size);  // BodyLength is inside the prefix
  std::uint32_t sum = fields_.sum_;
  char* const message = header_->write_front(fields_.begin_, body_length, sum);
  NFX_ASSERT(message + header_->front_size(body_length) == fields_.begin_);
  write_check_sum_field(fields_.at_, static_cast<std::uint8_t>(sum));
  return {message, static_cast<std::size_t>(fields_.at_ + trailer_size - message)};
}

std::string_view Encoder::finish_in() noexcept {
  const std::size_t size = fields_.size();
  if (!fields_.ok() || size > HeaderTemplate::max_body_length) [[unlikely]]
    return {};
  // The caller has cleared the fields, including the header.
  if (!fields_.view().starts_with("35=")) [[unlikely]]
    return {};
  char* const begin = room_ + header_->front_size(size);
  if (begin != fields_.begin_) [[unlikely]] {
    std::memmove(begin, fields_.begin_, size);
    fields_.begin_ = begin;
    fields_.at_ = begin + size;
  }
  return finish_with_template();
}

std::string_view Encoder::finish() noexcept {
  if (header_ == nullptr) return finish_without_template();
  if (!fields_.ok() || fields_.size() > HeaderTemplate::max_body_length) [[unlikely]]
    return {};
  NFX_ASSERT(fields_.at_ <= fields_.end_);  // CheckSum has space after the end
  return finish_with_template();
}

std::string_view Encoder::finish_without_template() noexcept {
  const std::string_view body = fields_.view();
  if (!has_room_ || !fields_.ok() || body.empty() || body.size() > HeaderTemplate::max_body_length) return {};
  if (begin_string_.empty() || begin_string_.size() > HeaderTemplate::max_begin_string_size ||
      begin_string_.find(soh) != std::string_view::npos) {
    return {};
  }
  // The prefix has its exact length and ends where the fields begin.
  char prefix[prefix_size];
  FieldWriter front{prefix};
  front.append<Tag::BeginString>(begin_string_).append<Tag::BodyLength>(body.size());
  NFX_ASSERT(front.ok() && front.size() <= prefix_size && fields_.at_ <= fields_.end_);
  char* const message = fields_.begin_ - front.size();
  std::memcpy(message, prefix, front.size());
  write_check_sum_field(fields_.at_, static_cast<std::uint8_t>(front.sum() + fields_.sum()));
  return {message, front.size() + body.size() + trailer_size};
}

std::uint8_t check_sum(std::string_view bytes) noexcept {
  return kernels::kernels().check_sum(bytes.data(), bytes.size());
}

}  // namespace nfx
