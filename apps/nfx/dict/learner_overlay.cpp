// Writes the learner's findings as an overlay and as lines of text.
#include <algorithm>
#include <charconv>

#include "dict/learner.hpp"
#include "text.hpp"

namespace nfx::app {
namespace {

std::string times(std::uint64_t count) { return count == 1 ? "once" : std::to_string(count) + " times"; }

std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> parts;
  // A message type itself may be a slash.
  for (std::size_t begin = 0;;) {
    const std::size_t end = path.find('/', begin + 1);
    parts.push_back(path.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

Tag tag_of(std::string_view digits) {
  std::int32_t tag = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), tag);
  return Tag{tag};
}

bool is_around(std::string_view root) { return root == "header" || root == "trailer"; }

}  // namespace

std::string Learner::name_of(Tag tag) const {
  const std::string_view name = base_.field_name(tag);
  return name.empty() ? "Tag" + std::to_string(value(tag)) : std::string(name);
}

// "NewOrderSingle, in NoPartyIDs(453)".
std::string Learner::title_of(const Path& path) const {
  const auto parts = split(path);
  const std::string_view name = is_around(parts[0]) ? parts[0] : base_.message_name(parts[0]);
  std::string title;
  append_printable(title, name.empty() ? "message type " + std::string(parts[0]) : name);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    title += ", in " + name_of(tag_of(parts[i])) + "(" + std::string(parts[i]) + ")";
  }
  return title;
}

// The findings, with ambiguous ones decided.
Learner::Findings Learner::settled() const {
  Findings all = findings_;
  for (const auto& [unused, doubt] : doubts_) {
    const Candidate* chosen = &doubt.candidates.back();
    for (const Candidate& candidate : doubt.candidates) {
      if (findings_.contains({candidate.path, doubt.tag})) {
        chosen = &candidate;
        break;
      }
    }
    const auto [at, is_new] = all.emplace(Key{chosen->path, doubt.tag}, doubt.finding);
    at->second.after = std::max(at->second.after, chosen->after);
    if (is_new) continue;
    at->second.count += doubt.finding.count;
    at->second.order = std::min(at->second.order, doubt.finding.order);
  }
  // Members of a new group that were seen before the group was recognised.
  std::erase_if(all, [this](const auto& finding) {
    const auto& [path, tag] = finding.first;
    return std::ranges::any_of(new_groups_, [&](const auto& group) {
      return group.first.first == path &&
             (group.first.second == tag || std::ranges::find(group.second.members, tag) != group.second.members.end());
    });
  });
  return all;
}

OverlayModel Learner::overlay() const {
  OverlayModel overlay;
  const Findings findings = settled();
  write_fields(overlay, findings);
  // Unknown types come first, even without further findings.
  for (const auto& [type, count] : types_) static_cast<void>(members_at(overlay, type));
  write_findings(overlay, findings);
  write_new_groups(overlay);
  return overlay;
}

void Learner::write_fields(OverlayModel& overlay, const Findings& findings) const {
  std::map<Tag, FieldType> added;
  const auto add = [&](Tag tag, bool counts) {
    if (base_.find_field(tag) != nullptr) return;
    const auto guess = guesses_.find(tag);
    FieldType& type =
        added.try_emplace(tag, guess == guesses_.end() ? FieldType::string : guess->second.type()).first->second;
    if (counts) type = FieldType::num_in_group;
  };
  for (const auto& [key, finding] : findings) add(key.second, false);
  for (const auto& [key, group] : new_groups_) {
    add(key.second, true);
    for (const Tag member : group.members) add(member, false);
  }
  for (const auto& [tag, type] : added) {
    overlay.fields.push_back({tag, name_of(tag), type, {}, false, {}, {}});
  }
  for (const auto& [tag, values] : values_) {
    OverlayField field{.tag = tag, .name = name_of(tag), .type = {}, .open = {}, .values = {}, .place = {}};
    if (values.too_many) {
      field.open = true;
    } else {
      for (const std::string& value : values.values) field.values.push_back({value, "VALUE_" + value, false, {}});
    }
    overlay.fields.push_back(std::move(field));
  }
}

// The list for this path's members; creates the enclosing elements.
std::vector<OverlayMember>& Learner::members_at(OverlayModel& overlay, const Path& path) const {
  const auto parts = split(path);
  std::vector<OverlayMember>* members = parts[0] == "header"    ? &overlay.header
                                        : parts[0] == "trailer" ? &overlay.trailer
                                                                : nullptr;
  const bool strange = members == nullptr && base_.find_message(parts[0]) == nullptr;
  if (members == nullptr) {
    const std::string_view known = base_.message_name(parts[0]);
    const std::string name = known.empty() ? "Message" + std::string(parts[0]) : std::string(known);
    auto at = std::ranges::find(overlay.messages, name, &OverlayMessage::name);
    if (at == overlay.messages.end()) {
      OverlayMessage message{.name = name, .msg_type = {}, .admin = {}, .members = {}, .place = {}};
      if (strange) {
        message.msg_type = parts[0];
        message.admin = false;
      }
      at = overlay.messages.insert(at, std::move(message));
    }
    members = &at->members;
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Tag count = tag_of(parts[i]);
    const std::string name = name_of(count);
    auto at = std::ranges::find(*members, name, &OverlayMember::name);
    if (at == members->end()) {
      OverlayMember group{
          .kind = MemberKind::group, .name = name, .required = {}, .after = {}, .members = {}, .place = {}};
      if (strange && groups_.contains(count)) group = whole_group(*groups_.at(count));
      at = members->insert(at, std::move(group));
    }
    members = &at->members;
  }
  return *members;
}

OverlayMember Learner::whole_group(const GroupDef& group) const {
  OverlayMember whole{.kind = MemberKind::group,
                      .name = name_of(group.shape.count),
                      .required = false,
                      .after = {},
                      .members = {},
                      .place = {}};
  for (const MemberDef& member : group.scope.members()) {
    OverlayMember inner = member.group != nullptr ? whole_group(*member.group) : OverlayMember{};
    inner.name = name_of(member.tag);
    inner.required = member.required;
    whole.members.push_back(std::move(inner));
  }
  return whole;
}

void Learner::write_findings(OverlayModel& overlay, const Findings& findings) const {
  std::vector<const Findings::value_type*> ordered;
  for (const auto& each : findings) ordered.push_back(&each);
  // Places matter only within groups; elsewhere a length stays before its data in the order found.
  std::ranges::sort(ordered, {}, [this](const Findings::value_type* each) {
    return std::tuple(each->first.first, scopes_.contains(each->first.first) ? each->second.after : 0,
                      each->second.order);
  });
  const Findings::value_type* last = nullptr;
  for (const Findings::value_type* each : ordered) {
    const auto& [key, finding] = *each;
    const auto& [path, tag] = key;
    std::vector<OverlayMember>& members = members_at(overlay, path);
    // A group of the dictionary, in a message that lacks it.
    if (!is_around(path) && base_.find_message(path) == nullptr && groups_.contains(tag) && !scopes_.contains(path)) {
      static_cast<void>(members_at(overlay, path + "/" + std::to_string(value(tag))));
      continue;
    }
    OverlayMember member{.name = name_of(tag), .required = false, .after = {}, .members = {}, .place = {}};
    const auto scope = scopes_.find(path);
    if (scope != scopes_.end() && finding.after >= 0) {
      const bool same_place = last != nullptr && last->first.first == path && last->second.after == finding.after;
      member.after = name_of(same_place ? last->first.second
                                        : scope->second->members()[static_cast<std::size_t>(finding.after)].tag);
    }
    members.push_back(std::move(member));
    last = each;
  }
}

void Learner::write_new_groups(OverlayModel& overlay) const {
  for (const auto& [key, found] : new_groups_) {
    OverlayMember group{.kind = MemberKind::group,
                        .name = name_of(key.second),
                        .required = false,
                        .after = {},
                        .members = {},
                        .place = {}};
    for (const Tag member : found.members) {
      group.members.push_back({.name = name_of(member), .required = false, .after = {}, .members = {}, .place = {}});
    }
    members_at(overlay, key.first).push_back(std::move(group));
  }
}

std::vector<std::string> Learner::describe() const {
  std::vector<std::string> lines;
  for (const auto& [type, count] : types_) {
    std::string line = "message type ";
    append_printable(line, type);
    lines.push_back(line + " is not in the dictionary (" + times(count) + "): added");
  }
  const OverlayModel written = overlay();
  const auto type_of = [&](Tag tag) {
    const auto at = std::ranges::find(written.fields, tag, &OverlayField::tag);
    return at == written.fields.end() || !at->type ? std::string() : ", " + std::string(to_string(*at->type));
  };
  for (const auto& [key, finding] : settled()) {
    const Tag tag = key.second;
    const bool known = base_.find_field(tag) != nullptr;
    lines.push_back(std::to_string(value(tag)) + (known ? " " + name_of(tag) : "") + " is " +
                    (known ? "not a field of " : "unknown: ") + title_of(key.first) + " (" + times(finding.count) +
                    type_of(tag) + "): added");
  }
  for (const auto& [key, group] : new_groups_) {
    lines.push_back(std::to_string(value(key.second)) + " counts a group of " + std::to_string(group.members.size()) +
                    " fields: " + title_of(key.first) + " (" + times(group.count) + "): added");
  }
  for (const auto& [tag, values] : values_) {
    std::string line = std::to_string(value(tag)) + " " + name_of(tag) + " has ";
    if (values.too_many) {
      line += "more than " + std::to_string(max_values) + " values";
    } else {
      for (const std::string& value : values.values)
        append_printable(line += line.ends_with("has ") ? "" : ", ", value);
    }
    lines.push_back(line + " outside its list (" + times(values.count) +
                    "): " + (values.too_many ? "opened" : "added"));
  }
  return lines;
}

}  // namespace nfx::app
