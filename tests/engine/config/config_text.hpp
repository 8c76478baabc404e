// Configuration files for tests, made of keys and values.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "nexusfix/config/engine_config.hpp"

namespace nfx::test {

using Keys = std::map<std::string, std::string>;

inline std::string document(const Keys& engine, const Keys& session, std::string_view section = "[[session]]") {
  std::string text = "[engine]\n";
  for (const auto& [key, value] : engine) text += key + " = " + value + "\n";
  text += std::string{section} + "\n";
  for (const auto& [key, value] : session) text += key + " = " + value + "\n";
  return text;
}

inline EngineConfig parsed(std::string_view toml) {
  return parse_config(toml, "test.toml", NFX_SOURCE_DIR "/dictionaries");
}

inline const Keys acceptor_keys{{"role", "\"acceptor\""},
                                {"sender_comp_id", "\"US\""},
                                {"target_comp_id", "\"THEM\""},
                                {"listen", "\"127.0.0.1:1\""}};
inline const Keys initiator_keys{{"role", "\"initiator\""},
                                 {"sender_comp_id", "\"US\""},
                                 {"target_comp_id", "\"THEM\""},
                                 {"connect", "\"127.0.0.1:1\""}};

}  // namespace nfx::test
