// The content of a dictionary file before names are resolved: the form in which dictionaries are combined, changed,
// compared and written. Dictionary::build() turns it into the tables that validation and decoding use.
// Thread: any, no state. Cost: allocates; part of loading. Lifetime: a model owns everything it holds.
// Irregularities that have an obvious meaning are repaired: models and dictionaries carry their repairs, so that a
// program reports them once, with file, line and remedy. Bounds: Repairs::max_listed of each kind are kept in words,
// the others are counted. Errors: DictionaryError, one line "file:line: what (other place); fix". With `problems` not
// null, errors are added there instead and the wrong element is left out, so that a file's author sees all errors
// together. An error that ends the reading is thrown in either case.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/base/language.hpp"
#include "nexusfix/base/tag.hpp"
#include "nexusfix/dictionary/dictionary.hpp"

namespace nfx {

enum class RepairKind : std::uint8_t {
  encoding,
  entities,
  missing_section,
  unknown_element,
  unknown_attribute,
  blanks,
  missing_name,
  missing_attribute,
  bad_number,
  missing_type,
  type_case,
  unknown_type,
  required_value,
  missing_required,
  message_category,
  service_pack,
  version_taken,
  undefined_field,
  undefined_component,
  recursive_component,
  empty_group,
  group_count,
  own_count,
  group_depth,
  scope_size,
  data_length,
  repeated_member,
  duplicate_value,
  duplicate_number,
  duplicate_name,
  duplicate_component,
  duplicate_type,
  duplicate_message,
  joined_type,
  needless_removal,
  session_messages,
};

struct RepairRow {
  RepairKind kind;
  std::string_view found;  // what is irregular
  std::string_view taken;  // how it is read
};

// In the order of RepairKind. The table in docs/dictionaries.md is this one.
inline constexpr std::array<RepairRow, 36> repair_rows{{
    {RepairKind::encoding, "bytes that are not UTF-8, without a declared encoding", "read as Windows-1252"},
    {RepairKind::entities, "a DOCTYPE that defines entities or default attributes", "its definitions are ignored"},
    {RepairKind::missing_section, "no `<header>`, `<trailer>` or `<components>`", "it is empty"},
    {RepairKind::unknown_element, "an element that the format does not have", "it is ignored, with all it holds"},
    {RepairKind::unknown_attribute, "an attribute that the format does not have", "it is ignored"},
    {RepairKind::blanks, "blanks around a number, name, type or value", "they are removed"},
    {RepairKind::missing_name, "a message without a name", "it is named `Message_` and its type"},
    {RepairKind::missing_attribute, "an element without the attribute that identifies it", "it is ignored"},
    {RepairKind::bad_number, "a field number that is not above zero", "the field is ignored"},
    {RepairKind::missing_type, "a field without a type", "STRING"},
    {RepairKind::type_case, "a type in small or mixed letters", "compared without case"},
    {RepairKind::unknown_type, "a type that FIX does not define", "STRING; the nearest type is suggested"},
    {RepairKind::required_value, "`required` is neither Y nor N", "N"},
    {RepairKind::missing_required, "a field or group without `required`", "N"},
    {RepairKind::message_category, "`msgcat` is missing, or is neither admin nor app",
     "admin for the message types 0 to 5 and A, otherwise app"},
    {RepairKind::service_pack, "a service pack other than the session's", "the session's version"},
    {RepairKind::version_taken, "a file with a version of its own",
     "the FIX version that is given, or the one of its "
     "base"},
    {RepairKind::undefined_field, "a member that `<fields>` does not define", "it is ignored"},
    {RepairKind::undefined_component, "a component that `<components>` does not define", "it is ignored"},
    {RepairKind::recursive_component, "a component within itself", "the inner reference is ignored"},
    {RepairKind::empty_group, "a group without members", "a plain field"},
    {RepairKind::group_count, "a group whose count is not a number", "NUMINGROUP: `<group>` makes a field a count"},
    {RepairKind::own_count, "a group that has its own count among its members", "the inner one is ignored"},
    {RepairKind::group_depth, "groups more than 8 deep", "the innermost is a plain field"},
    {RepairKind::scope_size, "more than 1,024 fields side by side", "the others are ignored"},
    {RepairKind::data_length, "a data field that does not follow its length",
     "its length is the standard's or the one found by name; otherwise the value ends at SOH"},
    {RepairKind::repeated_member, "a group twice in one message with different members, or once as a plain field",
     "the first group counts"},
    {RepairKind::duplicate_value, "a value listed twice", "the first counts"},
    {RepairKind::duplicate_number, "a field number defined twice",
     "the first counts, with the values of both; both names mean it"},
    {RepairKind::duplicate_name, "a name of two fields with different numbers",
     "the first counts; the other one is named by its number too"},
    {RepairKind::duplicate_component, "a component defined twice", "the first counts"},
    {RepairKind::duplicate_type, "a message type defined twice", "the first counts"},
    {RepairKind::duplicate_message, "a name of two message types",
     "both are read; the second is named by its type too"},
    {RepairKind::joined_type, "a field of transport and application with types that have no value in common", "STRING"},
    {RepairKind::needless_removal, "an overlay removes what its base does not have", "nothing is removed"},
    {RepairKind::session_messages, "a session's dictionary without Logon, Heartbeat or another session message",
     "that of the shipped dictionary of the session's version; with its header or trailer where the file has none"},
}};
static_assert([] {
  for (std::size_t i = 0; i < repair_rows.size(); ++i)
    if (std::to_underlying(repair_rows[i].kind) != i) return false;
  return repair_rows.back().kind == RepairKind::session_messages;
}());

class Repairs {
 public:
  static constexpr std::size_t max_listed = 50;  // of one kind

  // "file:line: what, how it is read; remedy"
  void add(RepairKind kind, std::string line);
  void add(const Repairs& others);

  [[nodiscard]] bool empty() const noexcept { return total_ == 0; }
  [[nodiscard]] std::size_t total() const noexcept { return total_; }
  [[nodiscard]] std::size_t count(RepairKind kind) const noexcept { return counts_[std::to_underlying(kind)]; }

  // Every repair that is kept, in the order of the files.
  [[nodiscard]] std::vector<std::string> lines() const;
  // One line per kind: its first repair, and how many more there are.
  [[nodiscard]] std::vector<std::string> summary() const;

 private:
  struct Repair {
    RepairKind kind;
    std::string line;
  };

  std::vector<Repair> listed_;
  std::array<std::size_t, repair_rows.size()> counts_{};
  std::size_t total_ = 0;
};

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

// Whether Logon, Heartbeat, TestRequest, ResendRequest, Reject, SequenceReset or Logout is missing.
[[nodiscard]] bool lacks_session_messages(const DictionaryModel& model) noexcept;
// Adds the missing ones as `shipped` has them, with the fields that they need, and its header and trailer to a model
// without them. Definitions of the model stay as they are. `shipped_name` is for the repair: "FIX44.xml".
void add_session_messages(DictionaryModel& model, const DictionaryModel& shipped, std::string_view shipped_name);

// All errors that Dictionary::build() would report. `repairs`, unless null, receives the repairs of the model and of
// building it.
[[nodiscard]] std::vector<std::string> find_problems(const DictionaryModel& model, Repairs* repairs = nullptr);

// QuickFIX XML that read_dictionary() reads back to the same model.
[[nodiscard]] std::string to_xml(const DictionaryModel& model);

}  // namespace nfx
