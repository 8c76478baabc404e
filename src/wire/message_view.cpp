#include "nexusfix/wire/message_view.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

#include "find_tag.hpp"
#include "kernels/kernels.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/wire/field_values.hpp"
#include "nexusfix/wire/group_view.hpp"

namespace nfx {
namespace {

constexpr std::uint32_t max_max_fields = 32768;
constexpr std::uint32_t check_sum_field_size = 7;  // "10=ddd<SOH>"

// The value of at most nine digits, or -1.
std::int64_t small_number(std::string_view text) noexcept {
  if (text.empty() || text.size() > 9) return -1;
  std::int64_t number = 0;
  for (const char c : text) {
    const unsigned digit = static_cast<unsigned char>(c) - unsigned{'0'};
    if (digit > 9) return -1;
    number = number * 10 + digit;
  }
  return number;
}

// What the standard header and trailer promise about the whole message. Every field ends in front of a SOH.
template <class Arrays>
[[gnu::always_inline]] inline WireError check_envelope(std::string_view message, const Arrays& fields,
                                                       std::uint32_t count, std::uint8_t sum_of_all) noexcept {
  if (count < 3 || fields.tags[0] != value(Tag::BeginString) || fields.tags[1] != value(Tag::BodyLength) ||
      fields.tags[2] != value(Tag::MsgType)) {
    return WireError::header_order;
  }
  const auto value_of = [&](std::uint32_t i) {
    return std::string_view{message.data() + fields.begins[i], std::size_t{fields.ends[i]} - fields.begins[i]};
  };
  const std::string_view length_text = value_of(1);
  const std::int64_t body_length = length_text.size() <= 7 ? small_number(length_text) : -1;
  if (body_length < 0) return WireError::bad_body_length;

  const std::uint32_t last = count - 1;
  const std::size_t body_begin = std::size_t{fields.ends[1]} + 1;
  const std::size_t body_end = std::size_t{fields.ends[last - 1]} + 1;
  const std::string_view sum_text = value_of(last);
  const std::int64_t declared_sum = sum_text.size() == 3 ? small_number(sum_text) : -1;
  if (fields.tags[last] != value(Tag::CheckSum) || declared_sum < 0 ||
      message.size() - body_end != check_sum_field_size) {
    return WireError::bad_check_sum;
  }
  if (body_end - body_begin != static_cast<std::size_t>(body_length)) return WireError::body_length_mismatch;

  // The field of seven bytes that holds the sum is "10=ddd<SOH>", and not part of it.
  const unsigned own = unsigned{'1'} + '0' + '=' + 1 + static_cast<unsigned char>(sum_text[0]) +
                       static_cast<unsigned char>(sum_text[1]) + static_cast<unsigned char>(sum_text[2]);
  return ((sum_of_all - own) & 0xFF) == declared_sum ? WireError::none : WireError::check_sum_mismatch;
}

std::uint32_t checked_max_fields(std::uint32_t max_fields) {
  if (max_fields < 1 || max_fields > max_max_fields) {
    throw std::invalid_argument("MessageView: max_fields is " + std::to_string(max_fields) + ", must be 1 to 32768");
  }
  return max_fields;
}

constexpr std::size_t alignment = 64;

// Untouched memory: no page of it is used before it is needed.
template <class T>
class AlignedArray {
 public:
  AlignedArray() noexcept = default;
  explicit AlignedArray(std::size_t count)
      : data_(static_cast<T*>(::operator new(bytes(count), std::align_val_t{alignment}))) {}
  AlignedArray(const AlignedArray&) = delete;
  AlignedArray& operator=(const AlignedArray&) = delete;
  ~AlignedArray() { ::operator delete(data_, std::align_val_t{alignment}); }
  [[nodiscard]] T* get() const noexcept { return data_; }

 private:
  static std::size_t bytes(std::size_t count) noexcept { return count * sizeof(T); }
  T* data_ = nullptr;
};

// Fields behind the first so many are looked up in a table.
constexpr std::uint32_t compared_fields = 128;
static_assert(compared_fields % tags_per_step == 0);

constexpr std::uint32_t padded(std::uint32_t max_fields) noexcept {
  return (max_fields + kernels::array_padding + tags_per_step - 1) / tags_per_step * tags_per_step;
}

// Look-up of any tag among at most `max_fields`: open addressing, at most half full. A slot of an older generation is
// empty, so nothing is cleared between messages, except every 65535 of them.
class HashIndex {
 public:
  explicit HashIndex(std::uint32_t max_fields)
      : mask_(std::bit_ceil(max_fields * 2) - 1), slots_(std::make_unique<Slot[]>(mask_ + 1)) {}

  void fill(const std::int32_t* tags, std::uint32_t count) noexcept {
    if (++generation_ == 0) {
      std::fill_n(slots_.get(), mask_ + 1, Slot{});
      generation_ = 1;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      Slot& slot = slots_[slot_of(tags, tags[i])];
      // The first field with a tag keeps the slot.
      if (slot.generation != generation_) slot = {generation_, static_cast<std::uint16_t>(i)};
    }
  }

  [[nodiscard]] std::uint32_t find(const std::int32_t* tags, std::int32_t tag) const noexcept {
    const Slot slot = slots_[slot_of(tags, tag)];
    return slot.generation == generation_ ? slot.index : MessageView::npos;
  }

 private:
  struct Slot {
    std::uint16_t generation = 0;
    std::uint16_t index = 0;
  };

  // Where the tag is, or the empty slot where it would be.
  [[nodiscard]] std::uint32_t slot_of(const std::int32_t* tags, std::int32_t tag) const noexcept {
    std::uint32_t slot = (static_cast<std::uint32_t>(tag) * 0x9E3779B1u) >> 16 & mask_;
    while (slots_[slot].generation == generation_ && tags[slots_[slot].index] != tag) slot = (slot + 1) & mask_;
    return slot;
  }

  std::uint32_t mask_;
  std::uint16_t generation_ = 0;
  std::unique_ptr<Slot[]> slots_;
};

}  // namespace

struct MessageView::Storage {
  explicit Storage(std::uint32_t max_fields)
      : tags(padded(max_fields)),
        begins(padded(max_fields)),
        ends(padded(max_fields)),
        wide_tags(padded(max_fields)),
        wide_begins(padded(max_fields)),
        wide_ends(padded(max_fields)),
        hash(max_fields) {
    // calloc: of 128 KiB of zeros only the pages of tags that occur are ever touched.
    if (max_fields > compared_fields)
      table.reset(static_cast<std::uint16_t*>(std::calloc(65536, sizeof(std::uint16_t))));
    if (max_fields > compared_fields && table == nullptr) throw std::bad_alloc{};
    std::fill_n(tags.get(), padded(max_fields), std::uint16_t{0});
  }

  struct Free {
    void operator()(std::uint16_t* p) const noexcept { std::free(p); }
  };

  AlignedArray<std::uint16_t> tags, begins, ends;
  AlignedArray<std::int32_t> wide_tags;
  AlignedArray<std::uint32_t> wide_begins, wide_ends;
  // At a tag the place of its first field behind the compared ones. An entry holds when the field there has the tag, so
  // nothing is ever cleared.
  std::unique_ptr<std::uint16_t, Free> table;
  HashIndex hash;  // of a wide index
};

MessageView::MessageView(std::uint32_t max_fields)
    : max_fields_(checked_max_fields(max_fields)), storage_(std::make_unique<Storage>(max_fields)) {
  tags_ = storage_->tags.get();
  begins_ = storage_->begins.get();
  ends_ = storage_->ends.get();
  wide_tags_ = storage_->wide_tags.get();
  wide_begins_ = storage_->wide_begins.get();
  wide_ends_ = storage_->wide_ends.get();
}

MessageView::MessageView(MessageView&&) noexcept = default;
MessageView& MessageView::operator=(MessageView&&) noexcept = default;
MessageView::~MessageView() = default;

WireError MessageView::parse(std::string_view message) noexcept { return index_fields(message, false); }

WireError MessageView::parse_leniently(std::string_view message) noexcept { return index_fields(message, true); }

WireError MessageView::index_fields(std::string_view message, bool lenient) noexcept {
  count_ = 0;
  size_ = 0;
  wide_ = false;
  table_filled_ = false;
  std::uint32_t count = 0;
  WireError error = WireError::none;
  bool needs_wide = message.size() > 0xFFFF;
  if (!needs_wide) [[likely]] {
    const kernels::FieldArrays fields{tags_, begins_, ends_, max_fields_};
    const kernels::IndexResult result = kernels::kernels().index_fields(message.data(), message.size(), fields);
    needs_wide = result.needs_wide;
    count = result.count;
    error = result.error;
    if (error == WireError::none && !needs_wide) error = check_envelope(message, fields, count, result.sum);
  }
  if (needs_wide) [[unlikely]]
    error = index_wide_fields(message, count);
  if (error == WireError::none || lenient) {
    data_ = message.data();
    size_ = message.size();
    count_ = count;
  }
  return error;
}

[[gnu::cold, gnu::noinline]] WireError MessageView::index_wide_fields(std::string_view message,
                                                                      std::uint32_t& count) noexcept {
  count = 0;
  if (message.size() > UINT32_MAX) return WireError::too_large;
  const kernels::WideFieldArrays fields{wide_tags_, wide_begins_, wide_ends_, max_fields_};
  const kernels::IndexResult result = kernels::kernels().index_wide_fields(message.data(), message.size(), fields);
  count = result.count;
  wide_ = true;
  storage_->hash.fill(wide_tags_, count);
  return result.error == WireError::none ? check_envelope(message, fields, count, result.sum) : result.error;
}

std::uint32_t MessageView::find(Tag tag) const noexcept {
  const auto number = static_cast<std::uint32_t>(nfx::value(tag));
  if (wide_ || number > 0xFFFF) [[unlikely]]
    return find_wide(tag);
  const std::uint32_t compared = std::min(count_, compared_fields);
  for (std::uint32_t from = 0; from < compared; from += tags_per_step) {
    const std::uint32_t equal = equal_tags(tags_ + from, static_cast<std::uint16_t>(number));
    if (equal == 0) continue;
    const std::uint32_t index = from + static_cast<std::uint32_t>(std::countr_zero(equal));
    return index < count_ ? index : npos;
  }
  return count_ > compared_fields ? find_further(static_cast<std::uint16_t>(number)) : npos;
}

[[gnu::noinline]] std::uint32_t MessageView::find_further(std::uint16_t tag) const noexcept {
  std::uint16_t* const table = storage_->table.get();
  if (!table_filled_) {
    for (std::uint32_t i = count_; i-- > compared_fields;) table[tags_[i]] = static_cast<std::uint16_t>(i);
    table_filled_ = true;
  }
  const std::uint32_t index = table[tag];
  return index >= compared_fields && index < count_ && tags_[index] == tag ? index : npos;
}

[[gnu::cold, gnu::noinline]] std::uint32_t MessageView::find_wide(Tag tag) const noexcept {
  if (!wide_ || count_ == 0) return npos;  // no tag of a narrow index is that large
  const std::uint32_t index = storage_->hash.find(wide_tags_, nfx::value(tag));
  return index < count_ ? index : npos;
}

std::expected<std::int64_t, FieldError> MessageView::get_int(Tag tag) const noexcept {
  const std::uint32_t index = find(tag);
  if (index == npos) return std::unexpected(FieldError::missing);
  return parse_int(value_at(index));
}

std::expected<SeqNum, FieldError> MessageView::get_seq_num(Tag tag) const noexcept {
  const auto number = get_int(tag);
  if (!number) return std::unexpected(number.error());
  if (*number < 0) return std::unexpected(FieldError::bad_format);
  return SeqNum{static_cast<std::uint64_t>(*number)};
}

std::expected<Decimal, FieldError> MessageView::get_decimal(Tag tag) const noexcept {
  const std::uint32_t index = find(tag);
  if (index == npos) return std::unexpected(FieldError::missing);
  return parse_decimal(value_at(index));
}

std::expected<char, FieldError> MessageView::get_char(Tag tag) const noexcept {
  const std::uint32_t index = find(tag);
  if (index == npos) return std::unexpected(FieldError::missing);
  return parse_char(value_at(index));
}

std::expected<bool, FieldError> MessageView::get_bool(Tag tag) const noexcept {
  const std::uint32_t index = find(tag);
  if (index == npos) return std::unexpected(FieldError::missing);
  return parse_bool(value_at(index));
}

std::expected<UtcTimestamp, FieldError> MessageView::get_utc_timestamp(Tag tag) const noexcept {
  const std::uint32_t index = find(tag);
  if (index == npos) return std::unexpected(FieldError::missing);
  if (const auto time = parse_utc_timestamp(value_at(index))) return *time;
  return std::unexpected(FieldError::bad_format);
}

GroupView MessageView::group(const GroupShape& shape) const noexcept {
  const std::uint32_t count_index = find(shape.count);
  return count_index == npos ? GroupView{} : GroupView{*this, shape, count_index, count_};
}

}  // namespace nfx
