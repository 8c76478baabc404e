// Parses scenario files into settings and steps; a mistake is an error with file and line.
#include "scenario.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>

#include "nexusfix/wire/field_writer.hpp"

namespace nfx::conformance {
namespace {

struct Word {
  std::string_view word;
  StepKind kind;
  bool takes_text;
};

// A word that begins with another one comes before it.
constexpr Word words[] = {
    {"connect", StepKind::connect, false},
    {"cut", StepKind::cut, false},
    {">", StepKind::say, true},
    {"raw", StepKind::raw, true},
    {"<", StepKind::hear, true},
    {"silence", StepKind::silence, false},
    {"disconnects", StepKind::disconnects, false},
    {"delivers", StepKind::delivers, true},
    {"reports", StepKind::reports, true},
    {"app sends", StepKind::app_sends, true},
    {"app rejects", StepKind::app_rejects, true},
    {"app logs out", StepKind::app_logs_out, false},
    {"app resets", StepKind::app_resets, false},
};

class Parser {
 public:
  explicit Parser(std::string_view name) { scenario_.name = name; }

  Scenario parse(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      ++line_;
      parse_line(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    if (!has_session_) fail("no 'session' line: add one, for example: session begin=FIX.4.4 role=acceptor");
    if (scenario_.steps.empty()) fail("no steps");
    return std::move(scenario_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ScenarioError(scenario_.name + ":" + std::to_string(line_) + ": " + what);
  }

  void parse_line(std::string_view line) {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
    if (line.empty() || line[0] == '#') return;
    if (line.starts_with("session ")) return parse_session(line.substr(8));
    if (!has_session_) fail("the 'session' line comes first");
    if (line[0] == '+') return parse_advance(line.substr(1));
    for (const Word& word : words) {
      if (!line.starts_with(word.word)) continue;
      std::string_view rest = line.substr(word.word.size());
      if (!rest.empty() && rest[0] != ' ') continue;
      if (!rest.empty()) rest.remove_prefix(1);
      if (word.takes_text == rest.empty() && word.kind != StepKind::app_logs_out) {
        fail("'" + std::string{word.word} + (word.takes_text ? "' needs fields after it" : "' takes no fields"));
      }
      scenario_.steps.push_back({word.kind, line_, std::string{rest}});
      return;
    }
    fail("no such step: " + std::string{line});
  }

  // "+5s", "+250ms"
  void parse_advance(std::string_view text) {
    const bool milliseconds = text.ends_with("ms");
    if (!text.ends_with("s")) fail("a time ends with s or ms");
    const std::int64_t number = parse_number(text.substr(0, text.size() - (milliseconds ? 2 : 1)));
    const Duration time =
        milliseconds ? Duration{std::chrono::milliseconds{number}} : Duration{std::chrono::seconds{number}};
    scenario_.steps.push_back({StepKind::advance, line_, {}, time});
  }

  std::int64_t parse_number(std::string_view text) const {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) fail("not a number: " + std::string{text});
    return number;
  }

  bool parse_yes_no(std::string_view text) const {
    if (text != "yes" && text != "no") fail("neither yes nor no: " + std::string{text});
    return text == "yes";
  }

  void parse_session(std::string_view text) {
    if (!std::exchange(has_session_, true)) {
      scenario_.setup.config.sender_comp_id = "US";
      scenario_.setup.config.target_comp_id = "PEER";
    }
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(' '), text.size());
      const std::string_view setting = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (setting.empty()) continue;
      const std::size_t equals = setting.find('=');
      if (equals == std::string_view::npos) fail("a setting is written name=value: " + std::string{setting});
      if (!set(setting.substr(0, equals), setting.substr(equals + 1))) fail("no such setting: " + std::string{setting});
    }
  }

  // Settings of the same type are rows of one table: the name and the member.
  static constexpr std::pair<std::string_view, bool SessionConfig::*> flags[] = {
      {"reset_on_logon", &SessionConfig::reset_on_logon},
      {"reset_on_logout", &SessionConfig::reset_on_logout},
      {"reset_on_disconnect", &SessionConfig::reset_on_disconnect},
      {"reset_on_error", &SessionConfig::reset_on_error},
      {"check_comp_id", &SessionConfig::check_comp_id},
      {"check_latency", &SessionConfig::check_latency},
      {"check_heartbeats", &SessionConfig::check_heartbeats},
      {"no_heartbeats", &SessionConfig::allow_no_heartbeats},
      {"answer_incomplete", &SessionConfig::answer_incomplete_logon},
      {"require_orig_sending_time", &SessionConfig::require_orig_sending_time},
      {"next_expected", &SessionConfig::send_next_expected_seq_num},
      {"last_processed", &SessionConfig::send_last_msg_seq_num_processed},
      {"closed_resends", &SessionConfig::closed_resend_requests},
      {"redundant_resends", &SessionConfig::send_redundant_resend_requests},
  };
  static constexpr std::pair<std::string_view, std::chrono::seconds SessionConfig::*> times[] = {
      {"heartbeat", &SessionConfig::heartbeat_interval},
      {"max_heartbeat", &SessionConfig::max_heartbeat_interval},
      {"heartbeat_override", &SessionConfig::heartbeat_override},
      {"idle_test", &SessionConfig::idle_test_interval},
      {"logon_timeout", &SessionConfig::logon_timeout},
      {"logout_timeout", &SessionConfig::logout_timeout},
      {"max_latency", &SessionConfig::max_latency},
      {"resend_timeout", &SessionConfig::resend_timeout},
  };
  static constexpr std::pair<std::string_view, std::uint32_t SessionConfig::*> numbers[] = {
      {"resend_chunk", &SessionConfig::resend_chunk_size},
      {"resend_attempts", &SessionConfig::max_resend_attempts},
      {"same_resends", &SessionConfig::max_same_resend_requests},
      {"max_resent", &SessionConfig::max_resent_messages},
      {"resend_rate", &SessionConfig::resend_rate},
      {"throttle_rate", &SessionConfig::throttle_rate},
      {"throttle_burst", &SessionConfig::throttle_burst},
      {"queued_messages", &SessionConfig::max_queued_messages},
      {"digits", &SessionConfig::timestamp_digits},
      {"test_percent", &SessionConfig::test_request_percent},
      {"timeout_percent", &SessionConfig::heartbeat_timeout_percent},
  };
  static constexpr std::pair<std::string_view, std::string SessionConfig::*> texts[] = {
      {"begin", &SessionConfig::begin_string},          {"appl_ver_id", &SessionConfig::default_appl_ver_id},
      {"username", &SessionConfig::username},           {"sender_sub_id", &SessionConfig::sender_sub_id},
      {"target_sub_id", &SessionConfig::target_sub_id},
  };

  template <class Table>
  static auto member_named(const Table& table, std::string_view name) -> decltype(table[0].second) {
    const auto row = std::ranges::find(table, name, [](const auto& each) { return each.first; });
    return row == std::end(table) ? nullptr : row->second;
  }

  bool set(std::string_view name, std::string_view text) {
    SessionConfig& config = scenario_.setup.config;
    if (const auto member = member_named(flags, name)) return config.*member = parse_yes_no(text), true;
    if (const auto member = member_named(times, name))
      return config.*member = std::chrono::seconds{parse_number(text)}, true;
    if (const auto member = member_named(numbers, name))
      return config.*member = static_cast<std::uint32_t>(parse_number(text)), true;
    if (const auto member = member_named(texts, name)) return config.*member = text, true;
    return set_choice(config, name, text);
  }

  // One of several words.
  template <class Enum>
  Enum choice(std::string_view name, std::string_view text, std::initializer_list<Enum> values) const {
    for (const Enum value : values) {
      if (to_string(value) == text) return value;
    }
    fail(std::string{name} + " is not " + std::string{text});
  }

  bool set_choice(SessionConfig& config, std::string_view name, std::string_view text) {
    Setup& setup = scenario_.setup;
    if (name == "dictionary") return setup.dictionary = text, true;
    if (name == "role") return config.role = choice(name, text, {Role::acceptor, Role::initiator}), true;
    if (name == "environment")
      return config.environment = choice(name, text, {Environment::test, Environment::production}), true;
    if (name == "throttle_action") {
      return config.throttle_action = choice(name, text, {ThrottleAction::reject, ThrottleAction::disconnect}), true;
    }
    if (name == "password") return config.password = text, true;
    if (name == "logon_fields") {
      std::string fields{text};
      std::ranges::replace(fields, '|', soh);
      config.logon_fields = fields;
      return true;
    }
    if (name == "empty_values" && parse_yes_no(text)) return setup.checks.values_present = ValidationMode::off, true;
    if (name == "unexpected_fields") {
      if (text != "rejected" && text != "delivered") fail("unexpected_fields are rejected or delivered");
      setup.checks.unknown_fields = setup.checks.user_defined_fields = setup.checks.fields_not_in_message =
          text == "rejected" ? ValidationMode::strict : ValidationMode::off;
      return true;
    }
    if (name == "validation")
      return setup.validation = choice(name, text, {ValidationMode::off, ValidationMode::lenient}), true;
    if (name == "keep_messages") return setup.keep_messages = parse_yes_no(text), true;
    if (name == "next_inbound")
      return setup.next_inbound = SeqNum{static_cast<std::uint64_t>(parse_number(text))}, true;
    if (name == "next_outbound")
      return setup.next_outbound = SeqNum{static_cast<std::uint64_t>(parse_number(text))}, true;
    return false;
  }

  Scenario scenario_;
  int line_ = 0;
  bool has_session_ = false;
};

}  // namespace

Duration Scenario::longest_wait() const noexcept {
  Duration longest{};
  for (const Step& step : steps) longest = std::max(longest, step.time);
  return longest;
}

Scenario parse_scenario(std::string_view text, std::string_view name) { return Parser{name}.parse(text); }

Scenario load_scenario(const std::filesystem::path& file) {
  std::ifstream stream{file, std::ios::binary};
  if (!stream) throw ScenarioError(file.string() + ": cannot be read");
  const std::string text{std::istreambuf_iterator<char>{stream}, {}};
  return parse_scenario(text, file.stem().string());
}

}  // namespace nfx::conformance
