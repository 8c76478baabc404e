// A counterparty's variant of a dictionary as the difference to it: what its messages have more, less or otherwise.
// Thread: any, no state. Cost: allocates; part of loading. Lifetime: owns what it holds. Errors: as in model.hpp.
//
//   <overlay base="FIX44.xml" name="Venue">
//     <fields>
//       <field number="9730" name="VenueFlag" type="CHAR"/>           a field more
//       <field number="54"><value enum="Z" description="ODD"/></field>   a value more of a field that is there
//       <field name="Text" type="STRING" remove="Y"/>                 a field less
//     </fields>
//     <messages>
//       <message name="ExecutionReport">                              changed; with msgtype and msgcat one more
//         <field name="VenueFlag" required="N" after="ExecID"/>       without `after` at the end
//         <field name="AvgPx" required="N"/>                          there already: only `required` changes
//         <group name="NoPartyIDs"><field name="VenueFlag" required="N" after="PartyID"/></group>
//       </message>
//     </messages>
//   </overlay>
//
// <header>, <trailer> and <components> hold members in the same way. With transport="FIXT11.xml" the base is joined
// with that first, so that the session's messages and the header can be changed too. What a message has through a
// component, a change within <message> gives to that message alone: the component's reference is replaced by what it
// holds.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/dictionary/model.hpp"

namespace nfx {

struct OverlayValue {
  std::string value;
  std::string name;
  bool remove = false;
  ModelPlace place;
};

struct OverlayField {
  Tag tag{};         // Tag{0}: known by its name
  std::string name;  // empty: known by its number
  std::optional<FieldType> type;
  std::optional<bool> open;
  bool remove = false;
  std::vector<OverlayValue> values;
  ModelPlace place;
};

struct OverlayMember {
  MemberKind kind = MemberKind::field;
  std::string name;
  std::optional<bool> required;
  bool remove = false;
  std::string after;  // the member that a new one stands behind; empty: at the end
  std::vector<OverlayMember> members;
  ModelPlace place;
};

struct OverlayComponent {
  std::string name;
  bool remove = false;
  std::vector<OverlayMember> members;
  ModelPlace place;
};

struct OverlayMessage {
  std::string name;
  std::string msg_type;  // empty: known by its name
  std::optional<bool> admin;
  bool remove = false;
  std::vector<OverlayMember> members;
  ModelPlace place;
};

struct OverlayModel {
  std::string base;       // a file, or one of the shipped dictionaries; empty: whatever it is applied to
  std::string transport;  // the same, of what carries the base; empty: nothing does
  std::string name;
  std::vector<OverlayField> fields;
  std::vector<OverlayComponent> components;
  std::vector<OverlayMessage> messages;
  std::vector<OverlayMember> header;
  std::vector<OverlayMember> trailer;
  ModelPlace place;
};

[[nodiscard]] OverlayModel read_overlay(std::string_view xml, std::string_view source_name,
                                        std::vector<std::string>* problems = nullptr);

// The base with the overlay's changes. What is to be changed or removed must be there.
[[nodiscard]] DictionaryModel apply_overlay(const DictionaryModel& base, const OverlayModel& overlay,
                                            std::vector<std::string>* problems = nullptr);

// XML that read_overlay() reads back to the same overlay.
[[nodiscard]] std::string overlay_to_xml(const OverlayModel& overlay);

}  // namespace nfx
