// Where the entries of a repeating group end, also when counterparties reorder members or add fields of their own.
#include "nexusfix/wire/group_view.hpp"

#include <algorithm>

namespace nfx {

bool GroupShape::contains(Tag tag) const noexcept {
  return std::ranges::find(members, tag) != members.end() ||
         std::ranges::any_of(nested, [tag](const GroupShape& inner) { return inner.contains(tag); });
}

GroupView GroupEntry::group(const GroupShape& shape, EntryStart start) const noexcept {
  const std::uint32_t count_index = find(shape.count);
  return count_index == MessageView::npos ? GroupView{} : GroupView{*message_, shape, count_index, end_, start};
}

GroupView::GroupView(const MessageView& message, const GroupShape& shape, EntryStart start) noexcept {
  const std::uint32_t count_index = message.find(shape.count);
  if (count_index != MessageView::npos) *this = GroupView{message, shape, count_index, message.size(), start};
}

GroupView::GroupView(const MessageView& message, const GroupShape& shape, std::uint32_t count_index,
                     std::uint32_t limit, EntryStart start) noexcept
    : message_(&message), shape_(&shape), begin_(count_index + 1), limit_(limit) {
  NFX_ASSERT(count_index < limit && limit <= message.size());
  if (shape.members.empty()) {
    begin_ = limit_;  // nothing can start an entry
    return;
  }
  delimiter_ = shape.members.front();
  if (start == EntryStart::first_field && begin_ < limit_ &&
      std::ranges::find(shape.members, message.tag_at(begin_)) != shape.members.end()) {
    delimiter_ = message.tag_at(begin_);
  }
  const auto declared = message.int_at(count_index);
  if (declared && *declared >= 0) declared_ = *declared;
  if (!starts_entry(begin_)) begin_ = limit_;
}

std::uint32_t GroupView::entry_end(std::uint32_t begin) const noexcept {
  if (begin == limit_) return limit_;
  NFX_ASSERT(starts_entry(begin));
  const std::span<const Tag> members = shape_->members;
  if (delimiter_ != members.front()) [[unlikely]]
    return entry_end_in_any_order(begin);
  std::size_t next = 1;  // the member to expect
  std::uint32_t end = begin + 1;
  for (; end < limit_; ++end) {
    const Tag tag = message_->tag_at(end);
    if (next < members.size() && tag == members[next]) {
      ++next;
    } else if (!continues_with(tag, next)) {
      return tag == delimiter_ ? end : end_past_undefined(begin, end);
    }
  }
  return end;
}

std::uint32_t GroupView::entry_end_in_any_order(std::uint32_t begin) const noexcept {
  std::uint32_t end = begin + 1;
  for (; end < limit_; ++end) {
    const Tag tag = message_->tag_at(end);
    if (tag == delimiter_) break;
    if (!shape_->contains(tag)) return end_past_undefined(begin, end);
  }
  return end;
}

bool GroupView::continues_with(Tag tag, std::size_t& next) const noexcept {
  const std::span<const Tag> members = shape_->members;
  if (tag == delimiter_) return false;
  const auto found = std::ranges::find(members, tag);
  if (found != members.end()) {
    next = static_cast<std::size_t>(found - members.begin()) + 1;
    return true;
  }
  return std::ranges::any_of(shape_->nested, [tag](const GroupShape& inner) { return inner.contains(tag); });
}

std::uint32_t GroupView::end_past_undefined(std::uint32_t begin, std::uint32_t undefined) const noexcept {
  NFX_ASSERT(begin < undefined && undefined < limit_);
  const std::uint32_t after = undefined + 1;
  if (after == limit_) return undefined;
  // The next entry's delimiter ends this one, whatever is between.
  const std::uint32_t next_entry = message_->find_between(after, limit_, delimiter_);
  if (next_entry != MessageView::npos) return next_entry;
  // Nearly always the undefined field is the first one after the group, and none of the members follows.
  const auto follows = [&](const auto& self, const GroupShape& shape) -> bool {
    return std::ranges::any_of(
               shape.members,
               [&](Tag tag) { return message_->find_between(after, limit_, tag) != MessageView::npos; }) ||
           std::ranges::any_of(shape.nested, [&](const GroupShape& inner) { return self(self, inner); });
  };
  if (!follows(follows, *shape_)) return undefined;
  std::uint32_t end = undefined;
  for (std::uint32_t i = after; i < limit_; ++i) {
    const Tag tag = message_->tag_at(i);
    if (std::ranges::find(shape_->members, tag) != shape_->members.end()) {
      // A member that the entry already has is a field of the same tag outside the group.
      if (message_->find_between(begin, end, tag) != MessageView::npos) break;
      end = i + 1;
    } else if (shape_->contains(tag)) {
      end = i + 1;
    }
  }
  NFX_ASSERT(undefined <= end && end <= limit_);
  return end;
}

std::uint32_t GroupView::size() const noexcept { return static_cast<std::uint32_t>(std::distance(begin(), end())); }

}  // namespace nfx
