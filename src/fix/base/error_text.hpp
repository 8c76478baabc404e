// Texts of errors that many modules report, in the same words: "cannot read venue.xml: No such file or directory".
// Thread: any, no state. Cost: allocates the text. Errors: none.
#pragma once

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "nexusfix/base/language.hpp"

namespace nfx {

// The text of an errno value: "No such file or directory".
[[nodiscard]] inline std::string system_text(int code) { return std::generic_category().message(code); }

// `action` is a verb such as "read", "write" or "make folder".
[[nodiscard]] inline std::string cannot(std::string_view action, const std::filesystem::path& path,
                                        std::string_view why) {
  return "cannot " + std::string{action} + ' ' + path.string() + ": " + std::string{why};
}
[[nodiscard]] inline std::string cannot(std::string_view action, const std::filesystem::path& path, int code) {
  return cannot(action, path, system_text(code));
}

// "ring_size is 1000; expected a power of two".
[[nodiscard]] inline std::string out_of_range(std::string_view name, std::uint64_t value, std::string_view expected) {
  return std::string{name} + " is " + std::to_string(value) + "; expected " + std::string{expected};
}

// "the environment variable VENUE_PASSWORD is not set".
[[nodiscard]] inline std::string not_set(std::string_view variable) {
  return "the environment variable " + std::string{variable} + " is not set";
}

}  // namespace nfx
