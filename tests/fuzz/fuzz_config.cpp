// Any TOML file is either a configuration that passes its own checks, or gives one error that begins with a line and
// column of the file.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz_target.hpp"
#include "nexusfix/config/engine_config.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 20000};

namespace {

using nfx::fuzz::require;

// "f.toml:3:7: ...".
void check_error(std::string_view error, std::string_view toml) {
  const std::size_t line = nfx::fuzz::line_in(error, "f.toml");
  require(line > 0 && line <= nfx::fuzz::lines_of(toml), "an error names a line of the file", error);
  const std::size_t column = nfx::fuzz::line_in(error.substr(7), error.substr(7, error.find(':', 7) - 7));
  require(column > 0, "an error names a column", error);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view toml = nfx::fuzz::text_of(data, size);
  nfx::EngineConfig config;
  try {
    config = nfx::parse_config(toml, "f.toml", NFX_FUZZ_DICTIONARIES);
  } catch (const nfx::ConfigError& error) {
    check_error(error.what(), toml);
    return 0;
  }
  require(!config.sessions.empty(), "a configuration has a session", toml);
  try {
    nfx::check_config(config);
  } catch (const nfx::ConfigError& error) {
    require(false, "what was read passes the checks of a program's own configuration", error.what());
  }
  for (const nfx::SessionSettings& session : config.sessions) {
    require(!nfx::identity(session.session).empty(), "a session has an identity", toml);
  }
  return 0;
}
