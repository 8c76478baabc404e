#include "scenario.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

namespace nfx::conformance {
namespace {

struct Word {
  std::string_view word;
  StepKind kind;
  bool takes_text;
};

// Longer ones first where one begins with another.
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
        fail("'" + std::string{word.word} + (word.takes_text ? "' needs fields behind it" : "' stands alone"));
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

  bool set(std::string_view name, std::string_view text) {
    SessionConfig& config = scenario_.setup.config;
    const auto seconds = [&] { return std::chrono::seconds{parse_number(text)}; };
    if (name == "begin") return config.begin_string = text, true;
    if (name == "dictionary") return scenario_.setup.dictionary = text, true;
    if (name == "role") {
      if (text != "acceptor" && text != "initiator") fail("role is acceptor or initiator");
      return config.role = text == "acceptor" ? Role::acceptor : Role::initiator, true;
    }
    if (name == "heartbeat") return config.heartbeat_interval = seconds(), true;
    if (name == "max_heartbeat") return config.max_heartbeat_interval = seconds(), true;
    if (name == "logon_timeout") return config.logon_timeout = seconds(), true;
    if (name == "logout_timeout") return config.logout_timeout = seconds(), true;
    if (name == "reset_on_logon") return config.reset_on_logon = parse_yes_no(text), true;
    if (name == "reset_on_logout") return config.reset_on_logout = parse_yes_no(text), true;
    if (name == "reset_on_disconnect") return config.reset_on_disconnect = parse_yes_no(text), true;
    if (name == "check_latency") return config.check_latency = parse_yes_no(text), true;
    if (name == "max_latency") return config.max_latency = seconds(), true;
    if (name == "require_orig_sending_time") return config.require_orig_sending_time = parse_yes_no(text), true;
    if (name == "next_expected") return config.send_next_expected_seq_num = parse_yes_no(text), true;
    if (name == "resend_chunk") return config.resend_chunk_size = static_cast<std::uint32_t>(parse_number(text)), true;
    if (name == "resend_timeout") return config.resend_timeout = seconds(), true;
    if (name == "resend_attempts")
      return config.max_resend_attempts = static_cast<std::uint32_t>(parse_number(text)), true;
    if (name == "queued_messages")
      return config.max_queued_messages = static_cast<std::uint32_t>(parse_number(text)), true;
    if (name == "digits") return config.timestamp_digits = static_cast<unsigned>(parse_number(text)), true;
    if (name == "empty_values") return config.validation.check_values_present = !parse_yes_no(text), true;
    if (name == "unexpected_fields") {
      if (text != "rejected" && text != "delivered") fail("unexpected_fields are rejected or delivered");
      config.validation.reject_unknown_fields = config.validation.reject_user_defined_fields =
          config.validation.reject_fields_not_in_message = text == "rejected";
      return true;
    }
    if (name == "keep_messages") return scenario_.setup.keep_messages = parse_yes_no(text), true;
    if (name == "next_inbound")
      return scenario_.setup.next_inbound = SeqNum{static_cast<std::uint64_t>(parse_number(text))}, true;
    if (name == "next_outbound")
      return scenario_.setup.next_outbound = SeqNum{static_cast<std::uint64_t>(parse_number(text))}, true;
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
