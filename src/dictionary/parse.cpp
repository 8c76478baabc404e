#include <algorithm>
#include <charconv>
#include <pugixml.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dictionary/tables.hpp"
#include "nexusfix/base/suggest.hpp"

namespace nfx {
namespace {

constexpr std::size_t max_fields = 60'000;  // positions have 16 bits
constexpr std::size_t max_messages = 10'000;
constexpr std::size_t max_component_depth = 32;       // components within components
constexpr std::size_t max_steps_per_scope = 100'000;  // elements looked at to resolve one message's components

class Parser {
 public:
  Parser(std::string_view xml, std::string_view source_name) : xml_(xml), source_name_(source_name) {}

  std::unique_ptr<const Dictionary::Tables> run();

 private:
  // The members of one scope while they are gathered.
  struct Gathering {
    std::vector<MemberDef> members;
    std::unordered_map<Tag, std::size_t> at;
    std::vector<std::string_view> components;  // those being resolved, outermost first
    std::size_t group_depth = 0;
    std::size_t steps = 0;
    std::size_t height = 0;  // of the highest group among the members
  };

  struct Place {
    Section section = Section::body;
    bool required = true;  // false within a component that is not required
    std::string name;      // for messages: "message NewOrderSingle"
  };

  [[noreturn]] void fail(std::ptrdiff_t offset, const std::string& what) const;
  [[noreturn]] void fail(pugi::xml_node node, const std::string& what) const { fail(node.offset_debug(), what); }

  pugi::xml_node section(const char* name) const;
  std::string_view attribute(pugi::xml_node node, const char* name) const;
  bool is_required(pugi::xml_node node) const;
  std::string_view keep(std::string_view text) { return tables_->texts.emplace_back(text); }

  void read_document();
  void read_version();
  void read_fields();
  FieldDef read_field(pugi::xml_node node);
  FieldType read_type(pugi::xml_node node, std::string_view field) const;
  EnumValues read_values(pugi::xml_node node, std::string_view field);
  void index_fields();
  void read_components();
  void read_messages();

  void gather(pugi::xml_node parent, const Place& place, Gathering& into);
  void gather_field(pugi::xml_node node, const Place& place, Gathering& into);
  void gather_component(pugi::xml_node node, const Place& place, Gathering& into);
  const FieldDef& field_named(pugi::xml_node node, const Place& place) const;
  const StoredGroup& group_at(pugi::xml_node node, const FieldDef& count, const Gathering& outer);

  std::string_view xml_;
  std::string source_name_;
  pugi::xml_document document_;
  pugi::xml_node root_;
  bool characters_are_texts_ = false;
  std::unique_ptr<Dictionary::Tables> tables_ = std::make_unique<Dictionary::Tables>();
  std::unordered_map<std::string_view, pugi::xml_node> components_;
  std::unordered_map<std::ptrdiff_t, const StoredGroup*> groups_;  // by place in the file
};

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

void Parser::fail(std::ptrdiff_t offset, const std::string& what) const {
  const auto end = xml_.begin() + std::clamp<std::ptrdiff_t>(offset, 0, std::ssize(xml_));
  const auto line = 1 + std::count(xml_.begin(), end, '\n');
  throw DictionaryError(source_name_ + ":" + std::to_string(line) + ": " + what);
}

std::unique_ptr<const Dictionary::Tables> Parser::run() {
  read_document();
  read_version();
  read_fields();
  read_components();
  read_messages();
  return std::move(tables_);
}

void Parser::read_document() {
  const pugi::xml_parse_result result =
      document_.load_buffer(xml_.data(), xml_.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!result) fail(result.offset, std::string("this is not well-formed XML: ") + result.description());
  root_ = document_.document_element();
  if (std::string_view(root_.name()) != "fix") {
    fail(root_,
         "the root element is <" + std::string(root_.name()) + ">; write <fix type=\"FIX\" major=\"4\" minor=\"4\">");
  }
}

void Parser::read_version() {
  const std::string_view type = attribute(root_, "type");
  const std::string_view major = attribute(root_, "major");
  const std::string_view minor = attribute(root_, "minor");
  tables_->begin_string.append(type).append(".").append(major).append(".").append(minor);
  // CHAR was any text until FIX 4.2 made it a single character.
  characters_are_texts_ = tables_->begin_string == "FIX.4.0" || tables_->begin_string == "FIX.4.1";
}

pugi::xml_node Parser::section(const char* name) const {
  const pugi::xml_node node = root_.child(name);
  if (!node)
    fail(root_, std::string("<") + name + "> is missing in <fix>; add it, empty (<" + name + "/>) if it holds nothing");
  return node;
}

std::string_view Parser::attribute(pugi::xml_node node, const char* name) const {
  const std::string_view value = node.attribute(name).value();
  if (value.empty()) {
    fail(node, std::string("<") + node.name() + "> has no " + name + "; write " + name + "=\"...\"");
  }
  return value;
}

bool Parser::is_required(pugi::xml_node node) const {
  const std::string_view value = attribute(node, "required");
  if (value != "Y" && value != "N") fail(node, "required is " + quoted(value) + "; write Y or N");
  return value == "Y";
}

void Parser::read_fields() {
  std::unordered_map<Tag, std::string_view> names;
  for (const pugi::xml_node node : section("fields").children("field")) {
    FieldDef field = read_field(node);
    const auto [at, is_new] = names.emplace(field.tag, field.name);
    if (!is_new) {
      fail(node, "field number " + std::to_string(value(field.tag)) + " is already that of " + std::string(at->second) +
                     "; give " + std::string(field.name) + " a number of its own");
    }
    if (tables_->fields.size() == max_fields)
      fail(node, "more than " + std::to_string(max_fields) + " fields; remove some");
    tables_->fields.push_back(std::move(field));
  }
  index_fields();
}

FieldDef Parser::read_field(pugi::xml_node node) {
  FieldDef field;
  field.name = keep(attribute(node, "name"));
  const std::string_view number = attribute(node, "number");
  std::int32_t tag = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), tag);
  if (error != std::errc{} || end != number.data() + number.size() || tag <= 0) {
    fail(node,
         "field " + std::string(field.name) + " has the number " + quoted(number) + "; write a number above zero");
  }
  field.tag = Tag{tag};
  field.type = read_type(node, field.name);
  field.values = read_values(node, field.name);
  const std::string_view open = node.attribute("allowOtherValues").value();
  // The table of messages, not this list, says which message types there are.
  field.open = field.values.empty() || open == "Y" || open == "true" || field.tag == Tag::MsgType;
  if (!tables_->fields_by_name.emplace(field.name, nullptr).second) {
    fail(node, "field " + std::string(field.name) + " is defined twice; rename or remove one");
  }
  return field;
}

FieldType Parser::read_type(pugi::xml_node node, std::string_view field) const {
  const std::string_view name = attribute(node, "type");
  const std::optional<FieldType> type = parse_field_type(name);
  if (!type) {
    std::vector<std::string_view> known;
    for (int i = 0; i <= std::to_underlying(FieldType::xid_ref); ++i)
      known.push_back(to_string(static_cast<FieldType>(i)));
    const std::string suggestion = did_you_mean(name, known);
    fail(node, "field " + std::string(field) + " has the unknown type " + quoted(name) +
                   (suggestion.empty() ? "; write a FIX type such as STRING, INT or UTCTIMESTAMP" : suggestion));
  }
  if (*type == FieldType::character && characters_are_texts_) return FieldType::string;
  return *type;
}

EnumValues Parser::read_values(pugi::xml_node node, std::string_view field) {
  std::vector<EnumValue> values;
  for (const pugi::xml_node child : node.children("value")) {
    const std::string_view value = attribute(child, "enum");
    if (std::ranges::find(values, value, &EnumValue::value) != values.end()) {
      fail(child, "field " + std::string(field) + " lists the value " + quoted(value) + " twice; remove one");
    }
    values.push_back({keep(value), keep(child.attribute("description").value())});
  }
  return EnumValues(std::move(values));
}

void Parser::index_fields() {
  std::vector<FieldDef>& fields = tables_->fields;
  std::ranges::sort(fields, {}, &FieldDef::tag);
  tables_->field_index = TagIndex(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    tables_->field_index.insert(fields[i].tag, static_cast<std::uint16_t>(i));
    tables_->fields_by_name[fields[i].name] = &fields[i];
  }
}

void Parser::read_components() {
  for (const pugi::xml_node node : root_.child("components").children("component")) {
    const std::string_view name = attribute(node, "name");
    if (!components_.emplace(name, node).second) {
      fail(node, "component " + std::string(name) + " is defined twice; rename or remove one");
    }
  }
}

void Parser::read_messages() {
  Gathering header;
  gather(section("header"), {Section::header, true, "header"}, header);
  const pugi::xml_node trailer = section("trailer");
  std::unordered_map<std::string_view, std::string_view> names;
  for (const pugi::xml_node node : section("messages").children("message")) {
    MessageDef message;
    message.name = keep(attribute(node, "name"));
    message.msg_type = keep(attribute(node, "msgtype"));
    message.admin = std::string_view(node.attribute("msgcat").value()) == "admin";
    if (message.msg_type.size() > max_msg_type_size) {
      fail(node, "message type " + quoted(message.msg_type) + " is too long; write at most " +
                     std::to_string(max_msg_type_size) + " characters");
    }
    const auto [at, is_new] = names.emplace(message.msg_type, message.name);
    if (!is_new) {
      fail(node, "message type " + quoted(message.msg_type) + " is already that of " + std::string(at->second) +
                     "; give " + std::string(message.name) + " a type of its own");
    }
    if (tables_->messages.size() == max_messages)
      fail(node, "more than " + std::to_string(max_messages) + " messages; remove some");
    Gathering all = header;
    gather(node, {Section::body, true, "message " + std::string(message.name)}, all);
    gather(trailer, {Section::trailer, true, "trailer"}, all);
    message.scope = Scope(std::move(all.members));
    tables_->messages.push_back(std::move(message));
  }
  if (tables_->messages.size() == 0)
    fail(section("messages"), "there is no <message> in <messages>; add those to be exchanged");
  tables_->message_index = MessageIndex(tables_->messages);
}

void Parser::gather(pugi::xml_node parent, const Place& place, Gathering& into) {
  for (const pugi::xml_node node : parent.children()) {
    if (node.type() != pugi::node_element) continue;
    if (++into.steps > max_steps_per_scope)
      fail(node, place.name + " resolves to too many elements; nest fewer components");
    const std::string_view kind = node.name();
    if (kind == "component") {
      gather_component(node, place, into);
    } else if (kind == "field" || kind == "group") {
      gather_field(node, place, into);
    } else {
      fail(node, place.name + " holds <" + std::string(kind) + ">; write field, group or component");
    }
  }
}

void Parser::gather_field(pugi::xml_node node, const Place& place, Gathering& into) {
  const FieldDef& field = field_named(node, place);
  MemberDef member{
      .tag = field.tag, .section = place.section, .required = is_required(node) && place.required, .field = &field};
  const auto [at, is_new] = into.at.emplace(field.tag, into.members.size());
  if (!is_new) {
    into.members[at->second].required |= member.required;
    return;
  }
  if (into.members.size() == max_scope_members) {
    fail(node, place.name + " has more than " + std::to_string(max_scope_members) + " fields; remove some");
  }
  if (std::string_view(node.name()) == "group") {
    const StoredGroup& group = group_at(node, field, into);
    member.group = &group.def;
    into.height = std::max(into.height, group.height);
  }
  into.members.push_back(member);
}

void Parser::gather_component(pugi::xml_node node, const Place& place, Gathering& into) {
  const std::string_view name = attribute(node, "name");
  const auto at = components_.find(name);
  if (at == components_.end()) {
    std::vector<std::string_view> known;
    for (const auto& [other, unused] : components_) known.push_back(other);
    std::ranges::sort(known);
    const std::string suggestion = did_you_mean(name, known);
    fail(node, place.name + " uses the component " + std::string(name) + ", which <components> does not define" +
                   (suggestion.empty() ? "; define it there" : suggestion));
  }
  if (std::ranges::find(into.components, name) != into.components.end()) {
    fail(node, "component " + std::string(name) + " contains itself; remove this reference");
  }
  if (into.components.size() == max_component_depth) {
    fail(node, "components are nested more than " + std::to_string(max_component_depth) + " deep; nest fewer");
  }
  into.components.push_back(name);
  gather(at->second, {place.section, place.required && is_required(node), "component " + std::string(name)}, into);
  into.components.pop_back();
}

const FieldDef& Parser::field_named(pugi::xml_node node, const Place& place) const {
  const std::string_view name = attribute(node, "name");
  const auto at = tables_->fields_by_name.find(name);
  if (at != tables_->fields_by_name.end()) return *at->second;
  std::vector<std::string_view> known;
  for (const FieldDef& field : tables_->fields) known.push_back(field.name);
  const std::string suggestion = did_you_mean(name, known);
  fail(node, place.name + " names the field " + std::string(name) + ", which <fields> does not define" +
                 (suggestion.empty() ? "; define it there" : suggestion));
}

// A group's entries do not depend on where the group stands: it is resolved once, however many messages have it.
const StoredGroup& Parser::group_at(pugi::xml_node node, const FieldDef& count, const Gathering& outer) {
  const auto known = groups_.find(node.offset_debug());
  if (known != groups_.end()) return *known->second;
  const std::string name = "group " + std::string(count.name);
  Gathering entry;
  entry.components = outer.components;
  entry.group_depth = outer.group_depth + 1;
  if (entry.group_depth > max_group_depth) {
    fail(node, name + " lies more than " + std::to_string(max_group_depth) + " groups deep; nest fewer");
  }
  gather(node, {Section::body, true, name}, entry);
  if (entry.members.empty()) fail(node, name + " has no fields; list them, the one that starts each entry first");
  if (entry.height == max_group_depth) {
    fail(node, name + " holds groups more than " + std::to_string(max_group_depth) + " deep; nest fewer");
  }
  StoredGroup& group = tables_->groups.emplace_back();
  group.height = entry.height + 1;
  for (const MemberDef& member : entry.members) {
    group.tags.push_back(member.tag);
    if (member.group != nullptr) group.nested.push_back(member.group->shape);
  }
  group.def.scope = Scope(std::move(entry.members));
  group.def.shape = {count.tag, group.tags, group.nested};
  groups_.emplace(node.offset_debug(), &group);
  return group;
}

}  // namespace

Dictionary Dictionary::parse(std::string_view xml, std::string_view source_name) {
  return Dictionary(Parser(xml, source_name).run());
}

}  // namespace nfx
