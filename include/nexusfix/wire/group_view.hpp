// Repeating groups, read in wire order without copying; entries can hold nested groups.
// Thread: that of the MessageView. Cost: one step per field of the group. Lifetime: borrows view and shape.
// Errors: an entry count that differs from NumInGroup is not hidden: compare size() with declared_size().
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

#include "nexusfix/wire/message_view.hpp"

namespace nfx {

// Which fields belong to a group. The first member starts every entry (FIX's delimiter rule).
struct GroupShape {
  Tag count{};                         // the NumInGroup field
  std::span<const Tag> members;        // the delimiter first; nested counts included
  std::span<const GroupShape> nested;  // the shapes of those members that are counts

  [[nodiscard]] bool contains(Tag tag) const noexcept;  // a member, or a member of a nested group
};

// Fields [begin, end) of a message: one entry of a group.
class GroupEntry {
 public:
  GroupEntry(const MessageView& message, std::uint32_t begin, std::uint32_t end) noexcept
      : message_(&message), begin_(begin), end_(end) {}

  [[nodiscard]] std::uint32_t size() const noexcept { return end_ - begin_; }
  [[nodiscard]] Field operator[](std::uint32_t i) const noexcept { return (*message_)[begin_ + i]; }

  // First field of the entry with this tag; empty when missing. Cost: linear in the entry.
  [[nodiscard]] std::string_view get_view(Tag tag) const noexcept;
  [[nodiscard]] bool has(Tag tag) const noexcept { return find(tag) != MessageView::npos; }

  // A group nested in this entry.
  [[nodiscard]] GroupView group(const GroupShape& shape) const noexcept;

 private:
  [[nodiscard]] std::uint32_t find(Tag tag) const noexcept;

  const MessageView* message_;
  std::uint32_t begin_;
  std::uint32_t end_;
};

class GroupView {
 public:
  class Iterator {
   public:
    using value_type = GroupEntry;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::forward_iterator_tag;

    Iterator() noexcept = default;
    Iterator(const GroupView* group, std::uint32_t begin) noexcept;
    [[nodiscard]] GroupEntry operator*() const noexcept { return {*group_->message_, begin_, end_}; }
    Iterator& operator++() noexcept;
    Iterator operator++(int) noexcept {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) noexcept { return a.begin_ == b.begin_; }

   private:
    const GroupView* group_ = nullptr;
    std::uint32_t begin_ = 0;
    std::uint32_t end_ = 0;
  };

  GroupView() noexcept = default;
  // The group whose count field is at `count_index`, within fields that end at `limit`.
  GroupView(const MessageView& message, const GroupShape& shape, std::uint32_t count_index,
            std::uint32_t limit) noexcept;

  [[nodiscard]] Iterator begin() const noexcept { return {this, begin_}; }
  [[nodiscard]] Iterator end() const noexcept { return {this, end_}; }
  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }

  // Entries present, and entries announced (-1 when NumInGroup is no number or the group is absent).
  [[nodiscard]] std::uint32_t size() const noexcept;
  [[nodiscard]] std::int64_t declared_size() const noexcept { return declared_; }

 private:
  [[nodiscard]] std::uint32_t entry_end(std::uint32_t begin) const noexcept;

  const MessageView* message_ = nullptr;
  const GroupShape* shape_ = nullptr;
  std::uint32_t begin_ = 0;
  std::uint32_t end_ = 0;
  std::int64_t declared_ = -1;
};

}  // namespace nfx
