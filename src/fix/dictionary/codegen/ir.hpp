// The intermediate form between the dictionary's tables and the generated text, with all names chosen. Names are chosen
// for the whole dictionary before messages are selected, so that a selection does not change a name.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dictionary/codegen.hpp"
#include "nexusfix/base/tag.hpp"

namespace nfx::codegen {

inline constexpr std::size_t none = SIZE_MAX;

enum class EnumKind : std::uint8_t {
  character,  // every value is one character of a char field
  integer,    // every value is a number of an integer field
  text,       // named constants to compare text values with
};

struct Enumerator {
  std::string name;
  std::string value;  // as on the wire
  std::string label;  // the dictionary's name for it
};

struct Enumeration {
  std::string name;  // name of the type
  std::string field;
  std::string function;  // name of the field's getter
  Tag tag{};
  EnumKind kind = EnumKind::text;
  bool open = false;  // other values are allowed too
  std::vector<Enumerator> values;
};

enum class ValueKind : std::uint8_t {
  integer,
  seq_num,
  decimal,
  character,
  boolean,
  utc_timestamp,
  text,
  data,        // may contain any byte if length_tag is set
  enumerated,  // an enumeration of kind character or integer
  group,       // counts the entries of a group
};

// A field at its place in a message or a group's entry.
struct Member {
  Tag tag{};
  std::string field;  // as FIX spells it
  std::string name;   // name of the getter and the setter
  ValueKind kind = ValueKind::text;
  bool required = false;
  bool set_by_data = false;        // a length field that the data field's setter writes
  Tag length_tag{};                // for data
  std::size_t enumeration = none;  // also for text fields that have constants
  std::size_t group = none;
};

// Fields that several messages and groups share. Their functions are written once, in a common base class.
struct SharedFields {
  std::string name;
  std::vector<Member> members;
  std::string classes;  // their names, for people
};

struct Fields {
  std::vector<Member> all;
  std::vector<std::size_t> shared;  // base classes
  std::vector<Member> own;          // fields that are in none of the base classes
};

struct Group {
  std::string name;  // name of the entry's reader
  std::string file;
  std::string field;
  Tag count{};
  Fields fields;  // starting with the delimiter
};

struct Message {
  std::string name;
  std::string file;
  std::string msg_type;
  Fields fields;  // fields of the body
};

// Names for printing messages.
struct NamedField {
  Tag tag{};
  std::string name;
  std::vector<std::pair<std::string, std::string>> values;  // each value on the wire, and its name
};

struct Ir {
  std::string source;
  std::string begin_string;
  std::string name_space;
  std::vector<Enumeration> enumerations;  // by tag
  std::vector<Group> groups;              // nested groups before the groups that contain them
  std::vector<Message> messages;          // in the dictionary's order
  std::vector<SharedFields> shared;
  std::vector<Member> header;
  // For all messages and fields of the dictionary, including unselected ones.
  std::vector<std::pair<std::string, std::string>> named_messages;  // MsgType and name
  std::vector<NamedField> named_fields;                             // by tag
};

// Contains only the messages that the options select, with their groups and enumerations.
[[nodiscard]] Ir build_ir(const Dictionary& dictionary, const CodegenOptions& options);

}  // namespace nfx::codegen
