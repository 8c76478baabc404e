// Stores out-of-order messages in one buffer without a heap allocation per message.
#include "nexusfix/session/session.hpp"

#include <algorithm>
#include <cstring>

#include "nexusfix/base/assert.hpp"

namespace nfx {

GapQueue::GapQueue(std::uint32_t max_messages, std::uint32_t max_bytes)
    : max_messages_(max_messages),
      max_bytes_(max_bytes),
      entries_(map_array<Entry>(max_messages, "messages after a gap; lower max_queued_messages")),
      bytes_(map_array<char>(max_bytes, "messages after a gap; lower max_queued_bytes")) {}

bool GapQueue::push(SeqNum seq, std::string_view message) noexcept {
  NFX_ASSERT(first_ <= last_ && last_ <= max_messages_ && used_bytes_ <= max_bytes_);
  if (empty()) clear();
  // Messages nearly always arrive in ascending order, so the search for the place starts at the end.
  std::uint32_t place = last_;
  while (place > first_ && entries_[place - 1].seq > seq) --place;
  if (place > first_ && entries_[place - 1].seq == seq) return true;
  // Space is reused once the queue is empty; compacting it earlier would stall the thread and rarely help.
  if (last_ == max_messages_ || message.size() > max_bytes_ - used_bytes_) return false;
  std::move_backward(&entries_[place], &entries_[last_], &entries_[last_] + 1);
  const auto size = static_cast<std::uint32_t>(message.size());
  std::memcpy(&bytes_[used_bytes_], message.data(), size);
  entries_[place] = Entry{seq, used_bytes_, size};
  used_bytes_ += size;
  ++last_;
  NFX_ASSERT(used_bytes_ <= max_bytes_ && last_ <= max_messages_);
  NFX_ASSERT(place == first_ || entries_[place - 1].seq < seq);
  NFX_ASSERT(place + 1 == last_ || seq < entries_[place + 1].seq);
  return true;
}

std::optional<std::string_view> GapQueue::take(SeqNum seq) noexcept {
  if (first_from(seq) != seq) return std::nullopt;
  const Entry& entry = entries_[first_++];
  NFX_ASSERT(entry.seq == seq && entry.offset + entry.size <= used_bytes_);
  return std::string_view{&bytes_[entry.offset], entry.size};
}

void GapQueue::clear() noexcept { first_ = last_ = used_bytes_ = 0; }

}  // namespace nfx
