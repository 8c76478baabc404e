// Reads a settings file. The engines' parsers differ in details: this one accepts what all agree on, and rejects the
// rest.
#include "config/quickfix_file.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/error_text.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace nfx::quickfix {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

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

bool is_comment(std::string_view line) {
  return line.starts_with('#') || line.starts_with(';') || line.starts_with("//");
}

// "SESSION" for "[SESSION]", also with a comment behind it or without the closing bracket. Empty for a line that is not
// a heading, such as TOML's "[[session]]".
struct Heading {
  std::string_view title;
  bool closed = true;
};
Heading heading(std::string_view line) {
  if (line.size() < 3 || line.front() != '[' || line[1] == '[') return {};
  const std::size_t end = line.find(']');
  if (end != std::string_view::npos) {
    const std::string_view rest = trimmed(line.substr(end + 1));
    return rest.empty() || is_comment(rest) ? Heading{trimmed(line.substr(1, end - 1))} : Heading{};
  }
  const std::string_view title = trimmed(line.substr(1));
  return same_key(title, "DEFAULT") || same_key(title, "SESSION") ? Heading{title, false} : Heading{};
}

// The position of a comment after a value: a '#' preceded by white space. In a secret, '#' is part of the value.
std::size_t comment_begin(std::string_view key, std::string_view value) {
  if (starts_with_key(key, "LogonTag") || key.contains("assword") || key.contains("ASSWORD")) return value.size();
  for (std::size_t at = value.find('#'); at != std::string_view::npos; at = value.find('#', at + 1)) {
    if (at == 0 || value[at - 1] == ' ' || value[at - 1] == '\t') return at;
  }
  return value.size();
}

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_utf8(std::string_view text) {
  while (const std::size_t size = utf8_character_size(text)) text.remove_prefix(size);
  return text.empty();
}

class Reader {
 public:
  Reader(std::string_view name, const VariableLookup& environment) : name_(name), environment_(environment) {}

  File read(std::string_view text) {
    for_each_line(text, [this](std::size_t number, std::string_view line) {
      read_line(number, line);
      return true;
    });
    warn_of_comments();
    return std::move(file_);
  }

 private:
  enum class Place : std::uint8_t { before, defaults, session, elsewhere };

  void read_line(std::size_t number, std::string_view line) {
    if (line.empty() || line.front() == '#') return;
    if (is_comment(line)) {
      if (!std::exchange(warned_of_comment_mark_, true))
        warn(number, {}, "QuickFIX's comments begin with '#'; this line and similar ones are ignored");
      return;
    }
    if (const Heading found = heading(line); !found.title.empty()) {
      if (!found.closed) warn(number, {}, "the section has no ']': it is read as [" + std::string{found.title} + "]");
      return open(number, found.title);
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      return warn(number, {}, "neither a comment, a section nor Key=Value: ignored");
    }
    Entry entry{std::string{trimmed(line.substr(0, equals))}, {}, number, place_ == Place::defaults};
    if (entry.key.empty()) return warn(number, {}, "no key before '=': ignored");
    if (place_ == Place::elsewhere) return;
    if (place_ == Place::before) {
      return warn(number, entry.key, "is before the first section, ignored: move it below [DEFAULT]");
    }
    std::string_view value = trimmed(line.substr(equals + 1));
    if (const std::size_t comment = comment_begin(entry.key, value); comment != value.size()) {
      commented_.push_back(number);
      value = trimmed(value.substr(0, comment));
    }
    // Our own keys may be written as in TOML.
    if (entry.key.contains('_')) {
      std::string name = entry.key;
      std::erase(name, '_');
      if (const KeyRow* row = find_key(name); row != nullptr && row->key.engines == ours_only)
        entry.key = row->key.name;
    }
    read_value(entry, value);
    add(std::move(entry));
  }

  void open(std::size_t number, std::string_view title) {
    if (same_key(title, "DEFAULT")) {
      if (file_.defaults.line != 0) {
        warn(number, {},
             "duplicate section [DEFAULT]; the first one counts, at line " + std::to_string(file_.defaults.line));
        place_ = Place::elsewhere;
        return;
      }
      file_.defaults.line = number;
      place_ = Place::defaults;
    } else if (same_key(title, "SESSION")) {
      file_.sessions.push_back({number, {}});
      of_session_.clear();
      place_ = Place::session;
    } else {
      warn(number, {},
           "[" + std::string{title} + "] is not a section of QuickFIX, ignored" +
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
      const Variable variable = variable_at(raw, i);
      std::optional<std::string> found = variable.name.empty() ? std::nullopt : environment_(variable.name);
      if (!found && variable.braced) found = of_java(variable.name);
      if (!found) found = variable.fallback;
      if (found) {
        if (variable.end == raw.size() && !variable.fallback && environment_(variable.name)) {
          entry.variable = variable.name;
          entry.variable_at = entry.value.size();
        }
        entry.value += *found;
      } else if (!variable.name.empty() && variable.braced) {
        fail(entry.line,
             section_of(entry) + entry.key + ": " + not_set(variable.name) + "; set it, or write the value");
      } else {
        // A password may contain a '$', so neither the name nor the value is printed.
        kept = true;
        entry.value += raw.substr(i, variable.end - i);
      }
      i = variable.end;
    }
    if (kept) warn(entry, "a $ without the name of an environment variable is part of the value");
    // The value of a variable may contain any bytes, but TOML requires UTF-8.
    if (!is_utf8(entry.value))
      fail(entry.line, section_of(entry) + entry.key + ": its environment variable is not UTF-8 text");
  }

  // $NAME, ${NAME} or $(NAME) at a '$'. ${NAME:text} and ${NAME:-text} have a default for a variable that is not set.
  struct Variable {
    std::string_view name;  // empty: not a variable
    std::optional<std::string> fallback;
    std::size_t end = 0;
    bool braced = false;
  };
  static Variable variable_at(std::string_view raw, std::size_t at) {
    Variable variable;
    const char open = at + 1 < raw.size() ? raw[at + 1] : '\0';
    variable.braced = open == '{' || open == '(';
    const std::size_t begin = at + (variable.braced ? 2 : 1);
    std::size_t end = begin;
    while (end < raw.size() && (is_name_byte(raw[end]) || (variable.braced && (raw[end] == '.' || raw[end] == '-'))))
      ++end;
    variable.end = end;
    if (!variable.braced) {
      variable.name = raw.substr(begin, end - begin);
      return variable;
    }
    const std::size_t close = raw.find(open == '{' ? '}' : ')', end);
    if (end == begin || close == std::string_view::npos || (close != end && raw[end] != ':')) return variable;
    variable.name = raw.substr(begin, end - begin);
    if (close != end) {
      std::string_view text = raw.substr(end + 1, close - end - 1);
      if (text.starts_with('-')) text.remove_prefix(1);
      variable.fallback = text;
    }
    variable.end = close + 1;
    return variable;
  }

  // Java system properties that have a meaning without Java.
  std::optional<std::string> of_java(std::string_view name) const {
    if (name == "user.dir") return ".";
    if (name == "file.separator") return "/";
    if (name == "java.io.tmpdir") return environment_("TMPDIR").value_or("/tmp");
    if (name == "user.home") return environment_("HOME");
    if (name == "user.name") return environment_("USER");
    return std::nullopt;
  }

  // One warning for all comments.
  void warn_of_comments() {
    if (commented_.empty()) return;
    constexpr std::size_t most = 5;
    std::string others;
    for (std::size_t i = 1; i < std::min(commented_.size(), most); ++i)
      others += (i == 1 ? "; also at line " : ", ") + std::to_string(commented_[i]);
    if (commented_.size() > most) others += " and " + std::to_string(commented_.size() - most) + " more";
    warn(commented_.front(), {},
         "text after ' #' is a comment here, and a part of the value for QuickFIX: write it on a separate line" +
             others);
  }

  void add(Entry entry) {
    const bool common = place_ == Place::defaults;
    std::vector<Entry>& entries = common ? file_.defaults.entries : file_.sessions.back().entries;
    const auto [at, is_new] = (common ? of_defaults_ : of_session_).emplace(entry.key, entries.size());
    if (is_new) {
      entries.push_back(std::move(entry));
      return;
    }
    Entry& old = entries[at->second];
    warn(entry, "duplicate key, also at line " + std::to_string(old.line) + ": the last one counts");
    old = std::move(entry);
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
  std::map<std::string, std::size_t, KeyOrder> of_defaults_, of_session_;  // where each key is among the entries
  std::vector<std::size_t> commented_;                                     // lines with a comment after the value
  bool warned_of_comment_mark_ = false;
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
    const std::string_view title = heading(line).title;
    exact = title == "DEFAULT" || title == "SESSION";
    similar = similar || same_key(title, "DEFAULT") || same_key(title, "SESSION");
    // "[session]" is a mistake in either format; only QuickFIX files have BeginString and similar keys below it.
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
