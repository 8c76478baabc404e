// The text of a configuration in either format, or an error with the reason why it cannot be read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "config/masked_text.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx::config {

// Enough for ten thousand sessions with every key written out.
inline constexpr std::size_t max_config_size = std::size_t{16} << 20;

struct ConfigFile {
  std::string text;        // UTF-8 with line feeds, whatever the editor saved
  std::uint32_t mode = 0;  // permission bits of the file
};

[[nodiscard]] ConfigFile read_config_file(const std::filesystem::path& file);

// Parses a text whose secrets have been masked.
[[nodiscard]] EngineConfig parse_masked(const MaskedText& toml, std::string_view name, const std::string& folder);

// A warning about access that the file's mode wrongly gives to other users, with the fix; empty if there is none. A
// user who can write the file controls the engine; one who can read it knows its passwords.
[[nodiscard]] std::string mode_warning(const std::filesystem::path& file, std::uint32_t mode, bool has_password);

}  // namespace nfx::config
