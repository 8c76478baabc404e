// The intermediate form between the dictionary's tables and the generated text, with all names chosen.
// Names are chosen for the whole dictionary before messages are selected, so that a selection does not change a name.
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
  text,       // constants to compare texts with
};

struct Enumerator {
  std::string name;
  std::string value;  // as on the wire
  std::string label;  // as the dictionary calls it
};

struct Enumeration {
  std::string name;  // of the type
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
  data,        // text that may contain any byte, if length_tag is set
  enumerated,  // an enumeration of kind character or integer
  group,       // counts the entries of one
};

// A field in its place within a message or a group's entry.
struct Member {
  Tag tag{};
  std::string field;  // as FIX spells it
  std::string name;   // of the getter and the setter
  ValueKind kind = ValueKind::text;
  bool required = false;
  bool set_by_data = false;        // a length that its data field's setter writes
  Tag length_tag{};                // of data
  std::size_t enumeration = none;  // also of texts that have constants
  std::size_t group = none;
};

// Fields that the same messages and groups have. Their functions are written once, in a base class of all of these.
struct SharedFields {
  std::string name;
  std::vector<Member> members;
  std::string classes;  // their names, to be read
};

struct Fields {
  std::vector<Member> all;
  std::vector<std::size_t> shared;  // base classes
  std::vector<Member> own;          // those that are in none of them
};

struct Group {
  std::string name;  // of the entry's reader
  std::string file;
  std::string field;
  Tag count{};
  Fields fields;  // the delimiter first
};

struct Message {
  std::string name;
  std::string file;
  std::string msg_type;
  Fields fields;  // of the body
};

// What messages are printed with.
struct NamedField {
  Tag tag{};
  std::string name;
  std::vector<std::pair<std::string, std::string>> values;  // as on the wire, and its name
};

struct Ir {
  std::string source;
  std::string begin_string;
  std::string name_space;
  std::vector<Enumeration> enumerations;  // by tag
  std::vector<Group> groups;              // nested ones before those that contain them
  std::vector<Message> messages;          // as in the dictionary
  std::vector<SharedFields> shared;
  std::vector<Member> header;
  // Of all messages and fields of the dictionary, also of those that are not selected.
  std::vector<std::pair<std::string, std::string>> named_messages;  // MsgType and name
  std::vector<NamedField> named_fields;                             // by tag
};

// Only the messages that the options name, and the groups and enumerations that they need.
[[nodiscard]] Ir build_ir(const Dictionary& dictionary, const CodegenOptions& options);

}  // namespace nfx::codegen
