// The storage of a Dictionary: all targets of its pointers, spans and string_views.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/dictionary/model.hpp"

namespace nfx {

// Message types of up to this size are looked up as integers.
inline constexpr std::size_t short_msg_type_size = 8;

// The first eight characters, padded with zeros. Most texts have one or two.
[[nodiscard]] constexpr std::uint64_t packed(std::string_view text) noexcept {
  std::uint64_t result = 0;
  unsigned shift = 64;
  for (const char c : text.substr(0, 8)) {
    shift -= 8;
    result |= std::uint64_t{static_cast<unsigned char>(c)} << shift;
  }
  return result;
}

// Message definitions by type: open addressing, at most half full.
class MessageIndex {
 public:
  static constexpr std::uint16_t npos = UINT16_MAX;

  MessageIndex() = default;
  explicit MessageIndex(std::span<const MessageDef> messages);
  [[nodiscard]] std::uint16_t find(std::string_view msg_type) const noexcept;

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint16_t index = npos;
  };

  struct LongType {
    std::string_view msg_type;
    std::uint16_t index = npos;
  };

  std::vector<Slot> slots_;
  std::vector<LongType> long_types_;  // rare
};

// A group with the storage that its shape refers to.
struct StoredGroup {
  GroupDef def;
  std::vector<Tag> tags;
  std::vector<GroupShape> nested;
  std::size_t height = 1;  // 1: without nested groups
};

struct Dictionary::Tables {
  std::string begin_string;
  std::string version_name;
  std::deque<std::string> texts;
  std::vector<FieldDef> fields;
  TagIndex field_index;
  std::unordered_map<std::string_view, const FieldDef*> fields_by_name;
  std::deque<StoredGroup> groups;
  std::vector<MessageDef> messages;
  MessageIndex message_index;
  Repairs repairs;
};

}  // namespace nfx
