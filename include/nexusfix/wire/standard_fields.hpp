// The parts of the FIX standard that need no dictionary: the tags of the header and the trailer, the fields that carry
// data after a length field, and the message types of the session layer.
// Source: FIX 4.0 to 5.0 SP2 and FIXT.1.1 field definitions. Cost: a switch or one table lookup.
#pragma once

#include <cstdint>
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
    case 1620: return Tag{1621};
    case 1664: return Tag{1665};
    case 1678: return Tag{1697};
    case 1733: return Tag{1734};
    case 1871: return Tag{1872};
    case 1874: return Tag{1875};
    case 2072: return Tag{2073};
    case 2074: return Tag{2075};
    case 2111: return Tag{2112};
    case 2179: return Tag{2180};
    case 2287: return Tag{2288};
    case 2351: return Tag{2352};
    case 2372: return Tag{2371};
    case 2481: return Tag{2482};
    case 2494: return Tag{2493};
    case 2522: return Tag{2521};
    case 2637: return Tag{2638};
    case 2651: return Tag{2652};
    case 2665: return Tag{2666};
    case 2715: return Tag{2716};
    case 2718: return Tag{2719};
    case 2721: return Tag{2722};
    case 2797: return Tag{2798};
    case 2802: return Tag{2801};
    case 2809: return Tag{2808};
    case 2815: return Tag{2814};
    case 40004: return Tag{40005};
    case 40008: return Tag{40009};
    case 40978: return Tag{40979};
    case 40980: return Tag{40981};
    case 40982: return Tag{40983};
    case 40984: return Tag{40985};
    case 40986: return Tag{40987};
    case 40988: return Tag{40989};
    case 41083: return Tag{41084};
    case 41101: return Tag{41102};
    case 41107: return Tag{41108};
    case 41256: return Tag{41257};
    case 41320: return Tag{41321};
    case 41324: return Tag{41325};
    case 41458: return Tag{41459};
    case 41476: return Tag{41477};
    case 41482: return Tag{41483};
    case 41653: return Tag{41654};
    case 41710: return Tag{41711};
    case 41806: return Tag{41807};
    case 41811: return Tag{41812};
    case 41873: return Tag{41874};
    case 41969: return Tag{41970};
    case 42025: return Tag{42026};
    case 42171: return Tag{42172};
    case 42451: return Tag{42452};
    case 42652: return Tag{42653};
    case 42947: return Tag{42948};
    case 43109: return Tag{42684};
    case 43110: return Tag{42486};
    case 43111: return Tag{42982};
    default: return Tag{0};
  }
}

// The session writes these itself, each once: BeginString, BodyLength, CheckSum, MsgSeqNum, MsgType, PossDupFlag,
// SenderCompID, SendingTime, TargetCompID.
[[nodiscard]] constexpr bool is_written_by_session(Tag tag) noexcept {
  constexpr std::uint64_t written =
      1ULL << 8 | 1ULL << 9 | 1ULL << 10 | 1ULL << 34 | 1ULL << 35 | 1ULL << 43 | 1ULL << 49 | 1ULL << 52 | 1ULL << 56;
  const auto number = static_cast<std::uint32_t>(value(tag));
  return number < 64 && (written >> number & 1) != 0;
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

// Heartbeat, TestRequest, ResendRequest, Reject, SequenceReset, Logout, Logon: never delivered to the application,
// never resent. Every other type, XMLnonFIX (n) included, is an application message.
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
