// Formats a line of the log as text and as JSON.
#include "log/log_entry.hpp"

#include <string>
#include <utility>

#include "base/json_text.hpp"

namespace nfx {
namespace {

void append_text(SafeText& out, const LogEntry& entry) {
  if (!entry.session.empty()) out.add("{} ", entry.session);
  out.add("{}\n", entry.text);
}

std::string_view timestamp(UtcTime time, char (&text)[max_utc_timestamp_size]) {
  return {text, write_utc_timestamp(text, time, 3)};
}

// "2024-03-15T12:00:00.123Z" for "20240315-12:00:00.123".
std::string iso_time(UtcTime time) {
  char text[max_utc_timestamp_size];
  const std::string_view fix = timestamp(time, text);
  std::string iso{fix.substr(0, 4)};
  iso.append("-").append(fix.substr(4, 2)).append("-").append(fix.substr(6, 2)).append("T").append(fix.substr(9));
  return iso += 'Z';
}

// Strings are escaped as JSON, so SafeText has nothing left to escape.
void append_json(SafeText& out, const LogEntry& entry) {
  out.add("{\"time\":{},\"level\":{},\"what\":{},\"session\":{},\"text\":{},\"fields\":{",
          json_text(iso_time(entry.time)), json_text(to_string(entry.level)), json_text(entry.what),
          json_text(entry.session), json_text(entry.text));
  bool first = true;
  for (const LogField& field : entry.fields) {
    if (!std::exchange(first, false)) out += ',';
    out.add("{}:", json_text(field.name));
    if (const auto* const number = std::get_if<std::uint64_t>(&field.value)) {
      out += *number;
    } else {
      out += json_text(std::get<std::string_view>(field.value));
    }
  }
  out += "}}\n";
}

}  // namespace

std::string_view to_string(LineFormat format) noexcept {
  switch (format) {
    case LineFormat::text: return "text";
    case LineFormat::json: return "json";
    case LineFormat::journald: return "journald";
  }
  return "?";
}

std::string_view to_string(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::error: return "error";
    case LogLevel::warning: return "warning";
    case LogLevel::notice: return "notice";
    case LogLevel::info: return "info";
  }
  return "?";
}

void append_entry(SafeText& out, LineFormat format, const LogEntry& entry) {
  switch (format) {
    case LineFormat::text: {
      char text[max_utc_timestamp_size];
      out.add("{} ", timestamp(entry.time, text));
      return append_text(out, entry);
    }
    case LineFormat::json: return append_json(out, entry);
    case LineFormat::journald: {
      out.add("<{}>", static_cast<unsigned>(std::to_underlying(entry.level)));
      return append_text(out, entry);
    }
  }
}

}  // namespace nfx
