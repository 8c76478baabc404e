// Parses names and addresses of UDP lines, for the commands that receive them.
#include "market/udp_lines.hpp"

#include <algorithm>

#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/transport/udp.hpp"

namespace nfx::app::market {

std::vector<UdpLineOptions> parse_udp_lines(const std::vector<std::string>& texts, std::uint32_t receive_buffer) {
  std::vector<UdpLineOptions> lines;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw ConfigError("--line: \"" + text + "\" has no name; write NAME=ADDRESS:PORT, for multicast " +
                        "NAME=GROUP:PORT@INTERFACE");
    }
    const std::string name = text.substr(0, equals);
    if (std::ranges::find(lines, name, &UdpLineOptions::name) != lines.end()) {
      throw ConfigError("--line: duplicate name \"" + name + "\"; names must be unique");
    }
    lines.push_back({name, parse_udp_address(text.substr(equals + 1)), static_cast<int>(receive_buffer)});
  }
  return lines;
}

}  // namespace nfx::app::market
