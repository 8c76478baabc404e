// Matches the fields of a message with a dictionary's names and groups, and explains unreadable parts.
#include "decode/decoder.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "nexusfix/wire/encoder.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "text.hpp"

namespace nfx::app {
namespace {

constexpr std::uint32_t max_fields = 32768;  // per step; later steps read the rest

// The tag and value of a piece of text without SOH; readable is false if it is not a field.
DecodedField read_one(std::string_view text) noexcept {
  DecodedField field{.value = text, .readable = false};
  std::int32_t tag = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), tag);
  if (error != std::errc{} || end == text.data() + text.size() || *end != '=') return field;
  field.tag = Tag{tag};
  field.value.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  field.readable = true;
  return field;
}

std::string at_byte(std::size_t offset) { return " (byte " + std::to_string(offset) + ")"; }

std::string three_digits(unsigned number) {
  std::string text = std::to_string(number);
  text.insert(0, 3 - std::min<std::size_t>(text.size(), 3), '0');
  return text;
}

// A group that is open during the pass over the fields.
struct OpenGroup {
  const GroupDef* group;
  std::uint32_t first = 0;    // index of its first field in the message
  std::int64_t declared = 0;  // number of entries according to its count
  Tag start{};                // the tag that begins the first entry
  std::uint32_t limit = 0;    // the group has no field at or after this index
  EntryRule rule = EntryRule::unknown;
  std::uint32_t entry = 0;
  std::vector<Tag> seen{};  // in this entry

  [[nodiscard]] bool has_seen(Tag tag) const { return std::ranges::find(seen, tag) != seen.end(); }
};

// Finds the starts of entries like GroupView. `message` is empty if it could not be read whole: then the delimiter
// starts them.
template <class IsAround>
OpenGroup open_group(const GroupDef& group, std::string_view count, std::uint32_t first, const MessageView& message,
                     IsAround&& is_around) {
  OpenGroup open{.group = &group, .first = first, .start = group.scope.members().front().tag, .limit = first};
  while (open.limit < message.size()) {
    const Tag tag = message.tag_at(open.limit);
    if (!group.shape.contains(tag) && is_around(tag)) break;
    ++open.limit;
  }
  if (const auto declared = parse_int(count)) open.declared = *declared;
  if (first >= open.limit || open.declared <= 0 || message.tag_at(first) == open.start) return open;
  if (group.find(message.tag_at(first)) == nullptr) return open;
  open.start = message.tag_at(first);
  open.rule = GroupView::rule_of(message, group.shape, first, open.limit, open.declared);
  return open;
}

bool begins_entry(OpenGroup& open, Tag tag, const MessageView& message) {
  if (open.entry == 0) return true;
  const bool repeated = open.has_seen(tag);
  if (repeated && tag != open.start && open.rule == EntryRule::unknown && open.first < open.limit)
    open.rule = GroupView::rule_of(message, open.group->shape, open.first, open.limit, open.declared);
  return open.rule == EntryRule::repeat ? repeated : tag == open.start;
}

}  // namespace

Decoder::Decoder(Dictionaries& dictionaries, bool validate, DecodedParts parts)
    : dictionaries_(dictionaries), validate_(validate), parts_(parts), view_(max_fields), rest_view_(max_fields) {}

const DecodedMessage& Decoder::decode(const FoundMessage& found) {
  std::vector<DecodedField> fields = std::move(decoded_.fields);
  fields.clear();
  decoded_ = {};
  decoded_.fields = std::move(fields);
  decoded_.found = found;
  read_fields(found.text);

  const auto first = [this](Tag tag) {
    const auto field =
        std::ranges::find_if(decoded_.fields, [tag](const DecodedField& f) { return f.readable && f.tag == tag; });
    return field == decoded_.fields.end() ? std::string_view{} : field->value;
  };
  decoded_.begin_string = first(Tag::BeginString);
  decoded_.msg_type = first(Tag::MsgType);
  decoded_.sender = first(Tag::SenderCompID);
  decoded_.target = first(Tag::TargetCompID);
  decoded_.seq = first(Tag::MsgSeqNum);
  decoded_.time = first(Tag::SendingTime);
  const bool names_version = decoded_.begin_string.starts_with("FIXT");
  const DictionaryChoice choice = dictionaries_.find(
      decoded_.begin_string, names_version ? appl_ver_id(first(Tag{1128}), first(Tag{1137})) : std::string_view{});
  decoded_.dictionary = choice.dictionary;
  decoded_.exact_dictionary = choice.exact;
  if (decoded_.dictionary != nullptr) {
    if (const MessageDef* message = decoded_.dictionary->find_message(decoded_.msg_type)) {
      decoded_.type_name = message->name;
      if (parts_ == DecodedParts::all) find_groups(*message);
    }
  }
  decoded_.problem = explain();
  if (validate_) validate_message();
  return decoded_;
}

std::string_view Decoder::appl_ver_id(std::string_view own, std::string_view of_logon) {
  if (!of_logon.empty() && decoded_.msg_type == msg_type::logon) {
    const auto known = default_appl_ver_ids_.find(decoded_.sender);
    if (known != default_appl_ver_ids_.end()) {
      known->second = of_logon;
    } else if (default_appl_ver_ids_.size() < max_senders) {
      default_appl_ver_ids_.emplace(decoded_.sender, of_logon);
    }
  }
  if (!own.empty()) return own;
  const auto known = default_appl_ver_ids_.find(decoded_.sender);
  return known == default_appl_ver_ids_.end() ? std::string_view{} : known->second;
}

void Decoder::read_fields(std::string_view text) {
  decoded_.error = view_.parse_leniently(text);
  const MessageView* view = &view_;
  WireError error = decoded_.error;
  bool after_secret = false;
  for (;;) {
    std::size_t used = 0;
    for (std::uint32_t i = 0; i < view->size(); ++i) {
      const Field field = (*view)[i];
      decoded_.fields.push_back({.tag = field.tag, .value = field.value, .secret = is_secret(field.tag)});
      used = view->offset_at(i) + field.value.size() + 1;
      after_secret = is_secret(field.tag);
    }
    text.remove_prefix(used);
    if (text.empty()) return;
    if (error != WireError::too_many_fields) {
      // This piece is malformed; the next one may be readable.
      const std::size_t end = text.find(soh);
      DecodedField field = read_one(text.substr(0, end));
      // Bytes after a password that are not a field may belong to it.
      field.secret = field.readable ? is_secret(field.tag) : after_secret;
      after_secret = field.secret;
      if (!field.readable && !decoded_.fields.empty() && !decoded_.fields.back().readable) {
        // One piece of garbage, however many separators it contains.
        std::string_view& before = decoded_.fields.back().value;
        before = {before.data(), static_cast<std::size_t>(field.value.data() + field.value.size() - before.data())};
      } else {
        decoded_.fields.push_back(field);
      }
      text.remove_prefix(std::min(text.size(), end == std::string_view::npos ? end : end + 1));
      if (text.empty()) return;
    }
    error = rest_view_.parse_leniently(text);
    view = &rest_view_;
  }
}

// Processes the fields in wire order, with a stack of open groups. It is lenient where the validator is strict: a wrong
// group is still shown as a group.
void Decoder::find_groups(const MessageDef& message) {
  std::vector<OpenGroup> open;
  static const MessageView none;
  const MessageView& whole = decoded_.error == WireError::none ? view_ : none;
  for (std::uint32_t index = 0; index < decoded_.fields.size(); ++index) {
    DecodedField& field = decoded_.fields[index];
    const auto belongs = [&](std::size_t level) {
      return level == 0 ? message.find(field.tag) != nullptr : open[level - 1].group->find(field.tag) != nullptr;
    };
    while (!open.empty() && field.readable) {
      OpenGroup& inner = open.back();
      const bool repeated = inner.has_seen(field.tag) && !begins_entry(inner, field.tag, whole);
      // A member that occurs twice ends the group if the enclosing scope has that field too.
      if (belongs(open.size()) && !(repeated && belongs(open.size() - 1))) break;
      open.pop_back();
    }
    field.depth = static_cast<std::uint8_t>(open.size());
    const MemberDef* member = nullptr;
    if (open.empty()) {
      member = message.find(field.tag);
    } else {
      OpenGroup& inner = open.back();
      if (field.readable && begins_entry(inner, field.tag, whole)) {
        ++inner.entry;
        inner.seen.clear();
        field.starts_entry = true;
      }
      field.entry = inner.entry;
      if (!inner.has_seen(field.tag)) inner.seen.push_back(field.tag);
      member = inner.group->find(field.tag);
    }
    if (field.readable && member != nullptr && member->group != nullptr && field.value != "0")
      open.push_back(open_group(*member->group, field.value, index + 1, whole, [&](Tag tag) {
        return message.find(tag) != nullptr ||
               std::ranges::any_of(open, [tag](const OpenGroup& outer) { return outer.group->find(tag) != nullptr; });
      }));
  }
}

std::string Decoder::explain() const {
  if (decoded_.found.too_long) {
    return "longer than " + std::to_string(MessageScanner::default_max_message_size / (1024 * 1024)) + " MiB: skipped";
  }
  if (decoded_.error == WireError::none) return {};
  const std::string_view text = decoded_.found.text;
  const std::size_t field_end =
      view_.size() == 0 ? 0 : view_.offset_at(view_.size() - 1) + view_[view_.size() - 1].value.size() + 1;
  const std::size_t trailer = text.rfind(
                                  "\x01"
                                  "10=") +
                              1;
  const auto offset_of = [this](Tag tag) { return std::size_t{view_.has(tag) ? view_.offset_at(view_.find(tag)) : 0}; };
  std::string problem{to_string(decoded_.error)};
  switch (decoded_.error) {
    case WireError::none: return {};
    case WireError::too_many_fields:
      return "more than " + std::to_string(max_fields) + " fields: BodyLength and CheckSum are not verified";
    case WireError::body_length_mismatch: {
      const std::size_t length = offset_of(Tag::BodyLength);
      const std::size_t body = text.find(soh, length) + 1;
      problem = "BodyLength is " + std::string{view_.get_view(Tag::BodyLength)} + ", the body has " +
                std::to_string(trailer - body) + " bytes" + at_byte(length);
      const std::string sum = three_digits(check_sum(text.substr(0, trailer)));
      if (const std::string_view declared = view_.get_view(Tag::CheckSum); declared != sum) {
        problem +=
            "; CheckSum is " + std::string{declared} + ", the bytes sum to " + sum + at_byte(offset_of(Tag::CheckSum));
      }
      return problem;
    }
    case WireError::check_sum_mismatch:
      return "CheckSum is " + std::string{view_.get_view(Tag::CheckSum)} + ", the bytes sum to " +
             three_digits(check_sum(text.substr(0, trailer))) + at_byte(offset_of(Tag::CheckSum));
    case WireError::header_order: {
      constexpr std::array<Tag, 3> expected{Tag::BeginString, Tag::BodyLength, Tag::MsgType};
      std::uint32_t i = 0;
      while (i < 3 && i < view_.size() && view_[i].tag == expected[i]) ++i;
      const std::size_t value_at = i < view_.size() ? view_.offset_at(i) : field_end;
      const std::size_t before = value_at == 0 ? std::string_view::npos : text.rfind(soh, value_at - 1);
      return problem + at_byte(i >= view_.size() || before == std::string_view::npos ? field_end : before + 1);
    }
    case WireError::bad_body_length: return problem + at_byte(offset_of(Tag::BodyLength));
    case WireError::bad_check_sum:
      if (decoded_.found.cut_off) return "cut off: no CheckSum ends it";
      return problem + at_byte(view_.has(Tag::CheckSum) ? offset_of(Tag::CheckSum) : text.size());
    case WireError::bad_tag:
    case WireError::bad_data_length:
    case WireError::truncated:
    case WireError::too_large:
    case WireError::not_fix: break;
  }
  problem += at_byte(field_end);
  if (decoded_.found.cut_off) problem += "; cut off: no CheckSum ends it";
  return problem;
}

void Decoder::validate_message() {
  if (decoded_.bad()) return;
  if (!decoded_.exact_dictionary) {
    decoded_.not_validated = "no dictionary for " + std::string{decoded_.begin_string} + ": give one with --dictionary";
    return;
  }
  const auto violation = validate(view_, *decoded_.dictionary, policy_, let_through_);
  if (!violation) return;
  decoded_.violation = to_text(violation->reason);
  if (!violation->has_tag()) return;
  decoded_.violation += ": " + std::to_string(value(violation->tag));
  const std::string_view name = decoded_.dictionary->field_name(violation->tag);
  if (!name.empty()) decoded_.violation += " " + std::string{name};
}

}  // namespace nfx::app
