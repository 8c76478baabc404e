// Runs the steps of a scenario: sends the peer's messages, and compares the session's answers field by field.
#include "run_scenario.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "nexusfix/wire/message_view.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::conformance {
namespace {

// "a|b|c|" -> {a, b, c}
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> fields;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('|'), text.size());
    fields.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return fields;
}

std::string tag_of(std::string_view field) { return std::string{field.substr(0, field.find('='))}; }

std::string value_of(std::string_view field) {
  const std::size_t equals = field.find('=');
  return equals == std::string_view::npos ? std::string{} : std::string{field.substr(equals + 1)};
}

std::string check_sum_field(std::string_view bytes) {
  unsigned sum = 0;
  for (const char c : bytes) sum += static_cast<unsigned char>(c);
  std::string digits = std::to_string(sum % 256);
  return "10=" + std::string(3 - digits.size(), '0') + digits;
}

class Run {
 public:
  Run(const Scenario& scenario, Peer& peer) : scenario_(scenario), peer_(peer), step_began_(peer.now()) {}

  std::optional<std::string> play() {
    for (const Step& step : scenario_.steps) {
      line_ = step.line;
      if (step.kind == StepKind::advance) step_began_ = peer_.now();
      perform(step);
      if (!failure_.empty()) return failure_;
    }
    expect_nothing("the scenario ends here");
    return failure_.empty() ? std::nullopt : std::optional{failure_};
  }

 private:
  void fail(const std::string& what) {
    if (failure_.empty()) failure_ = scenario_.name + ":" + std::to_string(line_) + ": " + what;
  }

  static std::string test_text(std::string_view bytes) {
    std::string text{bytes};
    std::ranges::replace(text, '\x01', '|');
    return text;
  }

  void perform(const Step& step) {
    switch (step.kind) {
      case StepKind::connect: return peer_.connect();
      case StepKind::cut: return peer_.cut();
      case StepKind::say: return peer_.send(whole_message(step.text));
      case StepKind::raw: return peer_.send(raw_bytes(step.text));
      case StepKind::hear: return hear(step.text);
      case StepKind::silence: return silence();
      case StepKind::disconnects: return disconnects();
      case StepKind::delivers: return matches_some(peer_.delivered(), step.text, "delivered to the application");
      case StepKind::reports: return matches_some(peer_.reported(), step.text, "reported to the application");
      case StepKind::advance: return peer_.advance(step.time);
      case StepKind::app_sends: return app_sends(step.text);
      case StepKind::app_rejects: return app_rejects(step.text);
      case StepKind::app_logs_out: return peer_.app_log_out(step.text);
      case StepKind::app_resets: return peer_.app_reset();
    }
  }

  // "@", "@-5s", "@+121s": a UTCTimestamp relative to now. Other text is unchanged.
  std::string with_time(const std::string& value) {
    if (value.empty() || value[0] != '@') return value;
    UtcTime time = peer_.now();
    if (value.size() > 1) {
      std::int64_t seconds = 0;
      const std::size_t sign = value[1] == '+' ? 2 : 1;
      const char* const end = value.data() + value.size();
      if (value.back() != 's' || std::from_chars(value.data() + sign, end - 1, seconds).ptr != end - 1) {
        fail("a time is written @, @-5s or @+5s: " + value);
      }
      time += std::chrono::seconds{seconds};
    }
    char text[max_utc_timestamp_size];
    return {text, write_utc_timestamp(text, time, fraction_digits())};
  }

  [[nodiscard]] unsigned fraction_digits() const {
    const SessionConfig& config = scenario_.setup.config;
    return config.begin_string == "FIX.4.0" || config.begin_string == "FIX.4.1" ? 0 : config.timestamp_digits;
  }

  std::string with_time_field(const std::string& field) {
    const std::string value = value_of(field);
    return value.starts_with('@') ? tag_of(field) + '=' + with_time(value) : field;
  }

  // The peer's message: 49, 52 and 56 are inserted after 34 unless given or suppressed with "!tag"; 8, 9 and 10 unless
  // given.
  std::string whole_message(std::string_view text) {
    const SessionConfig& config = scenario_.setup.config;
    const std::vector<std::string> given = split(text);
    const auto has = [&](std::string_view tag) {
      return std::ranges::any_of(
          given, [&](const std::string& field) { return tag_of(field) == tag || field == "!" + std::string{tag}; });
    };
    std::string begin = "8=" + config.begin_string, length, sum;
    std::vector<std::string> fields;
    for (const std::string& field : given) {
      const std::string tag = tag_of(field);
      if (tag == "8") {
        begin = field;
      } else if (tag == "9") {
        length = field;
      } else if (tag == "10" && &field == &given.back()) {
        sum = field;
      } else if (!field.starts_with('!')) {
        fields.push_back(with_time_field(field));
      }
    }
    const auto seq = std::ranges::find(fields, "34", tag_of);
    auto place = seq == fields.end() ? fields.begin() + 1 : seq + 1;
    const std::pair<std::string_view, std::string> header[] = {
        {"56", "56=" + config.sender_comp_id}, {"52", with_time_field("52=@")}, {"49", "49=" + config.target_comp_id}};
    for (const auto& [tag, field] : header) {
      if (!has(tag)) place = fields.insert(place, field);
    }
    std::string body;
    for (const std::string& field : fields) body += field + '\x01';
    if (length.empty()) length = "9=" + std::to_string(body.size());
    std::string message = begin + '\x01' + length + '\x01' + body;
    if (sum.empty()) sum = check_sum_field(message);
    return message + sum + '\x01';
  }

  // The given bytes, except that "9=*" and "10=*" become the right BodyLength and CheckSum of their message.
  std::string raw_bytes(std::string_view text) {
    std::string bytes;
    std::size_t message_begin = 0, length_at = std::string::npos;
    const std::vector<std::string> fields = split(text);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].starts_with("8=")) message_begin = bytes.size();
      if (fields[i] == "9=*") {
        length_at = bytes.size() + 2;
        bytes += "9=";
      } else if (fields[i] == "10=*") {
        if (length_at != std::string::npos) bytes.insert(length_at, std::to_string(bytes.size() - length_at - 1));
        length_at = std::string::npos;
        bytes += check_sum_field(std::string_view{bytes}.substr(message_begin));
      } else {
        bytes += with_time_field(fields[i]);
      }
      if (i + 1 < fields.size() || text.ends_with('|')) bytes += '\x01';
    }
    return bytes;
  }

  void hear(std::string_view text) {
    const auto message = peer_.next_message();
    if (!message) return fail("expected " + std::string{text} + " but nothing was sent");
    MessageView view;
    if (const WireError error = view.parse(*message); error != WireError::none) {
      return fail("the session sent no valid message (" + std::string{to_string(error)} + "): " + test_text(*message));
    }
    const std::vector<std::string> expected = split(text);
    std::string rest;
    for (std::uint32_t i = 0; i < view.size(); ++i) {
      const std::string field = std::to_string(value(view[i].tag)) + '=' + std::string{view[i].value};
      if (!implied(view[i], expected)) rest += test_text(field) + '|';
    }
    const std::vector<std::string> actual = split(rest);
    bool same = actual.size() == expected.size();
    for (std::size_t i = 0; same && i < actual.size(); ++i) same = field_matches(actual[i], expected[i]);
    if (!same) fail("expected " + std::string{text} + "\n  but the session sent " + test_text(*message));
  }

  // 8 9 49 52 56 10 may be omitted; they are compared with their required values.
  bool implied(const Field& field, const std::vector<std::string>& expected) {
    const std::string tag = std::to_string(value(field.tag));
    const SessionConfig& config = scenario_.setup.config;
    if (field.tag == Tag::BodyLength || field.tag == Tag::CheckSum) return true;  // parse() has verified them
    if (std::ranges::find(expected, tag, tag_of) != expected.end()) return false;
    if (field.tag == Tag::BeginString) return field.value == config.begin_string;
    if (field.tag == Tag::SenderCompID) return field.value == config.sender_comp_id;
    if (field.tag == Tag::TargetCompID) return field.value == config.target_comp_id;
    return field.tag == Tag::SendingTime && is_current_time(field.value);
  }

  // Whether the time is between the start of the last wait and now, with this session's number of digits.
  bool is_current_time(std::string_view text) {
    const auto time = parse_utc_timestamp(text);
    if (!time || time->fraction_digits != fraction_digits()) return false;
    // A text truncated to whole seconds may mean a time just before the wait.
    return time->time >= std::chrono::floor<std::chrono::seconds>(step_began_) && time->time <= peer_.now();
  }

  bool field_matches(const std::string& actual, const std::string& expected) {
    const std::string wanted = value_of(expected);
    if (wanted == "*") return tag_of(actual) == tag_of(expected);
    if (wanted == "@") return tag_of(actual) == tag_of(expected) && is_current_time(value_of(actual));
    return actual == with_time_field(expected);
  }

  // Every given field is in the message, which may have others.
  void matches_some(const std::optional<std::string>& message, std::string_view text, const std::string& what) {
    if (!message) return fail("expected " + std::string{text} + " but nothing was " + what);
    MessageView view;
    static_cast<void>(view.parse(*message));
    last_delivered_ = *message;
    const std::string actual = '|' + test_text(*message);
    for (const std::string& field : split(text)) {
      if (actual.find('|' + with_time_field(field) + '|') == std::string::npos) {
        return fail("expected " + std::string{text} + "\n  but " + what + " was " + test_text(*message));
      }
    }
  }

  void silence() { expect_nothing("expected silence"); }

  void expect_nothing(const std::string& why) {
    if (peer_.quiet()) return;
    const auto message = peer_.next_message();
    fail(why +
         (message ? ", but the session sent " + test_text(*message) : ", but the application was given a message"));
  }

  void disconnects() {
    if (!peer_.closed()) return fail("expected the session to close the connection, but it is open");
    if (const auto message = peer_.next_message()) {
      fail("expected the end of the connection but the session sent " + test_text(*message));
    }
  }

  // "35=D|97=Y|11=x": leading header fields are passed as header fields.
  void app_sends(std::string_view text) {
    std::string header, body;
    const std::vector<std::string> fields = split(text);
    for (std::size_t i = 1; i < fields.size(); ++i) {
      int tag = 0;
      std::from_chars(fields[i].data(), fields[i].data() + fields[i].size(), tag);
      (body.empty() && is_header_tag(Tag{tag}) ? header : body) += with_time_field(fields[i]) + '\x01';
    }
    if (!peer_.app_send({.msg_type = std::string_view{fields[0]}.substr(3), .body = body, .header_fields = header})) {
      fail("the application's message was refused");
    }
  }

  // "3 Unsupported Message Type", about the last delivered message.
  void app_rejects(std::string_view text) {
    const auto reason = static_cast<BusinessRejectReason>(text[0] - '0');
    if (!peer_.app_reject(last_delivered_, reason, text.substr(std::min<std::size_t>(2, text.size())))) {
      fail("the application's reject was refused");
    }
  }

  const Scenario& scenario_;
  Peer& peer_;
  int line_ = 0;
  UtcTime step_began_;
  std::string failure_;
  std::string last_delivered_;
};

}  // namespace

std::optional<std::string> run_scenario(const Scenario& scenario, Peer& peer) { return Run{scenario, peer}.play(); }

}  // namespace nfx::conformance
