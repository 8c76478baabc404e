// FIX Orchestra 1.0: https://www.fixtrading.org/standards/fix-orchestra/. What a dictionary model cannot
// hold (scenarios other than the base one, conditions, documentation) is ignored.
#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "dictionary/character_rule.hpp"
#include "dictionary/model_reader.hpp"

namespace nfx {
namespace {

constexpr std::size_t max_datatype_depth = 16;  // data types based on others

class OrchestraReader {
 public:
  explicit OrchestraReader(const XmlSource& source) : source_(source) {}

  DictionaryModel run() {
    model_.place = source_.place(source_.root());
    read_version();
    index_datatypes();
    index_code_sets();
    read_fields();
    index_names("components", "component", components_);
    index_names("groups", "group", groups_);
    read_components();
    read_groups();
    read_messages();
    apply_character_rule(model_);
    return std::move(model_);
  }

 private:
  using NodesById = std::unordered_map<std::string_view, pugi::xml_node>;

  template <class Visit>
  void for_each(pugi::xml_node parent, std::string_view name, Visit&& visit) const {
    for (const pugi::xml_node node : parent.children()) {
      if (node.type() == pugi::node_element && local_name(node) == name && is_base(node)) visit(node);
    }
  }
  [[nodiscard]] static bool is_base(pugi::xml_node node) {
    const std::string_view scenario = node.attribute("scenario").value();
    return scenario.empty() || scenario == "base";
  }
  [[nodiscard]] pugi::xml_node section(std::string_view name) const;

  void read_version();
  void index_datatypes();
  void index_code_sets();
  void index_names(std::string_view section_name, std::string_view element, NodesById& into);
  void read_fields();
  void read_components();
  void read_groups();
  void read_messages();
  [[nodiscard]] std::vector<ModelMember> read_members(pugi::xml_node parent, const std::string& where);
  [[nodiscard]] std::string name_of(pugi::xml_node reference, const NodesById& in, const std::string& where) const;
  [[nodiscard]] FieldType type_of(pugi::xml_node node, std::string_view name, const std::string& what) const;

  const XmlSource& source_;
  DictionaryModel model_;
  NodesById datatypes_;  // by name
  NodesById code_sets_;  // by name
  NodesById fields_, components_, groups_;
};

pugi::xml_node OrchestraReader::section(std::string_view name) const {
  for (const pugi::xml_node node : source_.root().children()) {
    if (local_name(node) == name) return node;
  }
  return {};
}

void OrchestraReader::read_version() {
  const std::string_view name = source_.attribute(source_.root(), "version");
  // FIX Latest is the newest version with its extension packs, and is sent over FIXT 1.1 in the same way.
  const bool latest = name.starts_with("FIX.Latest");
  const std::optional<ModelVersion> version = parse_version(latest ? newest_application_version.name : name);
  if (!version) {
    source_.report(source_.root(), "version is " + in_quotes(name) + "; write a version such as FIX.4.4");
    return;
  }
  model_.version = *version;
  if (version->major != "4") {
    model_.version = {"FIXT", "1", "1", "0"};
    model_.application = version;
  }
}

void OrchestraReader::index_datatypes() {
  for_each(section("datatypes"), "datatype",
           [&](pugi::xml_node node) { datatypes_.emplace(node.attribute("name").value(), node); });
}

void OrchestraReader::index_code_sets() {
  for_each(section("codeSets"), "codeSet",
           [&](pugi::xml_node node) { code_sets_.emplace(node.attribute("name").value(), node); });
}

void OrchestraReader::index_names(std::string_view section_name, std::string_view element, NodesById& into) {
  for_each(section(section_name), element, [&](pugi::xml_node node) {
    const std::string_view id = source_.attribute(node, "id");
    static_cast<void>(source_.attribute(node, "name"));
    if (id.empty()) return;
    const auto [at, is_new] = into.emplace(id, node);
    if (!is_new) {
      source_.report(node, std::string(element) + " " + std::string(id) + " is defined twice" +
                               in_brackets(source_.place(at->second)) + "; remove one");
    }
  });
}

// Types are those of FIX under their own names, or others that name the type that they are based on.
FieldType OrchestraReader::type_of(pugi::xml_node node, std::string_view name, const std::string& what) const {
  for (std::size_t depth = 0; depth < max_datatype_depth && !name.empty(); ++depth) {
    std::string upper(name);
    std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (const std::optional<FieldType> type = parse_field_type(upper)) return *type;
    const auto at = datatypes_.find(name);
    if (at == datatypes_.end()) break;
    name = at->second.attribute("baseType").value();
    // A character pattern, or anything else without a base, is a text.
    if (name.empty()) return FieldType::string;
  }
  source_.report(node, what + " has the unknown type " + in_quotes(name) + "; define it in <datatypes>");
  return FieldType::string;
}

void OrchestraReader::read_fields() {
  index_names("fields", "field", fields_);
  for_each(section("fields"), "field", [&](pugi::xml_node node) {
    ModelField field{.name = node.attribute("name").value(), .values = {}, .place = source_.place(node)};
    const std::string what = "field " + field.name;
    field.tag = source_.tag(node, node.attribute("id").value(), what);
    std::string_view type = source_.attribute(node, "type");
    if (field.name.empty() || field.tag == Tag{0} || type.empty()) return;
    if (const auto at = code_sets_.find(type); at != code_sets_.end()) {
      type = at->second.attribute("type").value();
      for_each(at->second, "code", [&](pugi::xml_node code) {
        const std::string_view value = source_.attribute(code, "value");
        if (!value.empty()) {
          field.values.push_back({std::string(value), code.attribute("name").value(), source_.place(code)});
        }
      });
    }
    field.type = type_of(node, type, what);
    // A union with another type, such as numbers from 100 on by bilateral agreement.
    field.open = !std::string_view(node.attribute("unionDataType").value()).empty();
    model_.fields.push_back(std::move(field));
  });
}

std::string OrchestraReader::name_of(pugi::xml_node reference, const NodesById& in, const std::string& where) const {
  const std::string_view id = source_.attribute(reference, "id");
  if (id.empty()) return {};
  const auto at = in.find(id);
  if (at != in.end()) return at->second.attribute("name").value();
  source_.report(reference, where + " refers to " + in_quotes(id) + " with <" + reference.name() +
                                ">, which nothing defines; define it");
  return {};
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
    if (in == nullptr || !is_base(node) || presence == "forbidden") continue;
    ModelMember member{.kind = in == &fields_ ? MemberKind::field : MemberKind::component,
                       .name = name_of(node, *in, where),
                       .required = presence == "required",
                       .members = {},
                       .place = source_.place(node)};
    // Every message has header and trailer, with or without a reference.
    if (!member.name.empty() && member.name != "StandardHeader" && member.name != "StandardTrailer") {
      members.push_back(std::move(member));
    }
  }
  return members;
}

void OrchestraReader::read_components() {
  for_each(section("components"), "component", [&](pugi::xml_node node) {
    std::string name = node.attribute("name").value();
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

// Orchestra gives a group a name that differs from its count field. In the model it is a component with that one group,
// so that many messages can refer to it.
void OrchestraReader::read_groups() {
  for_each(section("groups"), "group", [&](pugi::xml_node node) {
    std::string name = node.attribute("name").value();
    std::string count;
    for_each(node, "numInGroup", [&](pugi::xml_node in) { count = name_of(in, fields_, "group " + name); });
    if (name.empty() || count.empty()) {
      if (!name.empty()) source_.report(node, "group " + name + " has no count; write <numInGroup id=\"...\"/>");
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
    ModelMessage message{.name = std::string(source_.attribute(node, "name")),
                         .msg_type = std::string(source_.attribute(node, "msgType")),
                         .admin = std::string_view(node.attribute("category").value()) == "Session",
                         .members = {},
                         .place = source_.place(node)};
    if (message.name.empty() || message.msg_type.empty()) return;
    for_each(node, "structure",
             [&](pugi::xml_node in) { message.members = read_members(in, "message " + message.name); });
    model_.messages.push_back(std::move(message));
  });
  if (model_.messages.empty()) {
    source_.report(source_.root(), "there is no <message> in <messages>; add those to be exchanged");
  }
}

}  // namespace

DictionaryModel read_orchestra(const XmlSource& source) { return OrchestraReader(source).run(); }

}  // namespace nfx
