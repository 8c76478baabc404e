// Combines the translated sessions into one TOML text, which is then read like any other file.
#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/suggest.hpp"
#include "config/quickfix_session.hpp"
#include "config/quickfix_values.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx {
namespace quickfix {
namespace {

const Setting* find_setting(const SessionSettingsText& session, std::string_view key) {
  const auto found = std::ranges::find(session.settings, key, &Setting::key);
  return found == session.settings.end() ? nullptr : &*found;
}

void refuse_duplicates(const Translation& common, const std::vector<SessionSettingsText>& sessions) {
  constexpr std::array<std::string_view, 8> parts{"begin_string",       "sender_comp_id",   "sender_sub_id",
                                                  "sender_location_id", "target_comp_id",   "target_sub_id",
                                                  "target_location_id", "session_qualifier"};
  const auto identity_of = [&](const SessionSettingsText& session) {
    std::string text;
    for (const std::string_view part : parts) {
      const Setting* setting = find_setting(session, part);
      text += (setting == nullptr ? "" : setting->value) + ' ';
    }
    return text;
  };
  std::unordered_map<std::string, std::size_t> lines;
  for (const SessionSettingsText& session : sessions) {
    const auto [first, is_new] = lines.emplace(identity_of(session), session.line);
    if (is_new) continue;
    common.fail(session.line, "[SESSION] ", "TargetCompID",
                "the session is that of line " + std::to_string(first->second) +
                    " again: give it a SessionQualifier, or remove one of them");
  }
}

std::string value_of(const SessionSettingsText& session, std::string_view key) {
  const Setting* setting = find_setting(session, key);
  return setting == nullptr ? std::string{} : setting->value;
}

// SubIDs and LocationIDs are not part of a session's identity here. If a session has the same other parts as an earlier
// one, it gets a qualifier made of them. The earlier session keeps its name, so that its journal does not depend on
// later sections.
void distinguish_by_sub_ids(Translation& common, std::vector<SessionSettingsText>& sessions) {
  constexpr std::array<std::string_view, 4> parts{"begin_string", "sender_comp_id", "target_comp_id",
                                                  "session_qualifier"};
  const auto identity_of = [&](const SessionSettingsText& session) {
    std::string text;
    for (const std::string_view part : parts) text += value_of(session, part) + ' ';
    return text;
  };
  std::unordered_set<std::string> known;
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    SessionSettingsText& session = sessions[i];
    if (known.insert(identity_of(session)).second) continue;
    std::string qualifier;
    std::vector<const Entry*> origins;
    for (const std::string_view key :
         {"session_qualifier", "sender_sub_id", "sender_location_id", "target_sub_id", "target_location_id"}) {
      const Setting* setting = find_setting(session, key);
      if (setting == nullptr || setting->origins.empty() || setting->origins.front()->value.empty()) continue;
      qualifier += (qualifier.empty() ? "" : "-") + setting->origins.front()->value;
      origins.push_back(setting->origins.front());
    }
    // This session has none of them; only the earlier one has.
    if (origins.empty()) {
      qualifier = std::to_string(i + 1);
      origins.push_back(find_setting(session, "target_comp_id")->origins.front());
    }
    common.warn_once(*origins.back(), "another session has the same CompIDs, so session_qualifier = " +
                                          toml_text(qualifier) + " names this one in logs and journals");
    std::erase_if(session.settings, [](const Setting& each) { return each.key == "session_qualifier"; });
    session.settings.push_back(
        {.key = "session_qualifier", .value = toml_text(qualifier), .origins = std::move(origins)});
    known.insert(identity_of(session));
  }
}

// Warnings that do not depend on the session: keys that no engine has, and keys without effect.
void warn_of_keys(Translation& common, const FileSection& section) {
  for (const Entry& entry : section.entries) {
    const KeyRow* row = find_key(entry.key);
    if (row == nullptr) {
      common.warn_once(entry, "unknown key, ignored" + did_you_mean(entry.key, key_names()) +
                                  " ('nfx config keys --quickfix' lists all)");
      continue;
    }
    const bool harmless = !row->harmless.empty() && same_value(entry.value, row->harmless);
    if (row->key.treatment == KeyTreatment::ignored && !harmless) common.warn_once(entry, std::string{row->key.note});
    if (same_key(entry.key, "DynamicSessions") && !entry.in_default)
      common.warn_once(entry, "has no effect in a session: move it to [DEFAULT]");
  }
}

std::vector<std::string> notes_on(const std::vector<SessionSettingsText>& sessions) {
  const auto silent = [&](std::string_view key) {
    return std::ranges::any_of(sessions, [key](const SessionSettingsText& each) {
      return each.uses_dictionary && find_setting(each, key) == nullptr;
    });
  };
  std::vector<std::string> notes;
  if (silent("unknown_fields") || silent("user_defined_fields")) {
    notes.emplace_back(
        "fields that the dictionary does not expect are delivered and reported, so that a counterparty's extra tag "
        "does not reject a fill; QuickFIX rejects them by default: to reject them here too, write "
        "AllowUnknownMsgFields=N and ValidateUserDefinedFields=Y");
  }
  return notes;
}

// A comment must not contain line ends or other characters that TOML forbids there.
std::string comment(std::string_view text) {
  std::string out{text};
  std::ranges::replace_if(out, [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

class TomlWriter {
 public:
  // `parts` are the engine-wide sections.
  struct Part {
    std::string_view name;
    std::vector<Setting> settings;
  };
  TomlWriter(TranslatedSettings& result, const std::vector<Part>& parts,
             const std::vector<SessionSettingsText>& sessions)
      : result_(result), parts_(parts), sessions_(sessions) {}

  void write(std::string_view file_name) {
    const std::string_view name = file_name.substr(file_name.find_last_of("/\\") + 1);
    line("# Made from the QuickFIX settings in " + comment(name) + "; line numbers refer to that file.");
    if (!result_.warnings.empty()) line("# Not translated, or translated differently:");
    for (const QuickFixWarning& each : result_.warnings) {
      line("#   line " + std::to_string(each.line) + ": " + comment(each.key) + (each.key.empty() ? "" : ": ") +
           comment(each.text));
    }
    for (const Part& part : parts_) {
      if (part.settings.empty()) continue;
      line("");
      line('[' + std::string{part.name} + ']');
      for (const Setting& each : part.settings) {
        write_setting(each);
        note_origin(each, SettingOrigin::no_session);
      }
    }
    NFX_ASSERT(!sessions_.empty());
    std::vector<const Setting*> common;
    for (const Setting& each : sessions_.front().settings) {
      if (is_common(each)) common.push_back(&each);
    }
    if (!common.empty()) {
      line("");
      line("[defaults]");
      for (const Setting* each : common) write_default(*each);
    }
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      line("");
      line("[[session]]", "line " + std::to_string(sessions_[i].line));
      result_.session_lines.push_back(sessions_[i].line);
      result_.session_toml_lines.push_back(lines_);
      for (const Setting& each : sessions_[i].settings) {
        if (std::ranges::find(common, each.key, &Setting::key) != common.end()) continue;
        write_setting(each);
        note_origin(each, i);
      }
    }
  }

 private:
  static bool from_default(const Setting& setting) { return std::ranges::all_of(setting.origins, &Entry::in_default); }

  // A setting that all sessions inherit from [DEFAULT] remains one line.
  bool is_common(const Setting& setting) const {
    return from_default(setting) && std::ranges::all_of(sessions_, [&](const SessionSettingsText& each) {
             const Setting* other = find_setting(each, setting.key);
             return other != nullptr && other->value == setting.value && other->origins == setting.origins;
           });
  }

  void write_default(const Setting& setting) {
    write_setting(setting);
    for (std::size_t i = 0; i < sessions_.size(); ++i) note_origin(setting, i);
  }

  static std::string keys_of(const Setting& setting) {
    std::string keys{setting.default_of};
    for (const Entry* each : setting.origins) keys += (keys.empty() ? "" : ", ") + each->key;
    return keys;
  }

  void write_setting(const Setting& setting) {
    std::string from = "QuickFIX's default of " + std::string{setting.default_of};
    if (!setting.origins.empty()) {
      from = setting.origins.size() == 1 ? "line " : "lines ";
      for (const Entry* each : setting.origins)
        from += (each == setting.origins.front() ? "" : ", ") + std::to_string(each->line);
      from += ": " + keys_of(setting);
    }
    line(setting.key + " = " + setting.value, from);
    if (setting.secret && result_.secret_line == 0) result_.secret_line = setting.origins.front()->line;
  }

  void note_origin(const Setting& setting, std::size_t session) {
    NFX_ASSERT(lines_ > 0 && (session < sessions_.size() || session == SettingOrigin::no_session));
    SettingOrigin origin{.session = session, .key = setting.key, .toml_line = lines_, .quickfix_key = keys_of(setting)};
    if (!setting.origins.empty()) origin.line = setting.origins.front()->line;
    origin.in_default_section = !setting.origins.empty() && from_default(setting);
    result_.origins.push_back(std::move(origin));
  }

  void line(std::string text, std::string_view remark = {}) {
    NFX_ASSERT(text.find('\n') == std::string::npos);
    constexpr std::size_t remark_column = 44;
    if (!remark.empty()) {
      if (text.size() < remark_column) text.resize(remark_column, ' ');
      text += "  # " + comment(remark);
    }
    result_.toml += text + '\n';
    ++lines_;
  }

  TranslatedSettings& result_;
  const std::vector<Part>& parts_;
  const std::vector<SessionSettingsText>& sessions_;
  std::size_t lines_ = 0;
};

}  // namespace
}  // namespace quickfix

std::string to_string(const QuickFixWarning& warning, std::string_view file_name) {
  return std::string{file_name} + ':' + std::to_string(warning.line) + ": " + warning.section + warning.key +
         (warning.key.empty() ? "" : ": ") + warning.text;
}

TranslatedSettings translate_quickfix_settings(std::string_view text, std::string_view file_name,
                                               const VariableLookup& environment, const FileLocator& locate) {
  using namespace quickfix;
  const File file = read_file(text, file_name, environment);
  Translation common{file, file_name, locate};
  std::vector<SessionSettingsText> sessions;
  for (const FileSection& section : file.sessions) sessions.push_back(common.translate(section, false));
  // QuickFIX/Go creates a session from [DEFAULT] for every peer that logs on.
  FileSection any_peer;
  for (const Entry& entry : file.defaults.entries) {
    if (!same_key(entry.key, "DynamicSessions") || read_flag(entry.value) == false) continue;
    if (!read_flag(entry.value)) common.fail(entry, "expected Y or N");
    any_peer.line = entry.line;
    sessions.push_back(common.translate(any_peer, true));
  }
  if (sessions.empty()) common.fail(1, {}, "no session", "add a [SESSION] section");
  refuse_duplicates(common, sessions);
  distinguish_by_sub_ids(common, sessions);
  warn_of_keys(common, file.defaults);
  for (const FileSection& section : file.sessions) warn_of_keys(common, section);

  const std::vector<TomlWriter::Part> parts{{"engine", common.translate_engine()}, {"log", common.translate_log()}};

  TranslatedSettings result;
  result.warnings = std::move(common.warnings());
  std::ranges::sort(result.warnings, {}, [](const QuickFixWarning& each) { return std::tie(each.line, each.text); });
  result.notes = notes_on(sessions);
  TomlWriter{result, parts, sessions}.write(file_name);
  NFX_ASSERT(result.session_lines.size() == sessions.size() && result.session_toml_lines.size() == sessions.size());
  return result;
}

}  // namespace nfx
