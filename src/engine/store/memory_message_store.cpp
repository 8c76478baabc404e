// The store without durability: a ring of bytes and an index, both mapped once.
#include "store/memory_message_store.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/call_trace.hpp"
#include "base/error_text.hpp"
#include "nexusfix/base/assert.hpp"
#include "store/prefetch.hpp"

namespace nfx {

namespace {

constexpr std::size_t max_retain_bytes = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t max_retain_messages = std::size_t{1} << 32;

// Writes one byte of every page, without changing its value.
void touch_pages(void* pages, std::size_t size) noexcept {
  constexpr std::size_t page_size = 4096;
  auto* byte = static_cast<volatile char*>(pages);
  for (std::size_t at = 0; at < size; at += page_size) byte[at] = byte[at];
}

}  // namespace

MemoryMessageStore::MemoryMessageStore(MemoryStoreOptions options, UtcTime creation_time)
    : options_(options), creation_time_(creation_time) {
  const auto check = [](const char* name, std::uint64_t value, std::uint64_t most) {
    if (value > most) throw std::invalid_argument(out_of_range(name, value, "at most " + std::to_string(most)));
  };
  check("retain_bytes", options.retain_bytes, max_retain_bytes);
  check("retain_messages", options.retain_messages, max_retain_messages);
  if (options.retain_messages == 0 || options.retain_bytes == 0) return;
  const std::size_t entries = std::bit_ceil(options.retain_messages);
  mask_ = entries - 1;
  constexpr std::string_view use = "a message store; lower its limits";
  index_ = map_array<Entry>(entries, use);
  bytes_ = map_array<char>(options.retain_bytes, use);
}

bool MemoryMessageStore::append(SeqNum seq, std::string_view bytes, UtcTime) noexcept {
  NFX_TRACE();
  const std::uint64_t number = value(seq);
  forget_from(number);
  const bool unusable_number = number == 0 || number == std::numeric_limits<std::uint64_t>::max();
  const bool unusable_size = bytes.empty() || bytes.size() > options_.retain_bytes;
  if (options_.retain_messages == 0 || unusable_number || unusable_size) {
    ++counts_.refused;
    return false;
  }
  if (number >= options_.retain_messages) evict_below(number - options_.retain_messages + 1);
  const auto length = static_cast<std::uint32_t>(bytes.size());
  const std::uint32_t offset = evict_for(length);
  NFX_ASSERT(std::size_t{offset} + length <= options_.retain_bytes);
  NFX_ASSERT(live_ == 0 || last_ < number);  // ascending within an epoch
  NFX_ASSERT(slot(number).seq == 0);         // the slot is free: no stored message is lost
  std::memcpy(bytes_.get() + offset, bytes.data(), bytes.size());
  slot(number) = Entry{number, offset, length};
  head_ = offset + length;
  if (live_ == 0) {
    first_ = number;
    tail_ = offset;
  }
  last_ = number;
  ++live_;
  ++counts_.appended;
  prefetch_next(bytes_.get() + head_, options_.retain_bytes - head_);
  NFX_ASSERT(first_ <= last_ && last_ - first_ < options_.retain_messages && live_ <= options_.retain_messages);
  return true;
}

void MemoryMessageStore::reset(UtcTime now) noexcept {
  forget_all();
  next_outbound_ = first_seq_num;
  next_inbound_ = first_seq_num;
  creation_time_ = now;
}

void MemoryMessageStore::prefault() noexcept {
  if (bytes_ == nullptr) return;
  touch_pages(index_.get(), index_.get_deleter().size);
  touch_pages(bytes_.get(), bytes_.get_deleter().size);
}

void MemoryMessageStore::warm() const noexcept {
  if (bytes_ == nullptr) return;
  prefetch_next(bytes_.get() + head_, options_.retain_bytes - head_);
  prefetch_lines(&slot(value(next_outbound_)), sizeof(Entry));
}

// Clears every forgotten entry: a later epoch that skips this number must not find the old message there.
void MemoryMessageStore::forget_from(std::uint64_t seq) noexcept {
  if (live_ == 0 || seq > last_) return;
  if (seq <= first_) return forget_all();
  for (std::uint64_t number = last_; number >= seq; --number) {
    Entry& entry = slot(number);
    if (entry.seq != number) continue;
    head_ = entry.offset;
    entry.seq = 0;
    --live_;
  }
  last_ = seq - 1;
  NFX_ASSERT(live_ > 0 && slot(first_).seq == first_);
  while (slot(last_).seq != last_) --last_;  // ends at first_ at the latest
}

void MemoryMessageStore::forget_all() noexcept {
  if (live_ > 0) {
    for (std::uint64_t number = first_; number <= last_; ++number) slot(number).seq = 0;
  }
  live_ = 0;
  head_ = 0;
  tail_ = 0;
}

void MemoryMessageStore::evict_below(std::uint64_t seq) noexcept {
  while (live_ > 0 && first_ < seq) evict_oldest();
}

void MemoryMessageStore::evict_oldest() noexcept {
  NFX_ASSERT(live_ > 0 && slot(first_).seq == first_);
  slot(first_).seq = 0;
  --live_;
  ++counts_.evicted;
  if (live_ == 0) return;
  do {
    ++first_;
    NFX_ASSERT(first_ <= last_);
  } while (slot(first_).seq != first_);  // ends at last_ at the latest
  tail_ = slot(first_).offset;
}

// Finds `length` contiguous bytes and returns their offset.
std::uint32_t MemoryMessageStore::evict_for(std::uint32_t length) noexcept {
  const auto size = static_cast<std::uint32_t>(options_.retain_bytes);
  NFX_ASSERT(length <= size && head_ <= size && tail_ <= size);
  while (live_ > 0) {
    if (head_ > tail_) {
      if (size - head_ >= length) return head_;
      if (tail_ >= length) return 0;
    } else if (tail_ - head_ >= length) {
      return head_;
    }
    evict_oldest();
  }
  return 0;
}

}  // namespace nfx
