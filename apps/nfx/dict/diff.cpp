// nfx dict diff: lists the differences between two dictionaries in fields, values, messages and groups.
#include <algorithm>
#include <string>
#include <vector>

#include "command.hpp"
#include "dict/commands.hpp"
#include "dict/files.hpp"
#include "nexusfix/dictionary/model.hpp"
#include "output.hpp"

namespace nfx::app {
namespace {

std::string number(Tag tag) { return std::to_string(value(tag)); }
std::string title(const MemberDef& member) { return number(member.tag) + " " + std::string(member.field->name); }
std::string_view yes_no(bool yes) { return yes ? "Y" : "N"; }

class Diff {
 public:
  Diff(const Dictionary& a, const Dictionary& b) : a_(a), b_(b) {}

  // Prints the differences, and returns their number.
  std::size_t run() {
    if (a_.begin_string() != b_.begin_string()) changed("BeginString", a_.begin_string(), b_.begin_string());
    if (a_.version_name() != b_.version_name()) changed("version", a_.version_name(), b_.version_name());
    compare_fields();
    compare_messages();
    output_.flush();
    return count_;
  }

 private:
  void line(LiteralCharacter sign, const std::string& text) {
    output_.text += sign;
    output_.text.add(" {}\n", text);
    output_.flush_when_large();
    ++count_;
  }
  void changed(const std::string& what, std::string_view before, std::string_view after) {
    line('~', what + ": " + std::string(before) + ", then " + std::string(after));
  }

  void compare_fields() {
    for (const FieldDef& field : a_.fields()) {
      const FieldDef* other = b_.find_field(field.tag);
      if (other == nullptr) {
        line('-', "field " + describe(field));
      } else {
        compare(field, *other);
      }
    }
    for (const FieldDef& field : b_.fields()) {
      if (a_.find_field(field.tag) == nullptr) line('+', "field " + describe(field));
    }
  }

  static std::string describe(const FieldDef& field) {
    return number(field.tag) + " " + std::string(field.name) + " " + std::string(to_string(field.type));
  }

  void compare(const FieldDef& a, const FieldDef& b) {
    const std::string what = "field " + number(a.tag) + " " + std::string(a.name);
    if (a.name != b.name) changed(what + " name", a.name, b.name);
    if (a.type != b.type) changed(what + " type", to_string(a.type), to_string(b.type));
    if (a.open != b.open) changed(what + " takes other values", yes_no(a.open), yes_no(b.open));
    for (const EnumValue& value : a.values.all()) {
      const EnumValue* other = b.values.find(value.value);
      if (other == nullptr) {
        line('-', "value " + number(a.tag) + "=" + std::string(value.value) + " " + std::string(value.name));
      } else if (other->name != value.name) {
        changed("value " + number(a.tag) + "=" + std::string(value.value), value.name, other->name);
      }
    }
    for (const EnumValue& value : b.values.all()) {
      if (a.values.find(value.value) == nullptr) {
        line('+', "value " + number(a.tag) + "=" + std::string(value.value) + " " + std::string(value.name));
      }
    }
  }

  void compare_messages() {
    bool around_compared = false;
    for (const MessageDef& message : a_.messages()) {
      const std::string what = std::string(message.msg_type) + " " + std::string(message.name);
      const MessageDef* other = b_.find_message(message.msg_type);
      if (other == nullptr) {
        line('-', "message " + what);
        continue;
      }
      if (message.name != other->name) changed("message " + what + " name", message.name, other->name);
      if (message.admin != other->admin) {
        changed("message " + what + " is the session's", yes_no(message.admin), yes_no(other->admin));
      }
      // All messages have the same header and trailer.
      if (!around_compared) {
        compare(section(message.scope, Section::header), section(other->scope, Section::header), "header");
        compare(section(message.scope, Section::trailer), section(other->scope, Section::trailer), "trailer");
        around_compared = true;
      }
      compare(section(message.scope, Section::body), section(other->scope, Section::body), what);
    }
    for (const MessageDef& message : b_.messages()) {
      if (a_.find_message(message.msg_type) == nullptr) {
        line('+', "message " + std::string(message.msg_type) + " " + std::string(message.name));
      }
    }
  }

  using Members = std::vector<const MemberDef*>;

  static Members section(const Scope& scope, Section which) {
    Members members;
    for (const MemberDef& member : scope.members()) {
      if (member.section == which) members.push_back(&member);
    }
    return members;
  }
  static Members all(const Scope& scope) {
    Members members;
    for (const MemberDef& member : scope.members()) members.push_back(&member);
    return members;
  }
  static const MemberDef* find(const Members& members, Tag tag) {
    const auto at = std::ranges::find(members, tag, &MemberDef::tag);
    return at == members.end() ? nullptr : *at;
  }

  void compare(const Members& a, const Members& b, const std::string& where) {
    for (const MemberDef* member : a) {
      const MemberDef* other = find(b, member->tag);
      if (other == nullptr) {
        line('-', where + ": " + title(*member));
        continue;
      }
      const std::string what = where + ": " + title(*member);
      if (member->required != other->required)
        changed(what + " required", yes_no(member->required), yes_no(other->required));
      if ((member->group != nullptr) != (other->group != nullptr)) {
        changed(what + " counts a group", yes_no(member->group != nullptr), yes_no(other->group != nullptr));
      } else if (member->group != nullptr) {
        compare(all(member->group->scope), all(other->group->scope), where + "/" + title(*member));
      }
    }
    for (const MemberDef* member : b) {
      if (find(a, member->tag) == nullptr) {
        line('+', where + ": " + title(*member) + (member->required ? " (required)" : ""));
      }
    }
    compare_order(a, b, where);
  }

  // Finds the first common member in a different place.
  void compare_order(const Members& a, const Members& b, const std::string& where) {
    std::size_t at = 0;
    for (const MemberDef* member : a) {
      if (find(b, member->tag) == nullptr) continue;
      while (at < b.size() && find(a, b[at]->tag) == nullptr) ++at;
      if (at == b.size()) return;
      if (b[at]->tag != member->tag) {
        line('~', where + ": order: " + title(*member) + ", then " + title(*b[at]) + " in its place");
        return;
      }
      ++at;
    }
  }

  const Dictionary& a_;
  const Dictionary& b_;
  Output output_;
  std::size_t count_ = 0;
};

}  // namespace

int diff_dictionaries(const std::string& a, const std::string& b) {
  const Dictionary first = load_dictionary(dictionary_path(a));
  const Dictionary second = load_dictionary(dictionary_path(b));
  for (const Dictionary* each : {&first, &second}) {
    for (const std::string& line : each->repairs().summary()) print_error("warning: {}\n", line);
  }
  const std::size_t count = Diff(first, second).run();
  print("{}{}\n", count == 0 ? "no" : std::to_string(count), count == 1 ? " difference" : " differences");
  return count == 0 ? exit_done : exit_failed;
}

}  // namespace nfx::app
