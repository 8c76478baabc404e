// Before FIX 4.2 made CHAR a single character, it was any text: ClOrdID of FIX 4.0, for example, is of type char with
// several characters. Every reader of a model applies this rule last. So a model of such a version has no field of type
// character, whatever file format or overlay its types come from.
#pragma once

#include "nexusfix/dictionary/model.hpp"
#include "nexusfix/dictionary/version.hpp"

namespace nfx {

inline void apply_character_rule(DictionaryModel& model) {
  if (session_rules(model.version.begin_string()) >= SessionRules::fix42) return;
  for (ModelField& field : model.fields) {
    if (field.type == FieldType::character) field.type = FieldType::string;
  }
}

}  // namespace nfx
