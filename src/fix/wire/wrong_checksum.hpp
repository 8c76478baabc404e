// Makes a message garbled, for tests of receivers.
#pragma once

#include <string>
#include <utility>

namespace nfx {

// The message with another digit in CheckSum(10).
[[nodiscard]] inline std::string with_wrong_checksum(std::string message) {
  char& digit = message[message.size() - 2];
  digit = digit == '0' ? '1' : '0';
  return message;
}

}  // namespace nfx
