// What the FIX standard itself says of fields, needed before any dictionary is: which tags belong to the header and
// trailer, which carry data behind a length, which message types are the session's own.
// Source: FIX 4.0 to 5.0 SP2 and FIXT.1.1 field definitions. Cost: a switch or one table look-up.
#pragma once

#include <string_view>

#include "nexusfix/base/tag.hpp"

namespace nfx {

// The data field that follows a length field, or Tag{0}.
[[nodiscard]] constexpr Tag data_tag_of(Tag length_tag) noexcept {
  switch (value(length_tag)) {
    case 90: return Tag{91};
    case 93: return Tag{89};
    case 95: return Tag{96};
    case 212: return Tag{213};
    case 348: return Tag{349};
    case 350: return Tag{351};
    case 352: return Tag{353};
    case 354: return Tag{355};
    case 356: return Tag{357};
    case 358: return Tag{359};
    case 360: return Tag{361};
    case 362: return Tag{363};
    case 364: return Tag{365};
    case 445: return Tag{446};
    case 618: return Tag{619};
    case 621: return Tag{622};
    case 1184: return Tag{1185};
    case 1277: return Tag{1278};
    case 1280: return Tag{1281};
    case 1282: return Tag{1283};
    case 1397: return Tag{1398};
    case 1401: return Tag{1402};
    case 1403: return Tag{1404};
    case 1468: return Tag{1469};
    case 1525: return Tag{1527};
    case 1578: return Tag{1579};
    case 1619: return Tag{1620};
    case 1621: return Tag{1622};
    case 1664: return Tag{1665};
    case 1678: return Tag{1679};
    case 1696: return Tag{1697};
    case 1733: return Tag{1734};
    default: return Tag{0};
  }
}

[[nodiscard]] constexpr bool is_header_tag(Tag tag) noexcept {
  switch (value(tag)) {
    case 8:
    case 9:
    case 35:
    case 34:
    case 43:
    case 49:
    case 50:
    case 52:
    case 56:
    case 57:
    case 90:
    case 91:
    case 97:
    case 115:
    case 116:
    case 122:
    case 128:
    case 129:
    case 142:
    case 143:
    case 144:
    case 145:
    case 212:
    case 213:
    case 347:
    case 369:
    case 370:
    case 627:
    case 628:
    case 629:
    case 630:
    case 1128:
    case 1129:
    case 1156: return true;
    default: return false;
  }
}

[[nodiscard]] constexpr bool is_trailer_tag(Tag tag) noexcept {
  return tag == Tag::CheckSum || tag == Tag::Signature || tag == Tag::SignatureLength;
}

// Heartbeat, TestRequest, ResendRequest, Reject, SequenceReset, Logout, Logon: never handed to the application,
// never sent again. Every other type, XMLnonFIX (n) included, is an application message.
[[nodiscard]] constexpr bool is_session_msg_type(std::string_view type) noexcept {
  return type.size() == 1 && ((type[0] >= '0' && type[0] <= '5') || type[0] == 'A');
}

namespace msg_type {
inline constexpr std::string_view heartbeat = "0";
inline constexpr std::string_view test_request = "1";
inline constexpr std::string_view resend_request = "2";
inline constexpr std::string_view reject = "3";
inline constexpr std::string_view sequence_reset = "4";
inline constexpr std::string_view logout = "5";
inline constexpr std::string_view logon = "A";
inline constexpr std::string_view business_message_reject = "j";
inline constexpr std::string_view execution_report = "8";
inline constexpr std::string_view order_cancel_reject = "9";
inline constexpr std::string_view new_order_single = "D";
inline constexpr std::string_view order_cancel_request = "F";
inline constexpr std::string_view order_cancel_replace_request = "G";
}  // namespace msg_type

}  // namespace nfx
