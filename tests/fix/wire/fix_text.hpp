// FIX text in tests: '|' means SOH, and BodyLength and CheckSum are computed here, not by the code under test.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace nfx::test {

inline std::string with_soh(std::string_view text) {
  std::string result{text};
  std::ranges::replace(result, '|', '\x01');
  return result;
}

// "10=ddd<SOH>" for everything before it.
inline std::string check_sum_of(std::string_view bytes) {
  unsigned sum = 0;
  for (const char c : bytes) sum += static_cast<unsigned char>(c);
  sum %= 256;
  std::string digits = std::to_string(sum);
  digits.insert(0, 3 - digits.size(), '0');
  return "10=" + digits + '\x01';
}

// A whole message around exact body bytes, which start with MsgType and may contain '|'.
inline std::string frame_bytes(std::string_view body, std::string_view begin_string = "FIX.4.4") {
  std::string message = "8=" + std::string{begin_string} +
                        "\x01"
                        "9=" +
                        std::to_string(body.size()) + '\x01';
  message += body;
  return message + check_sum_of(message);
}

// The same for a body in which '|' means SOH.
inline std::string frame(std::string_view body, std::string_view begin_string = "FIX.4.4") {
  return frame_bytes(with_soh(body), begin_string);
}

// Text with a CheckSum after it and an unchanged header.
inline std::string with_check_sum(std::string_view text) {
  const std::string bytes = with_soh(text);
  return bytes + check_sum_of(bytes);
}

inline const std::string logon = frame("35=A|34=1|49=BUYER|52=20240315-12:00:00.123|56=SELLER|98=0|108=30|141=Y|");
inline const std::string order = frame(
    "35=D|34=7|49=BUYER|52=20240315-12:00:01.000001|56=SELLER|11=ord-7|55=MSFT|54=1|38=100|40=2|44=23.230|"
    "59=0|60=20240315-12:00:01|5001=vendor|2147483647=last|");
inline const std::string data_message = frame_bytes(
    "35=B\x01"
    "34=8\x01"
    "148=news\x01"
    "95=20\x01"
    "96=a\x01"
    "10=123\x01"
    "8=FIX.4.4\x01"
    "=\x01"
    "58=behind\x01");
inline const std::string parties =
    frame("35=D|34=9|11=x|453=2|448=A|447=D|452=1|802=2|523=a1|803=1|523=a2|803=2|448=B|447=D|452=3|55=MSFT|");

}  // namespace nfx::test
