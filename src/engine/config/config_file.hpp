// The text of a configuration in either format, or an error with the reason why it cannot be read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "config/masked_text.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx::config {

// Ten thousand sessions with every key written out take less.
inline constexpr std::size_t max_config_size = std::size_t{16} << 20;

struct ConfigFile {
  std::string text;        // UTF-8 with line feeds, whatever the editor saved
  std::uint32_t mode = 0;  // of the file: its permission bits
};

[[nodiscard]] ConfigFile read_config_file(const std::filesystem::path& file);

// A configuration from a text whose secrets have been replaced.
[[nodiscard]] EngineConfig parse_masked(const MaskedText& toml, std::string_view name, const std::string& folder);

// What other users can do with a file of this mode that they must not, and the fix; empty: nothing. Whoever may write
// to it decides what the engine does; whoever may read it has its passwords.
[[nodiscard]] std::string mode_warning(const std::filesystem::path& file, std::uint32_t mode, bool has_password);

}  // namespace nfx::config
