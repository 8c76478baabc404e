// Owns the memory of a message's index and runs the kernels; contains the paths for unusual messages.
#include "nexusfix/wire/message_view.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

#include "base/call_trace.hpp"
#include "envelope.hpp"
#include "kernels/kernels.hpp"
#include "nexusfix/wire/group_view.hpp"

namespace nfx {
namespace {

std::uint32_t checked_max_fields(std::uint32_t max_fields) {
  if (max_fields < 1 || max_fields > MessageView::most_fields) {
    throw std::invalid_argument("MessageView: max_fields is " + std::to_string(max_fields) + "; expected 1 to " +
                                std::to_string(MessageView::most_fields));
  }
  return max_fields;
}

constexpr std::size_t alignment = 64;

// Uninitialised memory, so that pages are not touched before they are needed.
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

// calloc: zero pages take no memory until they are written.
struct Free {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
template <class T>
using ZeroArray = std::unique_ptr<T[], Free>;
template <class T>
[[nodiscard]] ZeroArray<T> zeros(std::size_t count) {
  ZeroArray<T> array{static_cast<T*>(std::calloc(count, sizeof(T)))};
  if (array == nullptr) throw std::bad_alloc{};
  return array;
}

// A narrow index is for messages of at most 64 KiB, which limits the number of fields.
constexpr std::uint32_t narrow_fields(std::uint32_t max_fields) noexcept { return std::min(max_fields, 32768U); }

constexpr std::size_t padded(std::uint32_t max_fields) noexcept {
  return std::size_t{max_fields} + kernels::array_padding + tag_scan::places_per_stride;
}

// Looks up any tag among at most `max_fields`: open addressing, at most half full. A slot of an older generation counts
// as empty, so nothing is cleared between messages, except once in 2^32 messages.
class HashIndex {
 public:
  explicit HashIndex(std::uint32_t max_fields)
      : mask_(std::bit_ceil(max_fields * 2) - 1),
        shift_(32 - static_cast<std::uint32_t>(std::bit_width(mask_))),
        slots_(zeros<Slot>(std::size_t{mask_} + 1)) {}

  void fill(const std::int32_t* tags, std::uint32_t count) noexcept {
    NFX_ASSERT(2 * std::uint64_t{count} <= std::uint64_t{mask_} + 1);  // so that every search finds an empty slot
    if (++generation_ == 0) {
      std::fill_n(slots_.get(), std::size_t{mask_} + 1, Slot{});
      generation_ = 1;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      Slot& slot = slots_[slot_of(tags, tags[i])];
      // The first field with a tag owns the slot.
      if (slot.generation != generation_) slot = {generation_, i};
    }
  }

  [[nodiscard]] std::uint32_t find(const std::int32_t* tags, std::int32_t tag) const noexcept {
    const Slot slot = slots_[slot_of(tags, tag)];
    return slot.generation == generation_ ? slot.index : MessageView::npos;
  }

 private:
  struct Slot {
    std::uint32_t generation = 0;
    std::uint32_t index = 0;
  };

  // The slot of the tag, or the empty slot for it.
  [[nodiscard]] std::uint32_t slot_of(const std::int32_t* tags, std::int32_t tag) const noexcept {
    std::uint32_t slot = (static_cast<std::uint32_t>(tag) * 0x9E3779B1u) >> shift_;
    while (slots_[slot].generation == generation_ && tags[slots_[slot].index] != tag) slot = (slot + 1) & mask_;
    return slot;
  }

  std::uint32_t mask_;
  std::uint32_t shift_;
  std::uint32_t generation_ = 0;
  ZeroArray<Slot> slots_;
};

}  // namespace

struct MessageView::Storage {
  explicit Storage(std::uint32_t max_fields)
      : tags(padded(narrow_fields(max_fields))),
        begins(padded(narrow_fields(max_fields))),
        ends(padded(narrow_fields(max_fields))),
        wide_tags(padded(max_fields)),
        wide_begins(padded(max_fields)),
        wide_ends(padded(max_fields)),
        narrow{tags.get(), begins.get(), ends.get(), narrow_fields(max_fields)},
        hash(max_fields) {
    if (max_fields > compared_fields) table = zeros<std::uint16_t>(65536);
    std::fill_n(tags.get(), padded(narrow_fields(max_fields)), std::uint16_t{0});
  }

  AlignedArray<std::uint16_t> tags, begins, ends;
  AlignedArray<std::int32_t> wide_tags;
  AlignedArray<std::uint32_t> wide_begins, wide_ends;
  kernels::FieldArrays narrow;  // output of the kernels
  // By tag: the index of its first field after the directly compared ones. An entry is valid if the field at that index
  // has the tag, so nothing is ever cleared.
  ZeroArray<std::uint16_t> table;
  HashIndex hash;  // for a wide index
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

WireError MessageView::parse(std::string_view message) noexcept {
  NFX_TRACE();
  return index_fields(message, false);
}

WireError MessageView::parse_leniently(std::string_view message) noexcept { return index_fields(message, true); }

WireError MessageView::index_fields(std::string_view message, bool lenient) noexcept {
  wide_ = false;
  table_filled_ = false;
  const kernels::FieldArrays& fields = storage_->narrow;
  kernels::IndexResult result{WireError::none, 0, true, false, 0};
  if (message.size() <= 0xFFFF) [[likely]] {
    result = kernels::kernels().index_fields(message.data(), message.size(), fields);
    if (result.verified || (result.error == WireError::none && !result.needs_wide &&
                            is_ordinary_envelope(message, fields, result.count, result.sum))) [[likely]] {
      data_ = message.data();
      size_ = message.size();
      count_ = result.count;
      padded_values_ = result.count - 1;
      NFX_ASSERT(count_ <= max_fields_ && value_at(count_ - 1).end() + 1 == message.end());  // CheckSum is last
      return WireError::none;
    }
  }
  return index_unusual_fields(message, lenient, result.error, result.sum, result.needs_wide, result.count);
}

// Handles messages that the kernel found wrong, wide, or unusual.
[[gnu::cold, gnu::noinline]] WireError MessageView::index_unusual_fields(std::string_view message, bool lenient,
                                                                         WireError error, std::uint8_t sum,
                                                                         bool needs_wide,
                                                                         std::uint32_t count) noexcept {
  count_ = 0;
  size_ = 0;
  padded_values_ = 0;
  if (needs_wide) {
    error = index_wide_fields(message, count);
  } else if (error == WireError::none) {
    error = check_envelope(message, storage_->narrow, count, sum);
  }
  if (error == WireError::none || lenient) {
    data_ = message.data();
    size_ = message.size();
    count_ = count;
    if (error == WireError::none && !wide_) padded_values_ = count - 1;
  }
  NFX_ASSERT(count <= max_fields_ && (error != WireError::none || count_ > 3));
  NFX_ASSERT(error != WireError::none || value_at(count_ - 1).end() + 1 == message.end());  // CheckSum is last
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

[[gnu::noinline]] std::uint32_t MessageView::find_further(std::uint16_t tag) const noexcept {
  std::uint16_t* const table = storage_->table.get();
  NFX_ASSERT(!wide_ && count_ > compared_fields && table != nullptr);
  if (!table_filled_) {
    for (std::uint32_t i = count_; i-- > compared_fields;) table[tags_[i]] = static_cast<std::uint16_t>(i);
    table_filled_ = true;
  }
  const std::uint32_t index = table[tag];
  return index >= compared_fields && index < count_ && tags_[index] == tag ? index : npos;
}

[[gnu::cold, gnu::noinline]] std::uint32_t MessageView::find_wide_between(std::uint32_t begin, std::uint32_t end,
                                                                          Tag tag) const noexcept {
  NFX_ASSERT(begin <= end && end <= count_);
  for (std::uint32_t i = begin; i < end; ++i) {
    if (tag_at(i) == tag) return i;
  }
  return npos;
}

[[gnu::cold, gnu::noinline]] std::uint32_t MessageView::find_wide(Tag tag) const noexcept {
  if (!wide_ || count_ == 0) return npos;  // a narrow index has no tag this large
  const std::uint32_t index = storage_->hash.find(wide_tags_, nfx::value(tag));
  return index < count_ ? index : npos;
}

std::expected<std::int64_t, FieldError> MessageView::any_int_at(std::uint32_t index) const noexcept {
  if (index == npos) return std::unexpected(FieldError::missing);
  return parse_int(value_at(index));
}

std::expected<Decimal, FieldError> MessageView::any_decimal_at(std::uint32_t index) const noexcept {
  if (index == npos) return std::unexpected(FieldError::missing);
  return parse_decimal(value_at(index));
}

std::expected<WideDecimal, FieldError> MessageView::wide_decimal_at(std::uint32_t index) const noexcept {
  if (index == npos) return std::unexpected(FieldError::missing);
  return parse_wide_decimal(value_at(index));
}

std::expected<SeqNum, FieldError> MessageView::get_seq_num(Tag tag) const noexcept {
  const auto number = get_int(tag);
  if (!number) return std::unexpected(number.error());
  if (*number < 0) return std::unexpected(FieldError::bad_format);
  return SeqNum{static_cast<std::uint64_t>(*number)};
}

std::expected<UtcTimestamp, FieldError> MessageView::utc_timestamp_at(std::uint32_t index) const noexcept {
  if (index == npos) return std::unexpected(FieldError::missing);
  // Member by member: a copy of the whole would be read from memory before the members' stores have completed.
  if (const auto time = parse_utc_timestamp(value_at(index)))
    return UtcTimestamp{time->time, time->picoseconds, time->fraction_digits};
  return std::unexpected(FieldError::bad_format);
}

GroupView MessageView::group(const GroupShape& shape) const noexcept {
  const std::uint32_t count_index = find(shape.count);
  return count_index == npos ? GroupView{} : GroupView{*this, shape, count_index, count_};
}

}  // namespace nfx
