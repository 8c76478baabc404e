// nfx dict show: prints a dictionary's definitions, with the conditions and scenarios of an Orchestra file.
#include <charconv>
#include <string>

#include "command.hpp"
#include "dict/commands.hpp"
#include "dict/files.hpp"
#include "nexusfix/dictionary/model.hpp"
#include "output.hpp"

namespace nfx::app {
namespace {

class Show {
 public:
  Show(const DictionaryModel& model, const Dictionary& dictionary) : model_(model), dictionary_(dictionary) {}

  // Returns whether `what` exists.
  bool run(const std::string& what) {
    bool found = what.empty();
    for (const MessageDef& message : dictionary_.messages()) {
      if (what.empty()) output_.text.add("{} {}\n", message.msg_type, message.name);
      if (message.name == what || message.msg_type == what) {
        show(message);
        found = true;
      }
    }
    if (const FieldDef* field = what.empty() ? nullptr : field_of(what)) {
      show(*field);
      found = true;
    }
    if (what.empty()) show_rules([](const ModelRule&) { return true; });
    output_.flush();
    return found;
  }

 private:
  [[nodiscard]] const FieldDef* field_of(const std::string& what) const {
    std::int32_t number = 0;
    const auto [end, error] = std::from_chars(what.data(), what.data() + what.size(), number);
    const bool is_number = error == std::errc{} && end == what.data() + what.size();
    return is_number ? dictionary_.find_field(Tag{number}) : dictionary_.find_field(what);
  }

  void show(const MessageDef& message) {
    output_.text.add("message {} {}{}\n", message.msg_type, message.name, message.admin ? ", of the session" : "");
    show(message.scope, 1);
    const std::string where = "message " + std::string(message.name);
    show_rules([&](const ModelRule& rule) { return rule.where == where || rule.where.starts_with(where + ","); });
  }

  void show(const Scope& scope, std::size_t depth) {
    for (const MemberDef& member : scope.members()) {
      output_.text.add("{}{} {} {}{}\n", std::string(2 * depth, ' '), value(member.tag), member.field->name,
                       to_string(member.field->type), member.required ? ", required" : "");
      output_.flush_when_large();
      if (member.group != nullptr) show(member.group->scope, depth + 1);
    }
  }

  void show(const FieldDef& field) {
    output_.text.add("field {} {} {}{}\n", value(field.tag), field.name, to_string(field.type),
                     field.open && !field.values.empty() ? ", other values allowed" : "");
    for (const EnumValue& each : field.values.all()) output_.text.add("  {} {}\n", each.value, each.name);
    const std::string name = "field " + std::string(field.name);
    show_rules([&](const ModelRule& rule) { return rule.where.ends_with(name); });
  }

  template <class Filter>
  void show_rules(const Filter& is_shown) {
    for (const ModelRule& rule : model_.rules) {
      if (is_shown(rule)) output_.text.add("rule: {} {}\n", rule.where, rule.text);
      output_.flush_when_large();
    }
  }

  const DictionaryModel& model_;
  const Dictionary& dictionary_;
  Output output_;
};

}  // namespace

int show_dictionary(const ShowOptions& options) {
  const DictionaryModel model =
      load_model({.transport = options.transport.empty() ? "" : dictionary_path(options.transport),
                  .application = dictionary_path(options.file),
                  .overlays = {},
                  .version = options.fix_version});
  const Dictionary dictionary = Dictionary::build(model);
  for (const std::string& line : dictionary.repairs().summary()) print_error("warning: {}\n", line);
  if (Show(model, dictionary).run(options.what)) return exit_done;
  print_error("{}: no message or field {}; name one by its name, message type or number\n", options.file, options.what);
  return exit_failed;
}

}  // namespace nfx::app
