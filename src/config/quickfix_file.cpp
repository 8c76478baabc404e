// The engines parse settings files differently in detail; this reads them as all do, and refuses what they disagree on.
#include "config/quickfix_file.hpp"

#include <algorithm>

#include "nexusfix/base/suggest.hpp"

namespace nfx::quickfix {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\v\f";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

// Calls visit(number, line) for each line, trimmed; stops when it returns false.
template <class Visit>
void for_each_line(std::string_view text, Visit&& visit) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (!visit(number, trimmed(text.substr(0, end)))) return;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// "SESSION" of "[SESSION]"; empty for a line that is not a heading, such as TOML's "[[session]]".
std::string_view heading(std::string_view line) {
  if (line.size() < 3 || line.front() != '[' || line.back() != ']' || line[1] == '[') return {};
  return trimmed(line.substr(1, line.size() - 2));
}

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t size = first < 0x80                    ? 1
                             : first >= 0xC2 && first < 0xE0 ? 2
                             : (first & 0xF0) == 0xE0        ? 3
                             : (first & 0xF8) == 0xF0        ? 4
                                                             : 0;
    if (size == 0 || size > text.size() - i) return false;
    for (std::size_t k = 1; k < size; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return false;
    }
    i += size;
  }
  return true;
}

class Reader {
 public:
  Reader(std::string_view name, const VariableLookup& environment) : name_(name), environment_(environment) {}

  File read(std::string_view text) {
    for_each_line(text, [this](std::size_t number, std::string_view line) {
      read_line(number, line);
      return true;
    });
    return std::move(file_);
  }

 private:
  enum class Place : std::uint8_t { before, defaults, session, elsewhere };

  void read_line(std::size_t number, std::string_view line) {
    if (line.empty() || line.front() == '#') return;
    if (const std::string_view title = heading(line); !title.empty()) return open(number, title);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      return warn(number, {}, "neither a comment, a section nor Key=Value: the line is not read");
    }
    Entry entry{std::string{trimmed(line.substr(0, equals))}, {}, number, place_ == Place::defaults};
    if (entry.key.empty()) return warn(number, {}, "no key before '=': the line is not read");
    if (place_ == Place::elsewhere) return;
    if (place_ == Place::before) {
      return warn(number, entry.key, "is before the first section and is not read: move it below [DEFAULT]");
    }
    read_value(entry, trimmed(line.substr(equals + 1)));
    add(std::move(entry));
  }

  void open(std::size_t number, std::string_view title) {
    if (title == "DEFAULT") {
      if (file_.defaults.line != 0) {
        warn(number, {},
             "[DEFAULT] once more: only the first one counts, at line " + std::to_string(file_.defaults.line));
        place_ = Place::elsewhere;
        return;
      }
      file_.defaults.line = number;
      place_ = Place::defaults;
    } else if (title == "SESSION") {
      file_.sessions.push_back({number, {}});
      place_ = Place::session;
    } else {
      // Half of the engines read such a section and half do not, so neither reading would be right.
      for (const std::string_view meant : {"DEFAULT", "SESSION"}) {
        if (same_key(title, meant))
          fail(number, "[" + std::string{title} + "]: write it in capitals, as [" + std::string{meant} + "]");
      }
      warn(number, {},
           "[" + std::string{title} + "] is not a section of QuickFIX and is not read" +
               did_you_mean(title, {"DEFAULT", "SESSION"}));
      place_ = Place::elsewhere;
    }
  }

  void read_value(Entry& entry, std::string_view raw) {
    if (!is_utf8(raw) || !is_utf8(entry.key)) fail(entry.line, "not UTF-8 text: save the file as UTF-8");
    if (!environment_) {
      entry.value = raw;
      return;
    }
    bool kept = false;
    for (std::size_t i = 0; i < raw.size();) {
      if (raw[i] != '$') {
        entry.value += raw[i++];
        continue;
      }
      const bool braced = i + 1 < raw.size() && (raw[i + 1] == '{' || raw[i + 1] == '(');
      const std::size_t begin = i + (braced ? 2 : 1);
      std::size_t end = begin;
      while (end < raw.size() && is_name_byte(raw[end])) ++end;
      const bool closed = braced && end < raw.size() && raw[end] == (raw[i + 1] == '{' ? '}' : ')');
      const std::string_view variable = raw.substr(begin, end - begin);
      const std::size_t next = closed ? end + 1 : end;
      const bool whole = !variable.empty() && braced == closed;
      if (const auto found = whole ? environment_(variable) : std::nullopt) {
        if (next == raw.size()) {
          entry.variable = variable;
          entry.variable_at = entry.value.size();
        }
        entry.value += *found;
      } else if (whole && braced) {
        fail(entry.line, section_of(entry) + entry.key + ": there is no environment variable " + std::string{variable} +
                             ": set it, or write the value");
      } else {
        // A password may contain a '$', so neither the name nor the value is shown.
        kept = true;
        entry.value += raw.substr(i, next - i);
      }
      i = next;
    }
    if (kept) warn(entry, "a $ that names no environment variable stays in the value as it is");
    // A variable's value may be anything, and TOML is UTF-8.
    if (!is_utf8(entry.value))
      fail(entry.line, section_of(entry) + entry.key + ": its environment variable is not UTF-8 text");
  }

  void add(Entry entry) {
    std::vector<Entry>& entries = place_ == Place::defaults ? file_.defaults.entries : file_.sessions.back().entries;
    const auto old = std::ranges::find_if(entries, [&](const Entry& each) { return same_key(each.key, entry.key); });
    if (old == entries.end()) {
      entries.push_back(std::move(entry));
      return;
    }
    warn(entry, "is in this section already, at line " + std::to_string(old->line) + ": the last one counts");
    *old = std::move(entry);
  }

  void warn(const Entry& entry, std::string text) {
    file_.warnings.push_back({entry.line, section_of(entry), entry.key, std::move(text)});
  }
  void warn(std::size_t line, std::string key, std::string text) {
    file_.warnings.push_back({line, {}, std::move(key), std::move(text)});
  }
  [[noreturn]] void fail(std::size_t line, const std::string& text) const {
    throw ConfigError(std::string{name_} + ':' + std::to_string(line) + ": " + text);
  }

  std::string_view name_;
  const VariableLookup& environment_;
  File file_;
  Place place_ = Place::before;
};

}  // namespace

std::string section_of(const Entry& entry) { return entry.in_default ? "[DEFAULT] " : "[SESSION] "; }

File read_file(std::string_view text, std::string_view name, const VariableLookup& environment) {
  return Reader{name, environment}.read(text);
}

}  // namespace nfx::quickfix

namespace nfx {

bool looks_like_quickfix(std::string_view text) {
  using namespace quickfix;
  bool exact = false, similar = false, known = false;
  for_each_line(text, [&](std::size_t, std::string_view line) {
    const std::string_view title = heading(line);
    exact = title == "DEFAULT" || title == "SESSION";
    similar = similar || same_key(title, "DEFAULT") || same_key(title, "SESSION");
    // "[session]" is a mistake in either format; only QuickFIX has BeginString and the like below it.
    if (similar && !line.empty() && line.front() != '#') {
      const std::size_t equals = line.find('=');
      const KeyRow* row = equals == std::string_view::npos ? nullptr : find_key(trimmed(line.substr(0, equals)));
      known = known || (row != nullptr && !row->key.engines.empty());
    }
    return !exact && !known;
  });
  return exact || known;
}

}  // namespace nfx
