// Prepares a session's header texts with padding and sums, so that writing a header is a few wide copies.
#include "nexusfix/wire/encoder.hpp"

#include <algorithm>
#include <stdexcept>

#include "nexusfix/wire/field_writer.hpp"

namespace nfx {
namespace {

constexpr std::size_t max_seq_size = 20;

std::uint32_t sum_of(std::string_view text) noexcept {
  std::uint32_t sum = 0;
  for (const char c : text) sum += static_cast<unsigned char>(c);
  return sum;
}

std::string padded(std::string text, std::size_t step) {
  text.resize((text.size() + step - 1) / step * step);
  return text;
}

void refuse_soh(std::string_view name, std::string_view text) {
  if (text.find(soh) != std::string_view::npos) {
    throw std::invalid_argument(std::string{name} + " holds the character SOH; remove it");
  }
}

void refuse_bad(const HeaderTexts& texts) {
  refuse_soh("BeginString", texts.begin_string);
  refuse_soh("SenderCompID", texts.sender_comp_id);
  refuse_soh("TargetCompID", texts.target_comp_id);
  if (texts.begin_string.empty() || texts.begin_string.size() > HeaderTemplate::max_begin_string_size) {
    throw std::invalid_argument("BeginString is \"" + std::string{texts.begin_string} +
                                "\"; expected 1 to 16 characters");
  }
  if (!texts.more_fields.empty() && texts.more_fields.back() != soh) {
    throw std::invalid_argument("further header fields must be complete: they end with SOH");
  }
  if (texts.timestamp_digits > 9) throw std::invalid_argument("SendingTime: expected at most 9 digits of fraction");
}

}  // namespace

HeaderTemplate::HeaderTemplate(const HeaderTexts& texts) : timestamp_digits_(texts.timestamp_digits) {
  refuse_bad(texts);
  const std::string begin = "8=" + std::string{texts.begin_string} + soh + "9=";
  front_size_ = begin.size();
  front_sum_ = sum_of(begin);
  std::ranges::copy(begin, front_.begin());

  std::string lead = soh + ("49=" + std::string{texts.sender_comp_id}) + soh + "52=";
  time_offset_ = lead.size();
  lead_size_ = time_offset_ + 17;
  // The padding lets lay_second() store the clock's whole text.
  lead_ = padded(lead + std::string(24, '0'), step);

  const std::string tail = soh + ("56=" + std::string{texts.target_comp_id}) + soh + std::string{texts.more_fields};
  tail_size_ = tail.size();
  tail_ = padded(tail, step);

  constexpr std::string_view type_begin = "35=", seq_begin =
                                                     "\x01"
                                                     "34=";
  const std::size_t fraction_size = timestamp_digits_ == 0 ? 0 : 1 + timestamp_digits_;
  fixed_size_ = type_begin.size() + seq_begin.size() + lead_size_ + fraction_size + tail_size_;
  max_size_ = fixed_size_ + max_seq_size + poss_dup_field.size() + step;
  fixed_sum_ = sum_of(type_begin) + sum_of(seq_begin) + sum_of(lead) + sum_of(tail);
  NFX_ASSERT(lead_.size() >= time_offset_ + 24);  // the bytes that lay_second() stores
  NFX_ASSERT(lead_.size() % step == 0 && tail_.size() % step == 0);
  lay_second(UtcTime{});
}

void HeaderTemplate::lay_second(UtcTime time) noexcept {
  clock_.settle(time);
  std::memcpy(lead_.data() + time_offset_, clock_.text(), 24);
  sum_ = fixed_sum_ + clock_.sum();
}

WrittenText HeaderTemplate::write_other_seq(char* out, std::uint64_t seq) noexcept {
  if (seq < seq_step || seq >= digit_words::limit_8) return write_digits(out, seq);
  seq_base_ = seq - seq % seq_step;
  char text[40];
  const WrittenText written = write_digits(text, seq_base_);
  seq_word_ = digit_words::load<std::uint64_t>(text);
  seq_size_ = written.size;
  seq_sum_ = written.sum;
  return write_seq(out, seq);
}

char* HeaderTemplate::write_long_type(char* out, std::string_view type, std::uint32_t& sum) const noexcept {
  out = std::ranges::copy(std::string_view{"35="}, out).out;
  sum += copy_and_sum(out, type.data(), type.size());
  return std::ranges::copy(std::string_view{"\x01"
                                            "34="},
                           out + type.size())
      .out;
}

[[gnu::no_stack_protector]] char* HeaderTemplate::write(const MessageHeader& header, char* out, const char* end,
                                                        std::uint32_t& sum) noexcept {
  if (header.msg_type.find(soh) != std::string_view::npos || out > end) return nullptr;
  const auto room = static_cast<std::size_t>(end - out);
  if (room >= ample_room(header.msg_type.size())) return write_amply(header, out, sum);
  if (room < size(header)) return nullptr;
  if (!clock_.covers(header.sending_time)) lay_second(header.sending_time);
  char* const written_end = lay<false>(header, out, clock_.settle(header.sending_time), sum);
  NFX_ASSERT(out + size(header) == written_end && written_end <= end);
  return written_end;
}

char* HeaderTemplate::write_other_front(char* body, std::size_t body_length, std::uint32_t& sum) const noexcept {
  // Seven digits and SOH in one word that ends at the body; BeginString then overwrites the leading zeros.
  const std::uint64_t digit_bytes = digit_words::eight(body_length);
  const unsigned count = 8 - digit_words::leading_zeros(digit_bytes);
  const std::uint64_t word = (digit_bytes + digit_words::zero_characters) >> 8 | std::uint64_t{soh} << 56;
  digit_words::store(body - 8, word);
  sum += front_sum_ + digit_words::digit_sum(digit_bytes) + count * '0' + static_cast<unsigned char>(soh);
  NFX_ASSERT(count <= 7 && front_size_ <= front_.size());
  char* const begin = body - 1 - count - front_size_;
  std::memcpy(begin, front_.data(), front_size_);
  return begin;
}

std::string_view HeaderTemplate::sending_time(UtcTime time) noexcept {
  if (!clock_.covers(time)) lay_second(time);
  return {time_text_.data(), clock_.write(time_text_.data(), time, timestamp_digits_)};
}

}  // namespace nfx
