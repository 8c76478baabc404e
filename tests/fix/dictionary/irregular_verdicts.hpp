// The verdicts for these messages with each dictionary of tests/fix/dictionary/irregular. The tests of NexusFIX and of
// QuickFIX (tests/interop) both use this table, so that neither is linked with the other. C++14.
#pragma once

#include <string>

namespace irregular {

struct Message {
  const char* name;
  const char* body;  // after the header; '|' means SOH
  bool valid;        // unless an exception says otherwise
};

const char* const header = "35=D|49=A|56=B|34=2|52=20240102-03:04:05|";

const Message messages[] = {
    {"right", "11=a|54=1|", true},
    {"with_a_text", "11=a|54=2|58=hello|", true},
    {"with_a_group", "11=a|54=1|555=2|600=X|654=r|600=Y|", true},
    {"side_missing", "11=a|", false},
    {"id_missing", "54=1|", false},
    {"side_unlisted", "11=a|54=9|", false},
    {"quantity_no_number", "11=a|54=1|38=x|", false},
    {"count_too_high", "11=a|54=1|555=3|600=X|600=Y|", false},
    {"unknown_tag", "11=a|54=1|44=10|", false},
    {"value_empty", "11=a|54=1|58=|", false},
};

// A verdict other than the usual one.
struct Exception {
  const char* file;
  const char* message;
  bool quickfix;
  bool ours;
  const char* why;
};

const Exception exceptions[] = {
    {"blanks_around_values", "with_a_text", false, true, "QuickFIX takes ' 2 ' for the value, blanks included"},
    {"groups_with_other_members", "with_a_group", false, true, "in QuickFIX the last of two groups counts"},
    {"required_is_another_letter", "side_missing", true, true, "anything but Y is N"},
    {"types_in_small_letters", "quantity_no_number", true, false, "QuickFIX does not know 'qty', and checks nothing"},
    {"types_unknown", "quantity_no_number", true, true, "an unknown type is a text"},
    {"values_in_an_element", "side_unlisted", true, false, "QuickFIX/J's <values> is unknown to QuickFIX"},
};

// QuickFIX refuses these, or does not terminate.
const char* const refused_by_quickfix[] = {
    "component_undefined",    "component_within_itself",    "field_undefined",
    "field_with_two_numbers", "fields_defined_twice_alike", "fields_defined_twice_with_other_values",
    "header_missing",
};

inline bool is_refused_by_quickfix(const std::string& file) {
  for (const char* each : refused_by_quickfix) {
    if (file == each) return true;
  }
  return false;
}

inline const Exception* exception_of(const std::string& file, const std::string& message) {
  for (const Exception& each : exceptions) {
    if (file == each.file && message == each.message) return &each;
  }
  return nullptr;
}

}  // namespace irregular
