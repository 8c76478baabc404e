// A counterparty's variant of a dictionary, as differences: the elements that its messages add, remove or change.
// Thread: any, no state. Cost: allocates; part of loading. Lifetime: owns its data. Errors: as in model.hpp.
//
//   <overlay base="FIX44.xml" name="Venue">
//     <fields>
//       <field number="9730" name="VenueFlag" type="CHAR"/>           adds a field
//       <field number="54"><value enum="Z" description="ODD"/></field>   adds a value to a field
//       <field name="Text" type="STRING" remove="Y"/>                 removes a field
//     </fields>
//     <messages>
//       <message name="ExecutionReport">                              changes a message; adds it with msgtype, msgcat
//         <field name="VenueFlag" required="N" after="ExecID"/>       without `after`: at the end
//         <field name="AvgPx" required="N"/>                          exists already: only `required` changes
//         <group name="NoPartyIDs"><field name="VenueFlag" required="N" after="PartyID"/></group>
//       </message>
//     </messages>
//   </overlay>
//
// <header>, <trailer> and <components> have members in the same way. With transport="FIXT11.xml" the base is first
// combined with that transport, so that session messages and the header can be changed too. A change within <message>
// to a member of a component applies only to that message: the reference to the component is replaced by its members.
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
  Tag tag{};         // Tag{0}: identified by its name
  std::string name;  // empty: identified by its tag
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
  std::string after;  // a new member is inserted after this one; empty: at the end
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
  std::string msg_type;  // empty: identified by its name
  std::optional<bool> admin;
  bool remove = false;
  std::vector<OverlayMember> members;
  ModelPlace place;
};

struct OverlayModel {
  std::string base;       // a file, or a shipped dictionary; empty: the dictionary it is applied to
  std::string transport;  // the same for the base's transport; empty: none
  std::string name;
  std::vector<OverlayField> fields;
  std::vector<OverlayComponent> components;
  std::vector<OverlayMessage> messages;
  std::vector<OverlayMember> header;
  std::vector<OverlayMember> trailer;
  ModelPlace place;
  Repairs repairs;
};

[[nodiscard]] OverlayModel read_overlay(std::string_view xml, std::string_view source_name,
                                        std::vector<std::string>* problems = nullptr);

// Applies the overlay's changes to the base. Changed and removed elements must exist.
[[nodiscard]] DictionaryModel apply_overlay(const DictionaryModel& base, const OverlayModel& overlay,
                                            std::vector<std::string>* problems = nullptr);

// XML that read_overlay() parses to the same overlay.
[[nodiscard]] std::string overlay_to_xml(const OverlayModel& overlay);

}  // namespace nfx
