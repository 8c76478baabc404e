// Messages in and out as lines of a deferred log.
#include "nexusfix/observe/message_log.hpp"

#include <utility>

namespace nfx {

std::string_view to_string(MessageLogFormat format) noexcept {
  switch (format) {
    case MessageLogFormat::full: return "full";
    case MessageLogFormat::quickfix: return "quickfix";
  }
  return "?";
}

MessageLog::MessageLog(MessageLogOptions options)
    : DeferredLog(std::move(options.log)), format_(options.format), text_(options.text) {}

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
