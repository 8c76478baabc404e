#include "nexusfix/wire/group_view.hpp"

#include <algorithm>

#include "nexusfix/wire/field_values.hpp"

namespace nfx {

bool GroupShape::contains(Tag tag) const noexcept {
  return std::ranges::find(members, tag) != members.end() ||
         std::ranges::any_of(nested, [tag](const GroupShape& inner) { return inner.contains(tag); });
}

std::uint32_t GroupEntry::find(Tag tag) const noexcept {
  for (std::uint32_t i = begin_; i < end_; ++i) {
    if (message_->tag_at(i) == tag) return i;
  }
  return MessageView::npos;
}

std::string_view GroupEntry::get_view(Tag tag) const noexcept {
  const std::uint32_t index = find(tag);
  return index == MessageView::npos ? std::string_view{} : (*message_)[index].value;
}

GroupView GroupEntry::group(const GroupShape& shape) const noexcept {
  const std::uint32_t count_index = find(shape.count);
  return count_index == MessageView::npos ? GroupView{} : GroupView{*message_, shape, count_index, end_};
}

GroupView::GroupView(const MessageView& message, const GroupShape& shape, std::uint32_t count_index,
                     std::uint32_t limit) noexcept
    : message_(&message), shape_(&shape), begin_(count_index + 1), end_(begin_) {
  const auto declared = parse_int(message[count_index].value);
  if (declared && *declared >= 0) declared_ = *declared;
  // Fields that do not start with the delimiter are no entry, whatever NumInGroup says.
  if (begin_ == limit || shape.members.empty() || message.tag_at(begin_) != shape.members.front()) return;
  while (end_ != limit && shape.contains(message.tag_at(end_))) ++end_;
}

std::uint32_t GroupView::entry_end(std::uint32_t begin) const noexcept {
  std::uint32_t end = begin + 1;
  while (end < end_ && message_->tag_at(end) != shape_->members.front()) ++end;
  return end;
}

std::uint32_t GroupView::size() const noexcept { return static_cast<std::uint32_t>(std::distance(begin(), end())); }

GroupView::Iterator::Iterator(const GroupView* group, std::uint32_t begin) noexcept
    : group_(group), begin_(begin), end_(begin == group->end_ ? begin : group->entry_end(begin)) {}

GroupView::Iterator& GroupView::Iterator::operator++() noexcept {
  *this = Iterator{group_, end_};
  return *this;
}

}  // namespace nfx
