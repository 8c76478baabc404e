// The content of a dictionary file before names are resolved: the form in which dictionaries are combined, changed,
// compared and written. Dictionary::build() turns it into the tables that validation and decoding use.
// Thread: any, no state. Cost: allocates; part of loading. Lifetime: a model owns everything it holds.
// Irregularities that have an obvious meaning are repaired: a model has what was repaired on its way (repair.hpp).
// Errors: DictionaryError, one line "file:line: what (other place); fix". With `problems` not null, errors are added
// there instead and the wrong element is left out, so that a file's author sees all errors together. An error that ends
// the reading is thrown in either case.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/tag.hpp"
#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/dictionary/field_type.hpp"
#include "nexusfix/dictionary/repair.hpp"

namespace nfx {

// Bounds on a dictionary's file. A larger one is refused before it is parsed.
inline constexpr std::size_t max_dictionary_size = 64 * 1024 * 1024;
inline constexpr std::size_t max_dictionary_elements = 4'000'000;  // elements and attributes
inline constexpr std::size_t max_dictionary_depth = 64;            // elements within elements
inline constexpr std::size_t max_dictionary_problems = 200;        // reported together; the others are omitted

// The place of an element.
struct ModelPlace {
  std::shared_ptr<const std::string> source;
  std::uint32_t line = 0;
};
[[nodiscard]] std::string to_string(const ModelPlace& place);  // "FIX44.xml:12"

// The version that a file defines: <fix type="FIX" major="5" minor="0" servicepack="2">.
struct ModelVersion {
  std::string type;
  std::string major;
  std::string minor;
  std::string service_pack = "0";  // empty: any

  [[nodiscard]] std::string begin_string() const;  // "FIX.5.0"
  [[nodiscard]] std::string name() const;          // "FIX.5.0SP2"
  friend bool operator==(const ModelVersion&, const ModelVersion&) = default;
};
// The version with a name such as "FIX.5.0SP2"; empty when it is not one.
[[nodiscard]] std::optional<ModelVersion> parse_version(std::string_view name);

struct ModelValue {
  std::string value;
  std::string name;
  ModelPlace place;
};

struct ModelField {
  Tag tag{};
  std::string name;
  FieldType type = FieldType::string;
  bool open = false;  // values outside the list are allowed; without a list all values are
  std::vector<ModelValue> values;
  ModelPlace place;
  bool application_only = false;  // added by combine() from the application: undefined for session messages
};

enum class MemberKind : std::uint8_t { field, group, component };
[[nodiscard]] std::string_view to_string(MemberKind kind) noexcept;  // "field", as the element is called

// A member of a message, component, group, header or trailer. A group has the name of its count field.
struct ModelMember {
  MemberKind kind = MemberKind::field;
  std::string name;
  bool required = false;
  std::vector<ModelMember> members;  // of a group's entry
  ModelPlace place;
};
// Whether both are equal, apart from their places.
[[nodiscard]] bool same_members(const std::vector<ModelMember>& a, const std::vector<ModelMember>& b);

struct ModelComponent {
  std::string name;
  std::vector<ModelMember> members;
  ModelPlace place;
};

struct ModelMessage {
  std::string name;
  std::string msg_type;
  bool admin = false;
  std::vector<ModelMember> members;
  ModelPlace place;
};

// A part of an Orchestra file that dictionaries lack: a condition under which a member is required, or another scenario
// of a message, component, group or code set. It is shown, not validated.
struct ModelRule {
  std::string where;  // "message NewOrderSingle, field Price"
  std::string text;   // "required when OrdType == ^Limit"
  ModelPlace place;
};

struct DictionaryModel {
  ModelVersion version;                     // as in BeginString
  std::optional<ModelVersion> application;  // of the messages, when the transport (FIXT) has its own version
  std::vector<ModelField> fields;
  std::vector<ModelComponent> components;
  std::vector<ModelMessage> messages;
  std::vector<ModelMember> header;
  std::vector<ModelMember> trailer;
  std::vector<ModelRule> rules;  // not written by to_xml()
  ModelPlace place;
  Repairs repairs;

  [[nodiscard]] const ModelField* find_field(std::string_view name) const noexcept;  // linear, like those below
  [[nodiscard]] const ModelField* find_field(Tag tag) const noexcept;
  [[nodiscard]] const ModelComponent* find_component(std::string_view name) const noexcept;
  [[nodiscard]] const ModelMessage* find_message(std::string_view name) const noexcept;
};

// Reads QuickFIX XML or a FIX Orchestra repository; the root element decides which. Entities that a DOCTYPE defines are
// not expanded.
[[nodiscard]] DictionaryModel read_dictionary(std::string_view xml, std::string_view source_name,
                                              std::vector<std::string>* problems = nullptr);

// One dictionary for a FIXT session: header, trailer and session messages of `transport`, application messages of
// `application`, fields and components of both. A field of both has the values of both.
[[nodiscard]] DictionaryModel combine(const DictionaryModel& transport, const DictionaryModel& application);

// Replaces references to this component, at any depth, by its members. Members of a component that is not required are
// not required either.
void inline_component(std::vector<ModelMember>& members, const ModelComponent& component);

// Gives a model the version of its session, such as "FIX.5.0SP2", when its file left the version open or has another
// service pack. A different version stays.
void take_version(DictionaryModel& model, std::string_view version_name);

// All errors that Dictionary::build() would report. `repairs`, unless null, receives the repairs of the model and of
// building it.
[[nodiscard]] std::vector<std::string> find_problems(const DictionaryModel& model, Repairs* repairs = nullptr);

// QuickFIX XML that read_dictionary() reads back to the same model.
[[nodiscard]] std::string to_xml(const DictionaryModel& model);

}  // namespace nfx
