// Sent and received messages as lines of a deferred log.
#include "log/message_log.hpp"

#include <chrono>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace nfx {
namespace {

// The message type, from the third field, if it is a single character.
std::optional<char> short_type(std::string_view message) noexcept {
  const std::size_t length = message.find('\x01');
  const std::size_t type = length == std::string_view::npos ? length : message.find('\x01', length + 1);
  if (type == std::string_view::npos || message.substr(type + 1, 3) != "35=") return std::nullopt;
  const std::string_view value = message.substr(type + 4, 2);
  if (value.size() != 2 || value[1] != '\x01') return std::nullopt;
  return value[0];
}

constexpr std::array type_names{"Heartbeat",     "TestRequest", "ResendRequest", "Reject",
                                "SequenceReset", "Logout",      "Logon"};

}  // namespace

std::string_view to_string(MessageLogFormat format) noexcept {
  switch (format) {
    case MessageLogFormat::full: return "full";
    case MessageLogFormat::quickfix: return "quickfix";
  }
  return "?";
}

MessageLog::MessageLog(MessageLogOptions options)
    : DeferredLog(std::move(options.log)),
      format_(options.format),
      text_(options.text),
      rate_(options.session_message_rate) {}

std::uint64_t MessageLog::Second::sum() const noexcept {
  return std::accumulate(omitted.begin(), omitted.end(), std::uint64_t{0});
}

// A peer may send these as fast as it likes, and they are all alike: they would push out the history of all sessions.
bool MessageLog::omits(const Line& line) {
  if (rate_ == 0 || line.session == no_log_session) return false;
  const auto type = short_type(line.first);
  const std::size_t at = type ? counted_types.find(*type) : std::string_view::npos;
  if (at == std::string_view::npos) return false;
  Second& second = seconds_[line.session];
  if (line.time - second.begin >= std::chrono::seconds{1}) {
    end_second(line.session, second, line.time);
    second = {.begin = line.time};
  }
  if (second.written < rate_) {
    ++second.written;
    return false;
  }
  ++second.omitted[at];
  return true;
}

void MessageLog::end_second(std::uint32_t session, Second& second, UtcTime time) {
  if (second.sum() == 0) return;
  std::string text =
      std::to_string(second.sum()) + " messages of " + std::string{name_of(session)} + " were counted, not written:";
  for (std::size_t i = 0; i < counted_types.size(); ++i) {
    if (second.omitted[i] != 0) text += ' ' + std::to_string(second.omitted[i]) + ' ' + type_names[i] + ',';
  }
  text.back() = ';';
  append_note(time, text + " session_message_rate is " + std::to_string(rate_) + " a second");
  second.omitted = {};
}

void MessageLog::report_omitted(UtcTime now, bool all) {
  for (auto each = seconds_.begin(); each != seconds_.end();) {
    const bool ended = all || now - each->second.begin >= std::chrono::seconds{1};
    if (ended) end_second(each->first, each->second, now);
    each = ended ? seconds_.erase(each) : std::next(each);
  }
}

void MessageLog::append_line(std::string& out, const Line& line) {
  switch (format_) {
    case MessageLogFormat::full:
      out += static_cast<LogDirection>(line.kind) == LogDirection::in ? " in  " : " out ";
      out += name_of(line.session);
      out += ' ';
      break;
    case MessageLogFormat::quickfix: out += " : "; break;
  }
  append_message_text(out, line.first, text_);
}

}  // namespace nfx
