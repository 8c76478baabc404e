// The text of a configuration in either format, or an error with the reason why it cannot be read.
#pragma once

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "nexusfix/config/engine_config.hpp"

namespace nfx::config {

[[nodiscard]] inline std::string read_config_file(const std::filesystem::path& file) {
  const auto fail = [&](const std::string& why) {
    throw ConfigError(file.string() + ": cannot read the configuration (" + why +
                      "): give the path of a readable file");
  };
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) fail("it is a folder");
  errno = 0;
  std::ifstream in{file, std::ios::binary};
  if (!in.is_open()) fail(std::generic_category().message(errno));
  std::ostringstream text;
  // Copying nothing counts as a failure of the stream.
  const bool empty = in.peek() == std::ifstream::traits_type::eof() && !in.bad();
  if (!empty && !(text << in.rdbuf())) fail(std::generic_category().message(errno));
  return std::move(text).str();
}

}  // namespace nfx::config
