// Tracks the open groups of a message under construction, and their errors.
#include "nexusfix/dictionary/generated.hpp"

#include <algorithm>
#include <cstdio>

namespace nfx::generated {

// Ends the groups that a field at this depth does not belong to.
void OpenGroups::at(std::uint32_t fields, std::size_t depth) noexcept {
  if (fields != fields_) close(0);
  if (depth_ > depth) close(depth);
}

void OpenGroups::count(std::uint32_t fields, std::size_t depth, Tag group, std::uint32_t entries) noexcept {
  at(fields, depth);
  if (depth_ < depth) return;  // belongs to a finished entry, which was already reported
  if (depth == depth_max) return fail({BuildError::too_deep, group, {}});
  levels_[depth] = {.group = group, .owed = entries, .entry = 0, .required_count = 0, .required = nullptr, .given = 0};
  depth_ = depth + 1;
  fields_ = fields;
}

std::uint32_t OpenGroups::begin_entry(std::uint32_t fields, std::size_t depth, Tag group, Tag first,
                                      std::span<const Tag> required) noexcept {
  at(fields, depth);
  if (depth_ < depth || levels_[depth - 1].group != group) {
    fail({BuildError::entry_over, group, first});
    return 0;
  }
  Level& level = levels_[depth - 1];
  fail(lacks(level));
  if (level.owed == 0) {
    fail({BuildError::too_many_entries, group, {}});
  } else {
    --level.owed;
  }
  level.entry = ++entries_;
  level.given = 0;
  level.required = required.data();
  level.required_count = static_cast<std::uint32_t>(required.size());
  return level.entry;
}

void OpenGroups::in_entry(std::uint32_t fields, std::size_t depth, std::uint32_t entry, Tag group, Tag tag) noexcept {
  at(fields, depth);
  if (depth_ < depth || levels_[depth - 1].entry != entry) fail({BuildError::entry_over, group, tag});
}

// The first required field missing in the open entry.
BuildFault OpenGroups::lacks(const Level& level) noexcept {
  for (std::uint32_t i = 0; i < level.required_count; ++i) {
    if ((level.given >> i & 1) == 0) return {BuildError::missing, level.group, level.required[i]};
  }
  return {};
}

BuildFault OpenGroups::at_end(OpenGroups groups) noexcept {
  groups.close(0);
  return groups.fault_;
}

void OpenGroups::close(std::size_t depth) noexcept {
  for (; depth_ > depth; --depth_) {
    const Level& level = levels_[depth_ - 1];
    fail(lacks(level));
    if (level.owed != 0) fail({BuildError::too_few_entries, level.group, {}});
  }
}

std::string_view to_text(const BuildFault& fault, std::span<char> space) noexcept {
  struct Form {
    const char* text;
    bool tag_first;
  };
  const auto [form, tag_first] = [&]() -> Form {
    switch (fault.error) {
      case BuildError::twice: return {"field %d was set twice", true};
      case BuildError::not_first: return {"an entry of group %d begins with field %d, not with its first one", false};
      case BuildError::out_of_order:
        return {"field %d of an entry of group %d was set twice, or after one that follows it", true};
      case BuildError::entry_over: return {"field %d of an entry of group %d was set after the entry had ended", true};
      case BuildError::missing: return {"an entry of group %d has no field %d", false};
      case BuildError::too_few_entries: return {"group %d has fewer entries than its count", false};
      case BuildError::too_many_entries: return {"group %d has more entries than its count", false};
      case BuildError::too_deep: return {"group %d is within too many other groups", false};
      case BuildError::none: break;
    }
    return {"", false};
  }();
  const int tag = value(fault.tag), group = value(fault.group);
  const int size = std::snprintf(space.data(), space.size(), form, tag_first ? tag : group, tag_first ? group : tag);
  return {space.data(), std::min(static_cast<std::size_t>(std::max(size, 0)), space.size() - 1)};
}

}  // namespace nfx::generated
