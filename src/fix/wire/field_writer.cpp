// The cases that the inline writers leave out: values that are long, or close to the end of the buffer; written byte by
// byte.
#include "nexusfix/wire/field_writer.hpp"

#include <algorithm>
#include <charconv>

#include "kernels/kernels.hpp"

namespace nfx {
namespace {

// From this size on, a copy and a separate sum by the widest kernel are faster than both in one pass.
constexpr std::size_t long_text_size = 1024;

// Copies as many whole steps of 16 bytes as fit in `size`, and adds their sum; returns the number of bytes.
#ifdef __SSE2__
std::size_t copy_steps(char* out, const char* bytes, std::size_t size, std::uint32_t& sum) noexcept {
  const __m128i zero = _mm_setzero_si128();
  __m128i sums = zero;
  std::size_t done = 0;
  for (; size - done >= 16; done += 16) {
    const __m128i step = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + done));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + done), step);
    sums = _mm_add_epi64(sums, _mm_sad_epu8(step, zero));
  }
  sums = _mm_add_epi64(sums, _mm_unpackhi_epi64(sums, sums));
  sum += static_cast<std::uint32_t>(_mm_cvtsi128_si32(sums));
  return done;
}
#else
std::size_t copy_steps(char* out, const char* bytes, std::size_t size, std::uint32_t& sum) noexcept {
  std::size_t done = 0;
  for (; size - done >= 16; done += 16) {
    const std::uint64_t first = digit_words::load<std::uint64_t>(bytes + done),
                        second = digit_words::load<std::uint64_t>(bytes + done + 8);
    digit_words::store(out + done, first);
    digit_words::store(out + done + 8, second);
    sum += ByteWord{first}.sum() + ByteWord{second}.sum();
  }
  return done;
}
#endif

// The last 0 to 15 bytes.
std::uint32_t copy_rest(char* out, const char* bytes, std::size_t size) noexcept {
  NFX_ASSERT(size < 16);
  if (size > 8) {
    const auto first = digit_words::load<std::uint64_t>(bytes);
    const auto last = digit_words::load<std::uint64_t>(bytes + size - 8);
    digit_words::store(out, first);
    digit_words::store(out + size - 8, last);
    return ByteWord{first}.sum() + ByteWord{last >> 8 * (16 - size)}.sum();
  }
  const std::uint64_t word = load_short(bytes, size);
  if (size >= 4) {
    digit_words::store(out, static_cast<std::uint32_t>(word));
    digit_words::store(out + size - 4, static_cast<std::uint32_t>(word >> 8 * (size - 4)));
  } else {
    for (std::size_t i = 0; i < size; ++i) out[i] = bytes[i];
  }
  return ByteWord{word}.sum();
}

}  // namespace

std::uint32_t copy_and_sum(char* out, const char* bytes, std::size_t size) noexcept {
  if (size >= long_text_size) {
    std::memcpy(out, bytes, size);
    return kernels::kernels().check_sum(bytes, size);
  }
  std::uint32_t sum = 0;
  const std::size_t done = copy_steps(out, bytes, size, sum);
  return sum + copy_rest(out + done, bytes + done, size - done);
}

std::string_view to_string(WriteError error) noexcept {
  switch (error) {
    case WriteError::none: return "no error";
    case WriteError::no_space: return "no space for the field";
    case WriteError::empty_value: return "the value is empty";
    case WriteError::contains_soh: return "the value contains SOH";
    case WriteError::bad_value: return "the value is not valid for the field";
    case WriteError::bad_tag: return "not a tag";
    case WriteError::incomplete: return "fields whose last one does not end with SOH";
    case WriteError::header_field: return "a field of the header: the session writes it, or create() takes it";
  }
  return "?";
}

std::string to_string(WriteFault fault) {
  return "tag " + std::to_string(value(fault.tag)) + ": " + std::string{to_string(fault.error)};
}

// The first failure is kept.
FieldWriter& FieldWriter::fail(Tag tag, WriteError error) noexcept {
  if (ok()) fault_ = {error, tag};
  limit_ = begin_;
  return *this;
}

bool FieldWriter::append_exactly(Tag tag, std::string_view value) noexcept {
  const auto refuse = [&](WriteError error) {
    fail(tag, error);
    return false;
  };
  if (nfx::value(tag) <= 0) return refuse(WriteError::bad_tag);
  if (value.empty()) return refuse(WriteError::empty_value);
  TagText head = tag_text(tag);
  char text[16];  // "2147483647="
  if (head.size == 0) {
    char* const end = std::to_chars(text, text + sizeof text - 1, nfx::value(tag)).ptr;
    *end = '=';
    head.size = static_cast<std::uint32_t>(end + 1 - text);
    for (const char* p = text; p <= end; ++p) head.sum += static_cast<unsigned char>(*p);
  } else {
    digit_words::store(text, head.word);
  }
  // Compared in this order, nothing can overflow, however large the value is.
  NFX_ASSERT(head.size >= 2 && head.size <= sizeof text);
  const auto left = static_cast<std::size_t>(std::max(room(), std::ptrdiff_t{0}));
  if (left < head.size + 1 || left - head.size - 1 < value.size()) return refuse(WriteError::no_space);
  std::memcpy(at_, text, head.size);
  char* const out = at_ + head.size;
  const std::uint32_t sum = copy_and_sum(out, value.data(), value.size());
  out[value.size()] = soh;
  advance(place(), head.size + value.size() + 1, head.sum + sum + static_cast<unsigned char>(soh));
  return true;
}

FieldWriter& FieldWriter::append_text_anyhow(Tag tag, std::string_view text) noexcept {
  if (!text.empty() && std::memchr(text.data(), soh, text.size()) != nullptr)
    return fail(tag, WriteError::contains_soh);
  append_exactly(tag, text);
  return *this;
}

FieldWriter& FieldWriter::append_char_anyhow(Tag tag, char value) noexcept {
  return append_text_anyhow(tag, {&value, value == '\0' ? std::size_t{0} : std::size_t{1}});
}

FieldWriter& FieldWriter::append_decimal_anyhow(Tag tag, Decimal value) noexcept {
  if (value.scale() > Decimal::max_scale) return fail(tag, WriteError::bad_value);
  char text[Decimal::max_text_size];
  append_exactly(tag, {text, value.write(text)});
  return *this;
}

FieldWriter& FieldWriter::append_unsigned_anyhow(Tag tag, std::uint64_t value) noexcept {
  char text[40];
  append_exactly(tag, {text, write_digits(text, value).size});
  return *this;
}

FieldWriter& FieldWriter::append_time_anyhow(Tag tag, UtcTime time, unsigned fraction_digits) noexcept {
  char text[max_utc_timestamp_size];
  append_exactly(tag, {text, clock_.write(text, time, fraction_digits)});
  return *this;
}

FieldWriter& FieldWriter::append(Tag tag, std::string_view text) noexcept { return put_text(tag, tag_text(tag), text); }

FieldWriter& FieldWriter::append_char(Tag tag, char value) noexcept { return put_char(tag, tag_text(tag), value); }

FieldWriter& FieldWriter::append(Tag tag, Decimal value) noexcept { return put_decimal(tag, tag_text(tag), value); }

FieldWriter& FieldWriter::append(Tag tag, UtcTime time, unsigned fraction_digits) noexcept {
  return put_time(tag, tag_text(tag), time, fraction_digits);
}

FieldWriter& FieldWriter::append_signed(Tag tag, std::int64_t value) noexcept {
  return put_signed(tag, tag_text(tag), value);
}

FieldWriter& FieldWriter::append_unsigned(Tag tag, std::uint64_t value) noexcept {
  return put_unsigned(tag, tag_text(tag), value);
}

FieldWriter& FieldWriter::append_data(Tag length_tag, Tag data_tag, std::string_view data) noexcept {
  char* const before = at_;
  const std::uint32_t sum_before = sum_;
  append_unsigned(length_tag, data.size());
  if (ok() && append_exactly(data_tag, data)) return *this;
  NFX_ASSERT(!ok() && before <= at_);
  at_ = before;  // never writes a length without its data
  sum_ = sum_before;
  return *this;
}

FieldWriter& FieldWriter::append_raw(std::string_view fields) noexcept {
  if (!ok() || fields.empty()) return *this;
  if (fields.back() != soh) return fail({}, WriteError::incomplete);
  if (static_cast<std::size_t>(room()) < fields.size()) return fail({}, WriteError::no_space);
  const std::uint32_t sum = copy_and_sum(at_, fields.data(), fields.size());
  return advance(place(), fields.size(), sum);
}

}  // namespace nfx
