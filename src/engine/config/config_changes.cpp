// Compares the keys of two versions of a configuration.
#include "config/config_changes.hpp"

#include <algorithm>
#include <set>
#include <span>

#include "config/keys.hpp"
#include "config/live_keys.hpp"
#include "config/quickfix_settings.hpp"

namespace nfx {
namespace {

static_assert(!is_live_key("poll_thread") && is_live_key("connect"));

// A single text equals a list that contains only this text.
std::string as_list(const std::string& value, std::string_view kind) {
  return kind.ends_with("list") && !value.starts_with('[') ? '[' + value + ']' : value;
}

template <class Target>
struct Table {
  std::string section;
  std::span<const config::Key<Target>> rows;
  const Target& defaults;
};

// In the order of the table. Each key has a row, because the file has been read successfully.
template <class Target, class Needs>
void compare(const Table<Target>& table, const GivenKeys& before, const GivenKeys& after, Needs&& needs_of,
             std::vector<KeyChange>& into) {
  for (const config::Key<Target>& row : table.rows) {
    const auto old_key = before.find(row.name), new_key = after.find(row.name);
    if (old_key == before.end() && new_key == after.end()) continue;
    const std::string default_value = as_list(row.show(table.defaults), row.kind);
    const auto value_of = [&](auto at, const GivenKeys& all) {
      return at == all.end() ? default_value : as_list(at->second.value, row.kind);
    };
    if (value_of(old_key, before) == value_of(new_key, after)) continue;
    const auto shown = [&](auto at, const GivenKeys& all) {
      return at == all.end() ? default_value : at->second.shown;
    };
    into.push_back({.section = table.section,
                    .key = std::string{row.name},
                    .before = shown(old_key, before),
                    .after = shown(new_key, after),
                    .place = new_key != after.end() ? new_key->second.place : old_key->second.place,
                    .needs = needs_of(row.name)});
  }
}

const GivenKeys& section_of(const ConfigKeys& keys, std::string_view name) {
  static const GivenKeys none;
  const auto found = keys.sections.find(name);
  return found == keys.sections.end() ? none : found->second;
}

}  // namespace

std::string_view to_string(ChangeNeeds needs) noexcept {
  switch (needs) {
    case ChangeNeeds::nothing: return "now";
    case ChangeNeeds::disconnect: return "disconnected";
    case ChangeNeeds::restart: return "restart";
  }
  return "?";
}

std::vector<KeyChange> changes_of_session(const GivenKeys& before, const GivenKeys& after) {
  std::vector<KeyChange> changes;
  const config::SessionDraft defaults;
  compare(
      Table<config::SessionDraft>{"session", config::session_keys(), defaults}, before, after,
      [](std::string_view key) { return is_live_key(key) ? ChangeNeeds::nothing : ChangeNeeds::disconnect; }, changes);
  return changes;
}

std::vector<KeyChange> changes_of_engine(const ConfigKeys& before, const ConfigKeys& after) {
  std::vector<KeyChange> changes;
  const auto restart = [](std::string_view) { return ChangeNeeds::restart; };
  const auto add = [&](std::string name, auto rows, const auto& defaults, auto needs_of) {
    using Target = std::remove_cvref_t<decltype(defaults)>;
    const GivenKeys &old_keys = section_of(before, name), &new_keys = section_of(after, name);
    compare(Table<Target>{std::move(name), rows, defaults}, old_keys, new_keys, needs_of, changes);
  };
  const EngineConfig engine;
  add("engine", config::engine_keys(), engine, restart);
  // The presence of the section enables placement.
  if (before.sections.contains("placement") != after.sections.contains("placement")) {
    const auto there = [](const ConfigKeys& keys) { return keys.sections.contains("placement") ? "true" : "false"; };
    changes.push_back({.section = "placement", .key = "enabled", .before = there(before), .after = there(after)});
  }
  add("placement", config::placement_keys(), engine.placement, restart);
  const RoleRequest role;
  for (const ThreadRole each : thread_roles)
    add("placement." + std::string{to_string(each)}, config::role_keys(), role, restart);
  add("log", config::log_keys(), engine.log,
      [](std::string_view key) { return key == "level" ? ChangeNeeds::nothing : ChangeNeeds::restart; });
  add("control", config::control_keys(), engine.control, restart);
  add("cluster", config::cluster_keys(), engine.cluster, restart);
  return changes;
}

ChangeNeeds need_of(const std::vector<KeyChange>& changes) noexcept {
  ChangeNeeds most = ChangeNeeds::nothing;
  for (const KeyChange& each : changes) most = std::max(most, each.needs);
  return most;
}

}  // namespace nfx
