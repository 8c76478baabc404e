// Reads FIX Orchestra 1.0 and 1.1: https://www.fixtrading.org/standards/fix-orchestra/. Scenarios other than the base
// one and conditions are kept as rules for display. Documentation, actors and sections are ignored.
#include <unordered_map>
#include <unordered_set>

#include "base/text.hpp"
#include "dictionary/character_rule.hpp"
#include "dictionary/model_reader.hpp"

namespace nfx {
namespace {

constexpr std::size_t max_datatype_depth = 16;  // data types based on others
constexpr std::size_t max_rules = 20'000;

// The text of a child in the Orchestra namespace, with any prefix.
std::string_view child_text(pugi::xml_node node, std::string_view name) {
  for (const pugi::xml_node child : node.children()) {
    if (local_name(child) == name) return child.child_value();
  }
  return {};
}

class OrchestraReader {
 public:
  OrchestraReader(const XmlSource& source, std::string_view version, OrchestraUse use)
      : source_(source), given_version_(version), use_(use) {}

  DictionaryModel run() {
    model_.place = source_.place(source_.root());
    if (use_ == OrchestraUse::dictionary) read_version();
    index_datatypes();
    index_code_sets();
    read_fields();
    index_names("components", "component", components_);
    index_names("groups", "group", groups_);
    read_components();
    read_groups();
    read_messages();
    if (use_ == OrchestraUse::dictionary) {
      apply_character_rule(model_);
    } else {
      read_unused_code_sets();
    }
    return std::move(model_);
  }

 private:
  using NodesById = std::unordered_map<std::string_view, pugi::xml_node>;

  template <class Visit>
  void for_each(pugi::xml_node parent, std::string_view name, Visit&& visit) const {
    for (const pugi::xml_node node : parent.children()) {
      if (node.type() != pugi::node_element || local_name(node) != name) continue;
      if (is_base(node)) visit(node);
    }
  }
  [[nodiscard]] static bool is_base(pugi::xml_node node) {
    const std::string_view scenario = node.attribute("scenario").value();
    return scenario.empty() || scenario == "base";
  }
  [[nodiscard]] pugi::xml_node section(std::string_view name) const;

  void read_version();
  [[nodiscard]] std::string_view latest_added() const;
  void index_datatypes();
  void index_code_sets();
  void index_names(std::string_view section_name, std::string_view element, NodesById& into);
  void read_fields();
  void read_components();
  void read_groups();
  void read_messages();
  void read_values(pugi::xml_node code_set, ModelField& field) const;
  void read_unused_code_sets();
  void read_scenarios(std::string_view section_name, std::string_view element);
  void read_rules(pugi::xml_node reference, const std::string& where, const std::string& member);
  void add_rule(pugi::xml_node node, std::string where, std::string text);
  [[nodiscard]] std::vector<ModelMember> read_members(pugi::xml_node parent, const std::string& where);
  [[nodiscard]] std::string name_of(pugi::xml_node reference, const NodesById& in, const std::string& where) const;
  [[nodiscard]] FieldType type_of(pugi::xml_node node, std::string_view name, const std::string& what) const;

  const XmlSource& source_;
  std::string_view given_version_;
  OrchestraUse use_;
  DictionaryModel model_;
  NodesById datatypes_;  // by name
  NodesById code_sets_;  // by name
  NodesById fields_, components_, groups_;
  std::unordered_set<std::string_view> used_code_sets_;
  mutable Suggestions type_suggestions_;
};

pugi::xml_node OrchestraReader::section(std::string_view name) const {
  for (const pugi::xml_node node : source_.root().children()) {
    if (local_name(node) == name) return node;
  }
  return {};
}

// FIX Latest is the newest version with its extension packs, and is sent over FIXT 1.1 like it. A counterparty's rules
// of engagement have their own version.
void OrchestraReader::read_version() {
  const pugi::xml_node root = source_.root();
  const auto fix_version = [](std::string_view name) -> std::optional<ModelVersion> {
    if (name.starts_with("FIX.Latest")) name = newest_application_version.name;
    return name.starts_with("FIX") ? parse_version(name) : std::nullopt;
  };
  const std::string_view own = source_.attribute(root, "version");
  std::optional<ModelVersion> version = fix_version(own);
  if (!version) {
    const std::string is_own =
        own.empty() ? "the file states no version" : "version " + in_quotes(own) + " is the file's own";
    for (const auto& [name, from] : {std::pair{given_version_, "as given"},
                                     {source_.attribute(root, "name"), "by its name"},
                                     {latest_added(), "in which the newest of its fields was added"}}) {
      version = fix_version(name);
      if (!version) continue;
      if (name != given_version_) {
        source_.repair(RepairKind::version_taken, root,
                       is_own + ", read for " + version->name() + ", " + from +
                           "; give the FIX version, or write version=\"" + version->name() + "\"");
      }
      break;
    }
    if (!version) {
      source_.report(root, is_own +
                               "; give the FIX version, such as --fix-version FIX.4.4, or give the file as an "
                               "overlay");
      return;
    }
  }
  model_.version = *version;
  if (version->major != "4") {
    model_.version = {"FIXT", "1", "1", "0"};
    model_.application = version;
  }
}

// The newest version in which FIX added one of the file's fields.
std::string_view OrchestraReader::latest_added() const {
  const FixVersion* latest = nullptr;
  for (const pugi::xml_node node : section("fields").children()) {
    const FixVersion* version = find_version(node.attribute("added").value());
    if (version != nullptr && !version->appl_ver_id.empty() && (latest == nullptr || version > latest)) {
      latest = version;  // rows are in the order of publication
    }
  }
  return latest == nullptr ? std::string_view{} : latest->name;
}

void OrchestraReader::index_datatypes() {
  for_each(section("datatypes"), "datatype",
           [&](pugi::xml_node node) { datatypes_.emplace(node.attribute("name").value(), node); });
}

void OrchestraReader::index_code_sets() {
  for_each(section("codeSets"), "codeSet",
           [&](pugi::xml_node node) { code_sets_.emplace(node.attribute("name").value(), node); });
  read_scenarios("codeSets", "codeSet");
}

void OrchestraReader::index_names(std::string_view section_name, std::string_view element, NodesById& into) {
  for_each(section(section_name), element, [&](pugi::xml_node node) {
    const std::string_view id = source_.identifying(node, "id");
    if (id.empty() || source_.identifying(node, "name").empty()) return;
    const auto [at, is_new] = into.emplace(id, node);
    if (!is_new && element != "field") {  // duplicate field numbers are detected together with the other formats'
      source_.repair(RepairKind::duplicate_component, node,
                     std::string(element) + " " + std::string(id) + " is defined twice" +
                         in_brackets(source_.place(at->second)) + ", and the first counts; remove one");
    }
  });
  read_scenarios(section_name, element);
}

// Types are FIX types under their own names, or derived types that name their base.
FieldType OrchestraReader::type_of(pugi::xml_node node, std::string_view name, const std::string& what) const {
  for (std::size_t depth = 0; depth < max_datatype_depth && !name.empty(); ++depth) {
    if (const std::optional<FieldType> type = parse_field_type_in_any_case(name)) return *type;
    const auto at = datatypes_.find(name);
    if (at == datatypes_.end()) break;
    name = at->second.attribute("baseType").value();
    // A character pattern, or any other type without a base, is a text.
    if (name.empty()) return FieldType::string;
  }
  source_.repair(RepairKind::unknown_type, node,
                 what + " has the unknown type " + in_quotes(name) + ", read as STRING" +
                     type_suggestions_.of(name, "; define it in <datatypes>", [&] {
                       std::vector<std::string_view> known;
                       for (const FieldTypeRow& row : field_type_rows) known.push_back(row.name);
                       for (const auto& [each, at] : code_sets_) known.push_back(each);
                       return known;
                     }));
  return FieldType::string;
}

void OrchestraReader::read_fields() {
  index_names("fields", "field", fields_);
  for_each(section("fields"), "field", [&](pugi::xml_node node) {
    ModelField field{.name = std::string(source_.attribute(node, "name")), .values = {}, .place = source_.place(node)};
    if (field.name.empty()) return;
    const std::string what = "field " + field.name;
    field.tag = source_.tag(node, source_.attribute(node, "id"), what);
    if (field.tag == Tag{0}) return;
    // Orchestra 1.1 names the code set separately from the type.
    std::string_view type = source_.attribute(node, "codeSet");
    if (type.empty()) type = source_.attribute(node, "type");
    if (const auto at = code_sets_.find(type); at != code_sets_.end()) {
      used_code_sets_.insert(type);
      type = source_.attribute(at->second, "type");
      read_values(at->second, field);
    }
    field.type = type.empty() ? source_.type(node, type, what) : type_of(node, type, what);
    // A union with another type, such as numbers from 100 on by bilateral agreement.
    field.open = !std::string_view(node.attribute("unionDataType").value()).empty();
    model_.fields.push_back(std::move(field));
  });
}

void OrchestraReader::read_values(pugi::xml_node code_set, ModelField& field) const {
  for_each(code_set, "code", [&](pugi::xml_node code) {
    const std::string_view value = source_.identifying(code, "value");
    if (!value.empty()) {
      field.values.push_back({std::string(value), std::string(source_.attribute(code, "name")), source_.place(code)});
    }
  });
}

// A code list that no field uses is an overlay for the field it is named after: SideCodeSet is for Side.
void OrchestraReader::read_unused_code_sets() {
  for_each(section("codeSets"), "codeSet", [&](pugi::xml_node node) {
    std::string_view name = source_.identifying(node, "name");
    if (name.empty() || used_code_sets_.contains(name)) return;
    for (const std::string_view ending : {"CodeSet", "Codeset", "Codes"}) {
      if (name.ends_with(ending) && name.size() > ending.size()) {
        name.remove_suffix(ending.size());
        break;
      }
    }
    ModelField field{.name = std::string(name), .values = {}, .place = source_.place(node)};
    read_values(node, field);
    model_.fields.push_back(std::move(field));
  });
}

std::string OrchestraReader::name_of(pugi::xml_node reference, const NodesById& in, const std::string& where) const {
  const std::string_view id = source_.identifying(reference, "id");
  if (id.empty()) return {};
  const auto at = in.find(id);
  if (at != in.end()) return std::string(source_.attribute(at->second, "name"));
  source_.repair(&in == &fields_ ? RepairKind::undefined_field : RepairKind::undefined_component, reference,
                 where + " refers to " + in_quotes(id) + " with <" + reference.name() +
                     ">, which is ignored because nothing defines it; define it");
  return {};
}

void OrchestraReader::add_rule(pugi::xml_node node, std::string where, std::string text) {
  if (model_.rules.size() < max_rules) {
    model_.rules.push_back({std::move(where), std::move(text), source_.place(node)});
  }
}

// Variants of a message or code set for certain situations.
void OrchestraReader::read_scenarios(std::string_view section_name, std::string_view element) {
  for (const pugi::xml_node node : section(section_name).children()) {
    if (node.type() != pugi::node_element || local_name(node) != element || is_base(node)) continue;
    std::string text = "has the scenario " + std::string(node.attribute("scenario").value());
    if (const std::string_view when = trimmed(child_text(node, "when")); !when.empty()) {
      text.append(", when ").append(when);
    }
    add_rule(node, std::string(element) + " " + node.attribute("name").value(), std::move(text));
  }
}

void OrchestraReader::read_rules(pugi::xml_node reference, const std::string& where, const std::string& member) {
  const std::string_view presence = reference.attribute("presence").value();
  bool told = false;
  for (const pugi::xml_node rule : reference.children()) {
    if (local_name(rule) != "rule") continue;
    const std::string_view then = rule.attribute("presence").value();
    add_rule(
        rule, where + ", " + member,
        std::string(then.empty() ? "has a rule" : then) + " when " + std::string(trimmed(child_text(rule, "when"))));
    told = true;
  }
  if (presence == "constant") {
    add_rule(reference, where + ", " + member, std::string("is always ") + reference.attribute("value").value());
  } else if (presence == "forbidden" || (presence == "conditional" && !told)) {
    add_rule(reference, where + ", " + member, "is " + std::string(presence));
  }
}

std::vector<ModelMember> OrchestraReader::read_members(pugi::xml_node parent, const std::string& where) {
  std::vector<ModelMember> members;
  for (const pugi::xml_node node : parent.children()) {
    const std::string_view element = local_name(node);
    const NodesById* in = element == "fieldRef"       ? &fields_
                          : element == "componentRef" ? &components_
                          : element == "groupRef"     ? &groups_
                                                      : nullptr;
    const std::string_view presence = node.attribute("presence").value();
    if (in == nullptr || !is_base(node)) continue;
    ModelMember member{.kind = in == &fields_ ? MemberKind::field : MemberKind::component,
                       .name = name_of(node, *in, where),
                       .required = presence == "required",
                       .members = {},
                       .place = source_.place(node)};
    if (member.name.empty()) continue;
    read_rules(node, where,
               std::string(in == &fields_   ? "field "
                           : in == &groups_ ? "group "
                                            : "component ") +
                   member.name);
    // Every message has header and trailer, with or without a reference.
    if (presence == "forbidden" || member.name == "StandardHeader" || member.name == "StandardTrailer") continue;
    members.push_back(std::move(member));
  }
  return members;
}

void OrchestraReader::read_components() {
  for_each(section("components"), "component", [&](pugi::xml_node node) {
    std::string name{source_.attribute(node, "name")};
    std::vector<ModelMember> members = read_members(node, "component " + name);
    if (name == "StandardHeader") {
      model_.header = std::move(members);
    } else if (name == "StandardTrailer") {
      model_.trailer = std::move(members);
    } else if (!name.empty()) {
      model_.components.push_back({std::move(name), std::move(members), source_.place(node)});
    }
  });
}

// In Orchestra, a group's name differs from its count field's. The model has a component with that one group, so that
// many messages can refer to it.
void OrchestraReader::read_groups() {
  for_each(section("groups"), "group", [&](pugi::xml_node node) {
    std::string name{source_.attribute(node, "name")};
    std::string count;
    for_each(node, "numInGroup", [&](pugi::xml_node in) { count = name_of(in, fields_, "group " + name); });
    if (name.empty()) return;
    if (count.empty()) {
      source_.repair(RepairKind::missing_attribute, node,
                     "group " + name + " has no count, and is ignored; write <numInGroup id=\"...\"/>");
      return;
    }
    ModelMember group{.kind = MemberKind::group,
                      .name = std::move(count),
                      .required = true,  // the reference decides
                      .members = read_members(node, "group " + name),
                      .place = source_.place(node)};
    model_.components.push_back({std::move(name), {std::move(group)}, source_.place(node)});
  });
}

void OrchestraReader::read_messages() {
  const pugi::xml_node messages = section("messages");
  for_each(messages, "message", [&](pugi::xml_node node) {
    ModelMessage message{.name = std::string(source_.identifying(node, "name")),
                         .msg_type = std::string(source_.identifying(node, "msgType")),
                         .admin = std::string_view(node.attribute("category").value()) == "Session",
                         .members = {},
                         .place = source_.place(node)};
    if (message.name.empty() || message.msg_type.empty()) return;
    for_each(node, "structure",
             [&](pugi::xml_node in) { message.members = read_members(in, "message " + message.name); });
    model_.messages.push_back(std::move(message));
  });
  read_scenarios("messages", "message");
  if (model_.messages.empty() && use_ == OrchestraUse::dictionary) {
    source_.report(source_.root(),
                   "there is no <message> in <messages>; add those to be exchanged, or give the file as an overlay");
  }
}

std::vector<OverlayMember> overlay_members(const std::vector<ModelMember>& members) {
  std::vector<OverlayMember> result;
  for (const ModelMember& each : members) {
    result.push_back({.kind = each.kind,
                      .name = each.name,
                      .required = each.required,
                      .after = {},
                      .members = overlay_members(each.members),
                      .place = each.place});
  }
  return result;
}

}  // namespace

DictionaryModel read_orchestra(const XmlSource& source, std::string_view version, OrchestraUse use) {
  return OrchestraReader(source, version, use).run();
}

OverlayModel to_overlay(const DictionaryModel& model) {
  OverlayModel overlay;
  overlay.place = model.place;
  for (const ModelField& field : model.fields) {
    OverlayField& change = overlay.fields.emplace_back();
    change.tag = field.tag;
    change.name = field.name;
    if (field.tag != Tag{0}) change.type = field.type;
    if (field.open) change.open = true;
    for (const ModelValue& value : field.values) {
      change.values.push_back({.value = value.value, .name = value.name, .place = value.place});
    }
    change.place = field.place;
  }
  for (const ModelComponent& each : model.components) {
    overlay.components.push_back({each.name, false, overlay_members(each.members), each.place});
  }
  for (const ModelMessage& each : model.messages) {
    overlay.messages.push_back(
        {each.name, each.msg_type, each.admin, false, overlay_members(each.members), each.place});
  }
  overlay.header = overlay_members(model.header);
  overlay.trailer = overlay_members(model.trailer);
  return overlay;
}

}  // namespace nfx
