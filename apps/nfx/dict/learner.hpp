// Finds parts of a log that a dictionary lacks: fields, fields of messages, listed values, message types, and groups of
// undeclared fields; and writes them as an overlay. The place of an undeclared field depends on the next fields.
// Between two members of a group's entry it belongs to the group, after the last member that it was seen after. After
// the last entry it belongs to the group only if it was also seen within an entry. Before a header field it belongs to
// the header.
// Thread: one owner. Lifetime: the dictionary outlives it. Bounds: max_findings in total and max_per_scope in one
// message or group, so that the overlay stays within a dictionary's bounds; further findings are counted.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dictionary/model_overlay.hpp"
#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::app {

// Guesses a field's type from its values: the narrowest type that accepts all of them, and text when in doubt.
class ValueGuess {
 public:
  void see(std::string_view value) noexcept {
    if (value.empty()) return;
    ++seen_;
    // Numbers with leading zeros are more likely to be names.
    const std::string_view digits = value.substr(value.starts_with('-') ? 1 : 0);
    const bool padded = digits.size() > 1 && digits[0] == '0' && digits[1] != '.';
    integers_ = integers_ && !padded && has_format(value, FieldType::integer);
    decimals_ = decimals_ && !padded && has_format(value, FieldType::float_number);
    timestamps_ = timestamps_ && has_format(value, FieldType::utc_timestamp);
    times_ = times_ && has_format(value, FieldType::utc_time_only);
  }

  [[nodiscard]] FieldType type() const noexcept {
    if (seen_ == 0) return FieldType::string;
    if (integers_) return FieldType::integer;
    if (decimals_) return FieldType::float_number;
    if (timestamps_) return FieldType::utc_timestamp;
    return times_ ? FieldType::utc_time_only : FieldType::string;
  }

 private:
  std::uint64_t seen_ = 0;
  bool integers_ = true, decimals_ = true, timestamps_ = true, times_ = true;
};

class Learner {
 public:
  static constexpr std::size_t max_findings = 10'000;
  static constexpr std::size_t max_per_scope = 300;
  static constexpr std::size_t max_values = 200;  // per field; a field with more gets allowOtherValues

  explicit Learner(const Dictionary& base);

  // One message of the dictionary's BeginString.
  void see(const MessageView& message);

  // The overlay for the given dictionary. It names no base, because the caller knows the file.
  [[nodiscard]] OverlayModel overlay() const;
  // One line per finding.
  [[nodiscard]] std::vector<std::string> describe() const;
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  // "D", "D/453" for the entries of that group, "header", "trailer".
  using Path = std::string;
  using Key = std::pair<Path, Tag>;

  struct Finding {
    std::int32_t after = -1;  // position of the last member before it; -1: none
    std::uint64_t count = 0;
    std::uint64_t order = 0;  // order of the first occurrence
  };
  // A group that the dictionary lacks, with its first member first.
  struct NewGroup {
    std::vector<Tag> members;
    std::uint64_t count = 0;
  };
  struct Candidate {
    Path path;
    std::int32_t after;
  };
  // A field that could belong to several scopes, innermost first.
  struct Doubt {
    Tag tag;
    std::vector<Candidate> candidates;
    Finding finding;
  };
  struct Values {
    std::set<std::string, std::less<>> values;
    std::uint64_t count = 0;
    bool too_many = false;
  };
  // A scope being processed: the message, or a group's entry.
  struct Frame {
    const Scope* scope;
    Path path;
    std::int32_t last = -1;  // position of the last member
    std::vector<Tag> seen;   // in this entry
  };
  using Findings = std::map<Key, Finding>;

  // The innermost frame that can contain this field; or none.
  [[nodiscard]] std::size_t frame_of(Tag tag) const;
  void take_member(const Field& field, std::size_t frame, const MemberDef& member);
  void take_value(const FieldDef& field, std::string_view value);
  void take_pending(std::size_t frame, Section next);
  // Returns the number of fields of a new group in `pending_` at this index; 0: there is none.
  std::size_t take_new_group(std::size_t at, const Path& path);
  void take_entries(NewGroup& group, std::size_t begin, std::size_t end);
  void take_single(const Field& field, const std::vector<Candidate>& candidates);
  [[nodiscard]] bool has_room();
  [[nodiscard]] bool has_room_in(const Path& path);

  [[nodiscard]] Findings settled() const;
  [[nodiscard]] std::string name_of(Tag tag) const;
  [[nodiscard]] std::string title_of(const Path& path) const;
  void write_fields(OverlayModel& overlay, const Findings& findings) const;
  void write_findings(OverlayModel& overlay, const Findings& findings) const;
  void write_new_groups(OverlayModel& overlay) const;
  std::vector<OverlayMember>& members_at(OverlayModel& overlay, const Path& path) const;
  [[nodiscard]] OverlayMember whole_group(const GroupDef& group) const;

  const Dictionary& base_;
  Scope strange_scope_;                    // header and trailer, for messages of unknown types
  std::map<Tag, const GroupDef*> groups_;  // all groups of the dictionary, for the same purpose
  std::map<Path, const Scope*> scopes_;    // scopes of the groups that were found
  Findings findings_;
  std::map<std::string, Doubt> doubts_;
  std::map<Key, NewGroup> new_groups_;          // by the enclosing path and the count
  std::map<Tag, ValueGuess> guesses_;           // for fields that the dictionary lacks
  std::map<Tag, Values> values_;                // values that are not listed
  std::map<std::string, std::uint64_t> types_;  // types that are not known
  std::map<Path, std::size_t> in_scope_;        // number of findings per scope
  std::uint64_t seen_ = 0;
  std::uint64_t left_out_ = 0;

  // For the current message.
  std::vector<Frame> frames_;
  std::vector<Field> pending_;  // fields without a frame, since the last field with one
  std::string msg_type_;
  Section section_ = Section::header;
  bool strange_ = false;
};

}  // namespace nfx::app
