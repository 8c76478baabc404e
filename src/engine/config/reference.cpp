// Writes help and documentation of the keys from their rows, so that the texts exist only once.
#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "config/keys.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx {
namespace {

// "[placement.poll], [placement.deferred], ...".
std::string role_sections() {
  std::string names;
  for (const ThreadRoleRow& row : thread_role_table)
    names.append(names.empty() ? "" : ", ").append("[placement.").append(row.name).append("]");
  return names;
}

// Calls `visit` with the name, a remark and the keys of each section.
template <class Visit>
void for_each_section(Visit&& visit) {
  visit("[engine]", "", config::engine_keys());
  visit("[placement]", "which CPUs the threads run on", config::placement_keys());
  visit(role_sections(), "", config::role_keys());
  visit("[log]", "log files and metrics", config::log_keys());
  visit("[control]", "commands of operators, and metrics over HTTP", config::control_keys());
  visit("[cluster]", "sessions that other machines continue", config::cluster_keys());
  visit("[[session]]", "and [defaults] for all sessions", config::session_keys());
}

void append_wrapped(std::string& out, std::string_view text) {
  constexpr std::size_t width = 100;
  constexpr std::string_view indent = "      ";
  while (!text.empty()) {
    std::size_t end = text.size();
    if (end > width) end = text.rfind(' ', width);
    out.append(indent).append(text.substr(0, end)).append("\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

std::string config_reference() {
  std::string out;
  for_each_section(
      [&out]<class Target>(std::string_view name, std::string_view remark, std::span<const config::Key<Target>> keys) {
        out.append(name).append(remark.empty() ? "" : ", ").append(remark).append("\n");
        for (const config::Key<Target>& key : keys) {
          std::string line = "  " + std::string{key.name} + " = " + key.show(Target{});
          if (line.size() < 44) line.resize(44, ' ');
          out += line + "  (" + type_text(key) + ")\n";
          append_wrapped(out, key.meaning);
        }
      });
  return out;
}

std::string config_key_table() {
  std::string out;
  for_each_section([&out]<class Target>(std::string_view name, std::string_view /*remark*/,
                                        std::span<const config::Key<Target>> keys) {
    if (!out.empty()) out += '\n';
    out.append("| ").append(name).append(" | type | default | meaning |\n|---|---|---|---|\n");
    for (const config::Key<Target>& key : keys) {
      out += "| `" + std::string{key.name} + "` | " + type_text(key) + " | `" + key.show(Target{}) + "` | " +
             std::string{key.meaning} + " |\n";
    }
  });
  return out;
}

}  // namespace nfx
