#include "nexusfix/wire/group_view.hpp"

#include <algorithm>

namespace nfx {

bool GroupShape::contains(Tag tag) const noexcept {
  return std::ranges::find(members, tag) != members.end() ||
         std::ranges::any_of(nested, [tag](const GroupShape& inner) { return inner.contains(tag); });
}

GroupView GroupEntry::group(const GroupShape& shape) const noexcept {
  const std::uint32_t count_index = find(shape.count);
  return count_index == MessageView::npos ? GroupView{} : GroupView{*message_, shape, count_index, end_};
}

GroupView::GroupView(const MessageView& message, const GroupShape& shape, std::uint32_t count_index,
                     std::uint32_t limit) noexcept
    : message_(&message), shape_(&shape), begin_(count_index + 1), limit_(limit) {
  if (shape.members.empty()) {
    begin_ = limit_;  // nothing can start an entry
    return;
  }
  delimiter_ = shape.members.front();
  const auto declared = message.int_at(count_index);
  if (declared && *declared >= 0) declared_ = *declared;
  if (!starts_entry(begin_)) begin_ = limit_;
}

std::uint32_t GroupView::entry_end(std::uint32_t begin) const noexcept {
  if (begin == limit_) return limit_;
  const std::span<const Tag> members = shape_->members;
  std::size_t next = 1;  // the member to expect
  std::uint32_t end = begin + 1;
  for (; end < limit_; ++end) {
    const Tag tag = message_->tag_at(end);
    if (next < members.size() && tag == members[next]) {
      ++next;
    } else if (!goes_on_with(tag, next)) {
      break;
    }
  }
  return end;
}

bool GroupView::goes_on_with(Tag tag, std::size_t& next) const noexcept {
  const std::span<const Tag> members = shape_->members;
  if (tag == delimiter_) return false;
  const auto found = std::ranges::find(members, tag);
  if (found != members.end()) {
    next = static_cast<std::size_t>(found - members.begin()) + 1;
    return true;
  }
  return std::ranges::any_of(shape_->nested, [tag](const GroupShape& inner) { return inner.contains(tag); });
}

std::uint32_t GroupView::size() const noexcept { return static_cast<std::uint32_t>(std::distance(begin(), end())); }

}  // namespace nfx
