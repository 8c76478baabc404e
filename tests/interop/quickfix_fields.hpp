// Fields of QuickFIX messages: the tags the peer uses, and the text of a message in its event lines.
// Cost: copies; nothing here is hot.
#pragma once

#include <quickfix/Message.h>

#include <array>
#include <ctime>
#include <string>

namespace quickfix_peer {

namespace tag {
constexpr int begin_seq_no = 7, cl_ord_id = 11, cum_qty = 14, end_seq_no = 16, exec_id = 17, exec_trans_type = 20;
constexpr int handl_inst = 21, seq_num = 34, msg_type = 35, new_seq_no = 36, order_id = 37, order_qty = 38;
constexpr int ord_status = 39, ord_type = 40, poss_dup = 43, price = 44, ref_seq_num = 45, side = 54, symbol = 55;
constexpr int text = 58, transact_time = 60, avg_px = 6, heart_bt_int = 108, test_req_id = 112, encrypt_method = 98;
constexpr int gap_fill = 123, reset_seq_num = 141, exec_type = 150, leaves_qty = 151, encoded_text_len = 354;
constexpr int encoded_text = 355, ref_tag_id = 371, ref_msg_type = 372, session_reject_reason = 373;
constexpr int business_reject_reason = 380, party_id_source = 447, party_id = 448, party_role = 452, no_party_ids = 453;
constexpr int party_sub_id = 523, no_party_sub_ids = 802, party_sub_id_type = 803;
}  // namespace tag

// "-" for an absent field.
inline std::string field(const FIX::FieldMap& map, int tag) { return map.isSetField(tag) ? map.getField(tag) : "-"; }
inline std::string flag(const FIX::FieldMap& map, int tag) { return field(map, tag) == "Y" ? "Y" : "N"; }
inline std::string msg_type(const FIX::Message& message) { return field(message.getHeader(), tag::msg_type); }

// "firm/1,trader/12/desk", or "-". Groups are known only with a dictionary.
inline std::string parties(const FIX::FieldMap& order) {
  std::string all;
  for (unsigned i = 1; i <= order.groupCount(tag::no_party_ids); ++i) {
    const FIX::FieldMap& party = order.getGroupRef(static_cast<int>(i), tag::no_party_ids);
    all += (all.empty() ? "" : ",") + field(party, tag::party_id) + '/' + field(party, tag::party_role);
    for (unsigned j = 1; j <= party.groupCount(tag::no_party_sub_ids); ++j) {
      all += '/' + field(party.getGroupRef(static_cast<int>(j), tag::no_party_sub_ids), tag::party_sub_id);
    }
  }
  return all.empty() ? "-" : all;
}

inline std::string seq_and_poss_dup(const FIX::Message& message) {
  return field(message.getHeader(), tag::seq_num) + ' ' + flag(message.getHeader(), tag::poss_dup);
}

inline std::string admin_details(const FIX::Message& message) {
  const std::string type = msg_type(message);
  if (type == "A") {
    return " heartbeat=" + field(message, tag::heart_bt_int) + " reset=" + flag(message, tag::reset_seq_num);
  }
  if (type == "0" || type == "1") return " id=" + field(message, tag::test_req_id);
  if (type == "2") return " begin=" + field(message, tag::begin_seq_no) + " end=" + field(message, tag::end_seq_no);
  if (type == "4") return " new=" + field(message, tag::new_seq_no) + " gapfill=" + flag(message, tag::gap_fill);
  if (type == "5") return " text=" + field(message, tag::text);
  return {};
}

inline std::string utc_now(const char* format, std::time_t shift_s = 0) {
  const std::time_t when = std::time(nullptr) + shift_s;
  std::tm parts{};
  gmtime_r(&when, &parts);
  std::array<char, 32> buffer{};
  return {buffer.data(), std::strftime(buffer.data(), buffer.size(), format, &parts)};
}

}  // namespace quickfix_peer
