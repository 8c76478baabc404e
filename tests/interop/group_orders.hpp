// Repeating groups whose entries are not in the dictionary's order, and the verdicts of our validator and, as a second
// opinion, QuickFIX C++ (Debian's package). Plain data, in QuickFIX's C++14.
#pragma once

namespace nfx {
namespace interop {

struct GroupOrder {
  const char* fields;  // of a NewOrderSingle of FIX 4.4; '|' means SOH
  bool quickfix_accepts;
  bool we_deliver;  // by default
};

// The difference: QuickFIX begins an entry at every delimiter, so entries that all begin with another member are too
// many for it; it does not count nested groups' entries.
const GroupOrder group_orders[] = {
    {"453=2|448=A|447=D|452=1|448=B|447=D|452=3|", true, true},
    {"453=2|448=A|452=1|447=D|448=B|452=3|447=D|", true, true},
    {"453=2|448=A|452=1|448=B|452=3|447=D|", true, true},
    {"453=1|452=1|447=D|", true, true},
    {"453=1|447=D|452=1|", true, true},
    {"453=2|447=D|447=D|", true, true},
    {"453=2|448=A|447=D|447=D|452=1|", true, true},
    {"453=1|448=A|802=2|523=a|803=1|523=b|803=2|452=1|", true, true},
    {"453=1|448=A|452=1|802=2|523=a|803=1|523=b|803=2|", true, true},
    {"453=1|448=A|802=2|803=1|803=2|447=D|", true, true},
    {"453=2|452=1|448=A|452=3|448=B|", false, true},
    {"453=2|447=D|448=A|452=1|447=D|448=B|452=3|", false, true},
    {"453=1|448=A|802=2|803=1|523=a|803=2|523=b|", true, true},
    {"453=3|448=A|447=D|448=B|447=D|", false, false},
    {"453=1|448=A|447=D|448=B|447=D|", false, false},
    {"453=1|448=A|447=D|447=D|", false, false},
    {"453=0|447=D|", false, true},
};

struct LongNumber {
  const char* field;
  bool quickfix_accepts;
};

// Values of fields of the same message, all of which we deliver.
const LongNumber long_numbers[] = {
    {"44=1.123456789012345678", true},
    {"44=100.00000000000000000000", true},
    {"44=-0.0000000000000000000000001", true},
    {"38=123456789012345678901234567890", true},
    {"110=00000000000000000000000000000001", true},
    {"44=1234567890123456789012345678901234567890.5", true},
};

}  // namespace interop
}  // namespace nfx
