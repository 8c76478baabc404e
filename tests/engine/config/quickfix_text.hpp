// Small QuickFIX settings files and their translations, for the tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "config/quickfix_settings.hpp"

namespace nfx {

inline const std::string initiator =
    "[DEFAULT]\n"
    "ConnectionType=initiator\n"
    "NonStopSession=Y\n"
    "HeartBtInt=30\n"
    "[SESSION]\n"
    "BeginString=FIX.4.4\n"
    "SenderCompID=US\n"
    "TargetCompID=THEM\n"
    "SocketConnectHost=127.0.0.1\n"
    "SocketConnectPort=9\n";  // line 10

inline const std::string acceptor =
    "[DEFAULT]\n"
    "ConnectionType=acceptor\n"
    "NonStopSession=Y\n"
    "SocketAcceptPort=9\n"
    "[SESSION]\n"
    "BeginString=FIX.4.4\n"
    "SenderCompID=US\n"
    "TargetCompID=THEM\n";  // line 8

// With a daily schedule instead of none.
inline std::string daily(const std::string& text) {
  std::string result = text;
  const std::string none = "NonStopSession=Y\n";
  return result.replace(result.find(none), none.size(), "StartTime=09:00:00\nEndTime=17:00:00\n");
}

inline std::string without(std::string text, const std::string& line) {
  const std::size_t at = text.find(line);
  EXPECT_NE(at, std::string::npos) << line;
  return text.erase(at, line.size());
}

inline TranslatedSettings translated(const std::string& text) {
  return translate_quickfix_settings(text, "broker.cfg");
}

// The value of our key in the TOML, found through its reported origin.
inline std::string value_of(const TranslatedSettings& settings, std::size_t session, std::string_view key) {
  for (const SettingOrigin& each : settings.origins) {
    if (each.session != session || each.key != key) continue;
    std::istringstream lines{settings.toml};
    std::string line;
    for (std::size_t i = 0; i < each.toml_line; ++i) std::getline(lines, line);
    const std::string start = std::string{key} + " = ";
    EXPECT_TRUE(line.starts_with(start)) << line;
    line.resize(std::min(line.find("  #"), line.size()));
    line.erase(line.find_last_not_of(' ') + 1);
    return line.substr(start.size());
  }
  return {};
}

inline std::string complaint(const std::string& text, const VariableLookup& environment = {}) {
  try {
    (void)translate_quickfix_settings(text, "broker.cfg", environment);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no complaint";
}

inline std::string warnings_of(const TranslatedSettings& settings) {
  std::string all;
  for (const QuickFixWarning& each : settings.warnings) all += to_string(each, "broker.cfg") + '\n';
  return all;
}

struct Case {
  std::string line;  // added to the session
  std::string ours;  // "key = value", or "key = " if it must be absent
};

inline void expect_cases(const std::string& base, const std::vector<Case>& cases) {
  for (const Case& each : cases) {
    SCOPED_TRACE(each.line);
    const std::size_t equals = each.ours.find(" = ");
    const TranslatedSettings settings = translated(base + each.line + "\n");
    EXPECT_EQ(value_of(settings, 0, each.ours.substr(0, equals)), each.ours.substr(equals + 3)) << settings.toml;
  }
}

}  // namespace nfx
