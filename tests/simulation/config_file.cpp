// Writes configuration files with the tables of keys that the reader uses.
#include "simulation/config_file.hpp"

#include "config/keys.hpp"

namespace nfx::simulation {
namespace {

template <class Target>
std::string keys_text(std::span<const config::Key<Target>> rows, const Target& target) {
  const Target defaults{};
  std::string text;
  for (const config::Key<Target>& row : rows) {
    const std::string value = row.show(target);
    if (value != row.show(defaults)) text.append(row.name).append(" = ").append(value).append("\n");
  }
  return text;
}

}  // namespace

std::string session_text(const SessionSettings& settings, const ScheduleTexts& schedule) {
  config::SessionDraft draft;
  draft.settings = settings;
  draft.schedule = schedule;
  draft.settings.store.retain_messages = settings.journal.retain_messages;  // one key for both
  std::string text = "[[session]]\ndictionary = \"none\"\n" + keys_text(config::session_keys(), draft);
  // Rows whose value is in the table only for the documentation.
  text.append("store = \"").append(to_string(settings.store_kind)).append("\"\n");
  if (settings.session.role == Role::acceptor) text.append("listen = \"" + to_string(settings.listen) + "\"\n");
  for (const Endpoint& each : settings.connect) text.append("connect = \"" + to_string(each) + "\"\n");
  return text;
}

std::string ConfigFile::text() const {
  std::string text = "[engine]\n" + keys_text(config::engine_keys(), engine);
  if (session) text += session_text(*session, schedule);
  for (const SessionSettings& each : others) text += session_text(each);
  return text;
}

}  // namespace nfx::simulation
