// Repeating groups, read in wire order without copying; entries can hold nested groups.
// Thread: the MessageView's. Cost: constructing a view is a lookup. Iterating takes a step per field, and a search
// among the members only for fields that are not in the shape's order. At the end of the last entry, each member is
// searched once among the fields after it. Lifetime: borrows view and shape. Errors: for an entry count that differs
// from NumInGroup, compare size() with declared_size().
//
// Where entries begin. The first one begins at the field after the count: FIX's delimiter, or, as counterparties write
// it, another member when NumInGroup is above zero. Usually that tag begins every entry. Where an entry then has a
// member twice, or the tag is not the delimiter, a repeated member begins the next entry, if NumInGroup announces as
// many entries as that gives.
//
// Fields that are not in the shape, as counterparties add them, belong to the entry in which they appear. An entry has
// everything up to the next entry, and the last one everything up to its last member. FIX has no tag both in a group
// and around it; where a dictionary does, undefined fields before such a tag are assigned to the last entry.
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
  std::span<const GroupShape> nested;  // the shapes of the members that are counts

  [[nodiscard]] bool contains(Tag tag) const noexcept;  // a member, or a member of a nested group
};

// How entries after the first one begin.
enum class EntryRule : std::uint8_t {
  unknown,  // not looked for yet: as `start`
  start,    // the tag that began the first entry
  repeat,   // a member that the entry already has: where that gives as many entries as NumInGroup announces
};

// Fields [begin, end) of a message: one entry of a group.
class GroupEntry {
 public:
  GroupEntry(const MessageView& message, std::uint32_t begin, std::uint32_t end) noexcept
      : message_(&message), begin_(begin), end_(end) {
    NFX_ASSERT(begin <= end && end <= message.size());
  }

  [[nodiscard]] std::uint32_t size() const noexcept { return end_ - begin_; }
  [[nodiscard]] Field operator[](std::uint32_t i) const noexcept {
    NFX_ASSERT(i < size());
    return (*message_)[begin_ + i];
  }

  // First field of the entry with this tag; empty when missing. Cost: linear in the entry.
  [[nodiscard]] std::string_view get_view(Tag tag) const noexcept {
    const std::uint32_t index = find(tag);
    return index == MessageView::npos ? std::string_view{} : message_->value_at(index);
  }
  [[nodiscard]] bool has(Tag tag) const noexcept { return find(tag) != MessageView::npos; }

  // Its index in the message, or MessageView::npos; MessageView::int_at and similar functions read the value.
  [[nodiscard, gnu::always_inline]] std::uint32_t find(Tag tag) const noexcept {
    return message_->find_between(begin_, end_, tag);
  }

  // The typed values of MessageView, of this entry's fields.
  [[nodiscard, gnu::always_inline]] std::expected<std::int64_t, FieldError> get_int(Tag tag) const noexcept {
    return message_->int_at(find(tag));
  }
  [[nodiscard, gnu::always_inline]] std::expected<Decimal, FieldError> get_decimal(Tag tag) const noexcept {
    return message_->decimal_at(find(tag));
  }
  [[nodiscard]] std::expected<WideDecimal, FieldError> get_wide_decimal(Tag tag) const noexcept {
    return message_->wide_decimal_at(find(tag));
  }
  [[nodiscard]] std::expected<char, FieldError> get_char(Tag tag) const noexcept {
    return message_->char_at(find(tag));
  }
  [[nodiscard]] std::expected<bool, FieldError> get_bool(Tag tag) const noexcept {
    return message_->bool_at(find(tag));
  }
  [[nodiscard]] std::expected<UtcTimestamp, FieldError> get_utc_timestamp(Tag tag) const noexcept {
    return message_->utc_timestamp_at(find(tag));
  }

  // A group nested in this entry.
  [[nodiscard]] GroupView group(const GroupShape& shape) const noexcept;

 private:
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
    Iterator(const GroupView* group, std::uint32_t begin) noexcept
        : group_(group), begin_(begin), end_(group->entry_end(begin)), more_(group->begins_entry(end_)) {}
    [[nodiscard, gnu::always_inline]] GroupEntry operator*() const noexcept {
      return {*group_->message_, begin_, end_};
    }
    [[gnu::always_inline]] Iterator& operator++() noexcept {
      const std::uint32_t last = begin_;
      const std::uint32_t size = end_ - begin_;
      begin_ = more_ ? end_ : group_->limit_;
      // Entries usually have the same fields. One with the tags of the last, followed by another, needs no search among
      // the members.
      if (more_ && group_->usual_start(begin_ + size) && group_->message_->same_tags(last, begin_, size)) {
        end_ = begin_ + size;
      } else {
        end_ = group_->entry_end(begin_);
        more_ = group_->begins_entry(end_);
      }
      NFX_ASSERT(last < begin_ && begin_ <= end_ && end_ <= group_->limit_);
      return *this;
    }
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
    bool more_ = false;  // another entry begins where this one ends
  };

  GroupView() noexcept = default;
  // The group whose count field is at `count_index`, within fields that end at `limit`.
  GroupView(const MessageView& message, const GroupShape& shape, std::uint32_t count_index,
            std::uint32_t limit) noexcept;

  [[nodiscard]] Iterator begin() const noexcept { return {this, begin_}; }
  [[nodiscard]] Iterator end() const noexcept { return {this, limit_}; }
  [[nodiscard]] bool empty() const noexcept { return begin_ == limit_; }

  // Entries present, and entries announced (-1 when NumInGroup is not a number or the group is absent).
  [[nodiscard]] std::uint32_t size() const noexcept;
  [[nodiscard]] std::int64_t declared_size() const noexcept { return declared_; }

  // The rule of a group with this many announced entries, whose first entry begins at `first` and whose fields are
  // before `limit`. Cost: a pass over these fields at most.
  [[nodiscard]] static EntryRule rule_of(const MessageView& message, const GroupShape& shape, std::uint32_t first,
                                         std::uint32_t limit, std::int64_t declared) noexcept;

 private:
  // The field has the tag that starts the first entry, and no other tag starts entries.
  [[nodiscard, gnu::always_inline]] bool usual_start(std::uint32_t index) const noexcept {
    return index < limit_ && message_->tag_at(index) == start_ && rule_ != EntryRule::repeat;
  }
  // Whether an entry begins where another one has ended.
  [[nodiscard, gnu::always_inline]] bool begins_entry(std::uint32_t index) const noexcept {
    if (index >= limit_) return false;
    return message_->tag_at(index) == start_ || (rule_ == EntryRule::repeat && is_member(index));
  }
  [[nodiscard]] bool is_member(std::uint32_t index) const noexcept;
  // One past the last field of the entry that begins at `begin`; limit_ for limit_.
  [[nodiscard]] std::uint32_t entry_end(std::uint32_t begin) const noexcept;
  // The same, when another member than the shape's first starts the entries.
  [[nodiscard]] std::uint32_t entry_end_in_any_order(std::uint32_t begin) const noexcept;
  // The same, when a repeated member begins the next entry.
  [[nodiscard]] std::uint32_t entry_end_by_repeat(std::uint32_t begin) const noexcept;
  // Whether the field at `index`, of the entry from `begin` on, is a repeated member that begins the next entry.
  [[nodiscard]] bool repeats_into_next(std::uint32_t begin, std::uint32_t index) const noexcept;
  // entry_end() from a field on that is not in the shape.
  [[nodiscard]] std::uint32_t end_past_undefined(std::uint32_t begin, std::uint32_t undefined) const noexcept;

  const MessageView* message_ = nullptr;
  const GroupShape* shape_ = nullptr;
  Tag start_{};
  mutable EntryRule rule_ = EntryRule::unknown;
  std::uint32_t begin_ = 0;  // of the first entry, or the limit
  std::uint32_t limit_ = 0;  // no field of the group is at or after it
  std::int64_t declared_ = -1;
};

}  // namespace nfx
