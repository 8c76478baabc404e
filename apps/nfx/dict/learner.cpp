// Collects fields, values, messages and groups of a log that a dictionary lacks, and writes them as an overlay.
#include "dict/learner.hpp"

#include <algorithm>

namespace nfx::app {
namespace {

void collect_groups(const Scope& scope, std::map<Tag, const GroupDef*>& into) {
  for (const MemberDef& member : scope.members()) {
    if (member.group == nullptr || !into.emplace(member.tag, member.group).second) continue;
    collect_groups(member.group->scope, into);
  }
}

// The number of entries in a count field; 0 if it is not a number.
std::size_t entry_count(std::string_view value) {
  if (value.size() > 4 || !has_format(value, FieldType::num_in_group)) return 0;
  std::size_t count = 0;
  for (const char c : value) count = count * 10 + static_cast<std::size_t>(c - '0');
  return count;
}

constexpr std::size_t none = SIZE_MAX;

}  // namespace

Learner::Learner(const Dictionary& base) : base_(base) {
  std::vector<MemberDef> around;
  for (const MemberDef& member : base.messages().front().scope.members()) {
    if (member.section != Section::body) around.push_back(member);
  }
  strange_scope_ = Scope(std::move(around));
  for (const MessageDef& message : base.messages()) collect_groups(message.scope, groups_);
}

bool Learner::has_room() {
  if (findings_.size() + doubts_.size() + new_groups_.size() + types_.size() < max_findings) return true;
  ++left_out_;
  return false;
}

bool Learner::has_room_in(const Path& path) {
  if (!has_room()) return false;
  if (++in_scope_[path] <= max_per_scope) return true;
  ++left_out_;
  return false;
}

void Learner::see(const MessageView& message) {
  ++seen_;
  msg_type_ = message.msg_type();
  const MessageDef* def = base_.find_message(msg_type_);
  strange_ = def == nullptr;
  if (strange_ && (types_.contains(msg_type_) || has_room())) ++types_[msg_type_];
  frames_.clear();
  frames_.push_back({strange_ ? &strange_scope_ : &def->scope, msg_type_, -1, {}});
  pending_.clear();
  section_ = Section::header;
  for (std::uint32_t i = 0; i < message.size(); ++i) {
    const Field field = message[i];
    const std::size_t frame = frame_of(field.tag);
    const MemberDef* member = frame == none ? nullptr : frames_[frame].scope->find(field.tag);
    if (member == nullptr && strange_ && groups_.contains(field.tag)) {
      // A group of other messages.
      pending_.push_back(field);
      take_pending(0, Section::body);
      frames_.resize(1);
      frames_.push_back(
          {&groups_.at(field.tag)->scope, frames_[0].path + "/" + std::to_string(value(field.tag)), -1, {}});
      scopes_[frames_.back().path] = frames_.back().scope;
    } else if (member == nullptr) {
      pending_.push_back(field);
    } else {
      take_pending(frame, member->section);
      take_member(field, frame, *member);
    }
  }
}

// A member that occurs twice in an entry ends the group if the enclosing scope has that field too.
std::size_t Learner::frame_of(Tag tag) const {
  for (std::size_t i = frames_.size(); i-- > 0;) {
    const std::uint16_t position = frames_[i].scope->position(tag);
    if (position == TagIndex::npos) continue;
    const bool repeated = i > 0 && position != 0 && std::ranges::find(frames_[i].seen, tag) != frames_[i].seen.end();
    const bool further_out = repeated && std::any_of(frames_.begin(), frames_.begin() + static_cast<std::ptrdiff_t>(i),
                                                     [tag](const Frame& f) { return f.scope->find(tag) != nullptr; });
    if (!further_out) return i;
  }
  return none;
}

void Learner::take_member(const Field& field, std::size_t frame, const MemberDef& member) {
  frames_.resize(frame + 1);
  Frame& inner = frames_.back();
  const auto position = static_cast<std::int32_t>(inner.scope->position(field.tag));
  if (frame > 0 && position == 0) inner.seen.clear();
  inner.seen.push_back(field.tag);
  inner.last = position;
  if (frame == 0) section_ = std::max(section_, member.section);
  take_value(*member.field, field.value);
  if (member.group == nullptr || entry_count(field.value) == 0) return;
  const Path& around = frame > 0 ? inner.path : member.section == Section::header ? "header" : inner.path;
  Path path = around + "/" + std::to_string(value(field.tag));
  scopes_[path] = &member.group->scope;
  frames_.push_back({&member.group->scope, std::move(path), -1, {}});
}

void Learner::take_value(const FieldDef& field, std::string_view value) {
  if (field.open || value.empty()) return;
  const bool several = takes_several(field.type);
  while (!value.empty()) {
    const std::size_t end = several ? value.find(' ') : std::string_view::npos;
    const std::string_view one = value.substr(0, end);
    value.remove_prefix(end == std::string_view::npos ? value.size() : end + 1);
    if (one.empty() || field.values.contains(one) || !has_format(one, field.type)) continue;
    Values& found = values_[field.tag];
    ++found.count;
    if (found.values.size() < max_values) {
      found.values.emplace(one);
    } else if (!found.values.contains(one)) {
      found.too_many = true;
    }
  }
}

// `frame` contains the field after the pending ones; `next` is that field's section.
void Learner::take_pending(std::size_t frame, Section next) {
  if (pending_.empty()) return;
  std::vector<Candidate> candidates;
  for (std::size_t i = frames_.size(); i-- > frame;) candidates.push_back({frames_[i].path, frames_[i].last});
  if (frame == 0) {
    Path& outermost = candidates.back().path;
    if (next == Section::header) outermost = "header";
    if (section_ == Section::trailer) outermost = "trailer";
  }
  for (std::size_t i = 0; i < pending_.size();) {
    const std::size_t group_size = take_new_group(i, candidates.back().path);
    if (group_size == 0) take_single(pending_[i], candidates);
    i += std::max<std::size_t>(group_size, 1);
  }
  pending_.clear();
}

// A count of two or more, followed by a field that occurs as many times, is a group. A known group may count one.
std::size_t Learner::take_new_group(std::size_t at, const Path& path) {
  const std::size_t count = entry_count(pending_[at].value);
  if (count == 0 || at + 1 >= pending_.size()) return 0;
  const FieldDef* field = base_.find_field(pending_[at].tag);
  if (field != nullptr && field->type != FieldType::integer && field->type != FieldType::num_in_group) return 0;
  const Tag delimiter = pending_[at + 1].tag;
  std::vector<std::size_t> starts;
  for (std::size_t i = at + 1; i < pending_.size(); ++i) {
    if (pending_[i].tag == delimiter) starts.push_back(i);
  }
  const Key key{path, pending_[at].tag};
  const auto known = new_groups_.find(key);
  const bool is_known = known != new_groups_.end() && known->second.members.front() == delimiter;
  if (starts.size() != count || (count < 2 && !is_known)) return 0;
  if (known == new_groups_.end() && (count > max_per_scope || !has_room_in(path))) return 0;
  NewGroup& group = new_groups_[key];
  ++group.count;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) take_entries(group, starts[i], starts[i + 1]);
  // The last entry ends at the first field that the other entries lack.
  std::size_t end = starts.back();
  std::vector<Tag> in_entry;
  while (end < pending_.size() && std::ranges::find(group.members, pending_[end].tag) != group.members.end() &&
         std::ranges::find(in_entry, pending_[end].tag) == in_entry.end()) {
    in_entry.push_back(pending_[end++].tag);
  }
  take_entries(group, starts.back(), end);
  guesses_[pending_[at].tag].see(pending_[at].value);
  return end - at;
}

void Learner::take_entries(NewGroup& group, std::size_t begin, std::size_t end) {
  std::size_t behind = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const Field& field = pending_[i];
    if (const FieldDef* known = base_.find_field(field.tag)) {
      take_value(*known, field.value);
    } else {
      guesses_[field.tag].see(field.value);
    }
    const auto at = std::ranges::find(group.members, field.tag);
    if (at == group.members.end() && group.members.size() == max_per_scope) {
      ++left_out_;
    } else if (at == group.members.end()) {
      group.members.insert(group.members.begin() + static_cast<std::ptrdiff_t>(behind), field.tag);
      ++behind;
    } else {
      behind = static_cast<std::size_t>(at - group.members.begin()) + 1;
    }
  }
}

void Learner::take_single(const Field& field, const std::vector<Candidate>& candidates) {
  if (value(field.tag) <= 0) return;
  Finding* finding = nullptr;
  if (candidates.size() == 1) {
    const Key key{candidates[0].path, field.tag};
    if (!findings_.contains(key) && !has_room_in(key.first)) return;
    finding = &findings_[key];
    finding->after = std::max(finding->after, candidates[0].after);
  } else {
    std::string key = std::to_string(value(field.tag));
    for (const Candidate& candidate : candidates) key += " " + candidate.path;
    if (!doubts_.contains(key) && !has_room_in(candidates.back().path)) return;
    Doubt& doubt = doubts_.try_emplace(key, Doubt{field.tag, candidates, {}}).first->second;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      doubt.candidates[i].after = std::max(doubt.candidates[i].after, candidates[i].after);
    }
    finding = &doubt.finding;
  }
  if (const FieldDef* known = base_.find_field(field.tag)) {
    take_value(*known, field.value);
  } else {
    guesses_[field.tag].see(field.value);
  }
  if (finding->count++ == 0) finding->order = seen_ * 65536 + findings_.size() + doubts_.size();
}

}  // namespace nfx::app
