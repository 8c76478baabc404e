// Finds the entries of a repeating group, even if counterparties reorder members or add fields of their own.
#include "nexusfix/wire/group_view.hpp"

#include <algorithm>

namespace nfx {
namespace {

[[nodiscard]] bool is_one_of(std::span<const Tag> members, Tag tag) noexcept {
  return std::ranges::find(members, tag) != members.end();
}

[[nodiscard]] bool is_nested(const GroupShape& shape, Tag tag) noexcept {
  return std::ranges::any_of(shape.nested, [tag](const GroupShape& inner) { return inner.contains(tag); });
}

}  // namespace

bool GroupShape::contains(Tag tag) const noexcept { return is_one_of(members, tag) || is_nested(*this, tag); }

GroupView GroupEntry::group(const GroupShape& shape) const noexcept {
  const std::uint32_t count_index = find(shape.count);
  return count_index == MessageView::npos ? GroupView{} : GroupView{*message_, shape, count_index, end_};
}

GroupView::GroupView(const MessageView& message, const GroupShape& shape, std::uint32_t count_index,
                     std::uint32_t limit) noexcept
    : message_(&message), shape_(&shape), begin_(count_index + 1), limit_(limit) {
  NFX_ASSERT(count_index < limit && limit <= message.size());
  if (shape.members.empty()) {
    begin_ = limit_;  // nothing can start an entry
    return;
  }
  start_ = shape.members.front();
  const auto declared = message.int_at(count_index);
  if (declared && *declared >= 0) declared_ = *declared;
  if (begin_ >= limit_ || message.tag_at(begin_) == start_) return;
  if (declared_ <= 0 || !is_member(begin_)) {
    begin_ = limit_;
    return;
  }
  start_ = message.tag_at(begin_);
  rule_ = rule_of(message, shape, begin_, limit_, declared_);
}

EntryRule GroupView::rule_of(const MessageView& message, const GroupShape& shape, std::uint32_t first,
                             std::uint32_t limit, std::int64_t declared) noexcept {
  NFX_ASSERT(first < limit && limit <= message.size() && !shape.members.empty());
  std::int64_t entries = 1;
  std::uint32_t begin = first;
  for (std::uint32_t i = first + 1; i < limit && entries <= declared; ++i) {
    const Tag tag = message.tag_at(i);
    if (!is_one_of(shape.members, tag) || message.find_between(begin, i, tag) == MessageView::npos) continue;
    ++entries;
    begin = i;
  }
  return entries == declared ? EntryRule::repeat : EntryRule::start;
}

bool GroupView::is_member(std::uint32_t index) const noexcept {
  return is_one_of(shape_->members, message_->tag_at(index));
}

std::uint32_t GroupView::entry_end(std::uint32_t begin) const noexcept {
  if (begin == limit_) return limit_;
  NFX_ASSERT(begins_entry(begin));
  const std::span<const Tag> members = shape_->members;
  if (rule_ == EntryRule::repeat) [[unlikely]]
    return entry_end_by_repeat(begin);
  if (start_ != members.front()) [[unlikely]]
    return entry_end_in_any_order(begin);
  std::size_t next = 1;  // the next expected member; the entry has no member from here on yet
  std::uint32_t end = begin + 1;
  for (; end < limit_; ++end) {
    const Tag tag = message_->tag_at(end);
    if (next < members.size() && tag == members[next]) {
      ++next;
      continue;
    }
    if (tag == start_) return end;
    const auto found = std::ranges::find(members, tag);
    if (found == members.end()) {
      if (!is_nested(*shape_, tag)) return end_past_undefined(begin, end);
      continue;
    }
    const auto place = static_cast<std::size_t>(found - members.begin());
    if (place >= next) {
      next = place + 1;
    } else if (repeats_into_next(begin, end)) {
      return end;
    }
  }
  return end;
}

std::uint32_t GroupView::entry_end_in_any_order(std::uint32_t begin) const noexcept {
  std::uint32_t end = begin + 1;
  for (; end < limit_; ++end) {
    const Tag tag = message_->tag_at(end);
    if (tag == start_) break;
    if (!shape_->contains(tag)) return end_past_undefined(begin, end);
  }
  return end;
}

std::uint32_t GroupView::entry_end_by_repeat(std::uint32_t begin) const noexcept {
  std::uint32_t end = begin + 1;
  for (std::uint32_t i = begin + 1; i < limit_; ++i) {
    const Tag tag = message_->tag_at(i);
    if (is_member(i)) {
      if (message_->find_between(begin, i, tag) != MessageView::npos) return i;
      end = i + 1;
    } else if (is_nested(*shape_, tag)) {
      end = i + 1;
    }
  }
  return end;
}

[[gnu::cold, gnu::noinline]] bool GroupView::repeats_into_next(std::uint32_t begin,
                                                               std::uint32_t index) const noexcept {
  if (rule_ == EntryRule::start) return false;
  if (message_->find_between(begin, index, message_->tag_at(index)) == MessageView::npos) return false;
  if (rule_ == EntryRule::unknown) rule_ = rule_of(*message_, *shape_, begin_, limit_, declared_);
  return rule_ == EntryRule::repeat;
}

std::uint32_t GroupView::end_past_undefined(std::uint32_t begin, std::uint32_t undefined) const noexcept {
  NFX_ASSERT(begin < undefined && undefined < limit_);
  const std::uint32_t after = undefined + 1;
  if (after == limit_) return undefined;
  // The start of the next entry ends this one, whatever is between, except a member that begins the next entry.
  const std::uint32_t next_entry = message_->find_between(after, limit_, start_);
  if (next_entry != MessageView::npos) {
    for (std::uint32_t i = after; i < next_entry; ++i) {
      if (is_member(i) && repeats_into_next(begin, i)) return i;
    }
    return next_entry;
  }
  // The undefined field is nearly always the first one after the group, followed by none of the members.
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
    if (is_member(i)) {
      if (repeats_into_next(begin, i)) return i;
      // If the entry already has this member, the field belongs outside the group.
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
