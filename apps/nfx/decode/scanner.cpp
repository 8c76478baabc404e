// Finds FIX messages in text by "8=FIX", BodyLength and CheckSum, and detects the separator of each.
#include "decode/scanner.hpp"

#include <algorithm>
#include <array>

#include "nexusfix/wire/encoder.hpp"

namespace nfx::app {
namespace {

constexpr std::string_view start_text = "8=FIX";
constexpr std::size_t max_begin_string_size = 16;
constexpr std::size_t max_separator_size = 12;
// From "8=" to the '=' of the second field: the maximum that one attempt needs.
constexpr std::size_t start_size = 2 + max_begin_string_size + max_separator_size + 11;
constexpr std::size_t max_tag_size = 11;  // including a sign
constexpr std::size_t max_prefix_size = 200;
constexpr std::size_t max_check_sums = 16;  // attempts per message
constexpr std::array<std::string_view, 10> spellings_of_soh{"\x01", "\\x01", "\\u0001",      "\\001", "<SOH>",
                                                            "^A",   "&#1;",  "\xE2\x90\x81", "\\x1",  "%01"};

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_letter(char c) noexcept { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

// Whether the text starts with "digits=".
bool starts_with_tag(std::string_view text) noexcept {
  if (text.starts_with('-')) text.remove_prefix(1);
  std::size_t digits = 0;
  while (digits < text.size() && digits <= 10 && is_digit(text[digits])) ++digits;
  return digits != 0 && digits <= 10 && digits < text.size() && text[digits] == '=';
}

// The size of the separator after BeginString; 0 if there is none.
std::size_t separator_size(std::string_view text) noexcept {
  for (const std::string_view spelling : spellings_of_soh) {
    if (text.starts_with(spelling)) return spelling.size();
  }
  std::size_t size = 0;
  while (size < text.size() && size < 3 && !is_digit(text[size]) && !is_letter(text[size]) && text[size] != '=' &&
         static_cast<unsigned char>(text[size]) >= ' ' && static_cast<unsigned char>(text[size]) < 0x7F) {
    ++size;
  }
  if (size == 0 && text.starts_with('\t')) size = 1;
  return size != 0 && (text[0] == '|' || starts_with_tag(text.substr(size))) ? size : 0;
}

// The size of "FIX.4.4", "FIXT.1.1" or "FIX.5.0SP2" at the front, if letters follow that do not belong to it; 0: none.
std::size_t plain_begin_string_size(std::string_view text) noexcept {
  std::size_t size = text.starts_with("FIXT.") ? 5 : text.starts_with("FIX.") ? 4 : 0;
  if (size == 0 || text.size() < size + 3 || !is_digit(text[size]) || text[size + 1] != '.' ||
      !is_digit(text[size + 2]))
    return 0;
  size += 3;
  if (text.size() > size + 2 && text.substr(size).starts_with("SP") && is_digit(text[size + 2])) size += 3;
  return size;
}

bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// The size of the text between BeginString and "9=", if it is short enough for a separator: "[SOH]", U+2401, or a line
// end with blanks around it. 0 if there is none.
std::size_t other_separator_size(std::string_view text) noexcept {
  text = text.substr(0, max_separator_size + 3);
  const std::size_t size = text.find("9=");
  if (size == 0 || size == std::string_view::npos || size > max_separator_size) return 0;
  if (text.size() > size + 2 && !is_digit(text[size + 2]) && text[size + 2] != '*') return 0;
  const std::string_view separator = text.substr(0, size);
  const bool escaped = separator.contains('\\') || separator.contains('%');  // ends with an escape's digits
  if ((is_digit(separator.back()) && !escaped) || separator.contains('=')) return 0;
  const bool has_line_end = separator.contains('\n') || separator.contains('\r');
  return has_line_end && !std::ranges::all_of(separator, is_blank) ? 0 : size;
}

bool ends_line(std::string_view separator) noexcept { return separator.contains('\n') || separator.contains('\r'); }

// The value of BodyLength, and the start of the body, in text separated by SOH.
struct Body {
  std::size_t begin = 0;
  std::size_t size = 0;
};

std::optional<Body> declared_body(std::string_view text) noexcept {
  const std::size_t length = text.find(soh);
  if (length == std::string_view::npos || !text.substr(length + 1).starts_with("9=")) return std::nullopt;
  Body body{length + 3, 0};
  std::size_t digits = 0;
  for (; body.begin < text.size() && digits < 8 && is_digit(text[body.begin]); ++body.begin, ++digits) {
    body.size = body.size * 10 + static_cast<std::size_t>(text[body.begin] - '0');
  }
  if (digits == 0 || digits > 7 || body.begin >= text.size() || text[body.begin] != soh) return std::nullopt;
  ++body.begin;
  return body;
}

bool check_sum_ends(std::string_view text) noexcept {
  return text.size() >= 6 && text.starts_with("10=") && is_digit(text[3]) && is_digit(text[4]) && is_digit(text[5]);
}

bool body_length_fits(std::string_view text) noexcept {
  const auto body = declared_body(text);
  return body && body->begin + body->size + 7 == text.size() && text[body->begin + body->size - 1] == soh;
}

bool verified(std::string_view text) noexcept {
  if (!body_length_fits(text)) return false;
  std::array<char, 7> expected;
  write_check_sum_field(expected.data(), check_sum(text.substr(0, text.size() - 7)));
  return text.ends_with(std::string_view{expected.data(), expected.size()});
}

// Whether the "8=FIX" after `lead`, the preceding text on its line, belongs to a field: "|108=FIX", "58=8=FIX". After a
// log's key ("msg=8=FIX"), a time ("03:04:05.1238=FIX") or a field's value ("10=0358=FIX") it does not.
bool continues_field(std::string_view lead, std::string_view separator) noexcept {
  constexpr std::size_t max_tag_digits = 10;
  if (lead.empty()) return false;
  const bool in_value = lead.back() == '=';
  if (in_value) lead.remove_suffix(1);
  const std::size_t before_digits = lead.find_last_not_of("0123456789");
  const std::size_t digits_at = before_digits == std::string_view::npos ? 0 : before_digits + 1;
  const std::size_t digits = lead.size() - digits_at;
  if (in_value)
    return digits != 0 && (digits_at == 0 || (!is_letter(lead[before_digits]) && lead[before_digits] != '_'));
  if (digits == 0) return false;
  // The separator itself can end with digits, like "\x01".
  for (std::size_t at = digits_at; at < lead.size(); ++at) {
    if (lead.substr(0, at).ends_with(separator)) return true;
  }
  if (digits >= max_tag_digits) return false;
  return digits_at == 0 || (lead[before_digits] != '.' && lead[before_digits] != ':' && lead[before_digits] != '=');
}

// Log prefixes can quote parts of messages.
void hide_secrets(std::string& prefix) {
  for (const std::string_view field : {"554=", "925=", "96=", "1402=", "1404="}) {
    for (std::size_t at = prefix.find(field); at != std::string::npos; at = prefix.find(field, at + 1)) {
      if (at != 0 && is_digit(prefix[at - 1])) continue;
      prefix.replace(at + field.size(), std::string::npos, "***");
    }
  }
}

}  // namespace

void to_soh(std::string_view text, std::string_view separator, bool only_before_tags, std::string& out) {
  out.clear();
  out.reserve(text.size() + 1);
  while (!text.empty()) {
    const std::size_t next = text.find(separator);
    if (next == std::string_view::npos) break;
    out += text.substr(0, next);
    text.remove_prefix(next + separator.size());
    if (text.empty() || !only_before_tags || starts_with_tag(text)) {
      out += soh;
    } else {
      out += separator;
    }
  }
  out += text;
  if (out.empty() || out.back() != soh) out += soh;
}

MessageScanner::MessageScanner(std::size_t max_message_size) : max_message_size_(max_message_size) {}

void MessageScanner::finish() {
  ended_ = true;
  if (!begun_) {
    begun_ = true;
    buffer_ += beginning_;
  }
  if (utf16_) utf16_->finish(buffer_);
}

void MessageScanner::feed(std::string_view bytes) {
  constexpr std::size_t enough = 4;  // enough bytes to detect the encoding
  if (!begun_) {
    beginning_ += bytes;
    if (beginning_.size() < enough) return;
    begun_ = true;
    if (const TextEncoding encoding = text_encoding(beginning_); encoding != TextEncoding::bytes)
      utf16_.emplace(encoding);
    const std::string whole = std::move(beginning_);
    return feed(whole);
  }
  if (at_ >= buffer_.size() / 2) {
    buffer_.erase(0, at_);
    looked_at_ -= std::min(looked_at_, at_);
    wanted_ -= std::min(wanted_, at_);
    at_ = 0;
  }
  if (utf16_) {
    utf16_->append(bytes, buffer_);
  } else {
    buffer_ += bytes;
  }
  settled_ = false;
}

std::optional<FoundMessage> MessageScanner::next() {
  if (waiting_ && !ended_ && !settled_ && buffer_.size() < wanted_) {
    const bool line_ended = line_decides_ && buffer_.find('\n', looked_at_) != std::string::npos;
    looked_at_ = buffer_.size();
    if (!line_ended) return std::nullopt;
  }
  waiting_ = false;
  const Start start = find_start(rest(), before_, ended_ || settled_);
  if (start.at == std::string_view::npos) {
    // The first bytes of a message may be at the end.
    const std::size_t kept = ended_ ? 0 : std::min(rest().size(), start_text.size() - 1);
    consume(rest().size() - kept);
    return std::nullopt;
  }
  consume(start.at);
  separator_.assign(rest().substr(start.begin_string_size, start.separator_size));
  const Extent extent = start.unsure ? Extent{} : measure(rest(), separator_);
  if (extent.size == 0) {
    waiting_ = true;
    looked_at_ = buffer_.size();
    line_decides_ = start.unsure || extent.line_decides;
    wanted_ = start.unsure ? looked_at_ + 1 : extent.wanted != 0 ? at_ + extent.wanted : at_ + 2 * rest().size();
    // Each attempt may read the whole buffer, so there must not be one for every few bytes.
    wanted_ = std::min(wanted_, at_ + max_message_size_ + 1);
    return std::nullopt;
  }
  FoundMessage found;
  take(extent, separator_, found);
  return found;
}

auto MessageScanner::find_start(std::string_view text, std::optional<char> before, bool whole) const -> Start {
  for (std::size_t at = text.find(start_text, before ? 0 : 1); at != std::string_view::npos;
       at = text.find(start_text, at + 1)) {
    const char front = at == 0 ? before.value_or('\0') : text[at - 1];
    Start start = look_at(text, at, whole);
    if (!start.unsure && start.separator_size == 0) continue;
    if (!start.unsure && (is_digit(front) || front == '=')) {
      const auto decided = starts_here(text, start, before.has_value(), whole);
      if (decided == false) continue;
      start.unsure = !decided;
    }
    return start;
  }
  return {};
}

// Whether a message starts here although a digit or '=' precedes it; empty if more bytes are needed to decide.
std::optional<bool> MessageScanner::starts_here(std::string_view text, const Start& start, bool on_line,
                                                bool whole) const {
  constexpr std::size_t max_lead_size = 32;
  constexpr std::size_t max_length_digits = 7;
  const std::string_view here = text.substr(start.at);
  const std::string_view separator = here.substr(start.begin_string_size, start.separator_size);
  std::string_view length = here.substr(start.begin_string_size + start.separator_size);
  if (!whole && length.size() < 2 + max_length_digits + separator.size()) return std::nullopt;
  if (start.begin_string_size != 2 + plain_begin_string_size(here.substr(2)) || !length.starts_with("9=")) return false;
  length.remove_prefix(2);
  const std::size_t digits = std::min(length.find_first_not_of("0123456789"), length.size());
  if (digits == 0 || digits > max_length_digits || !length.substr(digits).starts_with(separator)) return false;
  const std::size_t lead_size = std::min(start.at, max_lead_size);
  std::string lead = on_line ? prefix_ : std::string{};
  lead += text.substr(start.at - lead_size, lead_size);
  if (lead.size() > max_lead_size) lead.erase(0, lead.size() - max_lead_size);
  if (const std::size_t line = lead.rfind('\n'); line != std::string::npos) lead.erase(0, line + 1);
  return !continues_field(lead, separator);
}

auto MessageScanner::look_at(std::string_view text, std::size_t at, bool whole) const -> Start {
  const std::string_view here = text.substr(at);
  Start start{at, 2, 0, false};
  const auto in_begin_string = [](char c) { return is_digit(c) || is_letter(c) || c == '.'; };
  while (start.begin_string_size < here.size() && in_begin_string(here[start.begin_string_size]))
    ++start.begin_string_size;
  if (here.size() < start_size && !whole) {
    // The next line may be the second field.
    const std::string_view then = here.substr(start.begin_string_size);
    const std::size_t line = then.find('\n');
    const bool at_line_end =
        line != std::string_view::npos && then.find_first_not_of(" \t\r\n9") == std::string_view::npos;
    if (line == std::string_view::npos || at_line_end) {
      start.unsure = true;
      return start;
    }
  }
  if (start.begin_string_size <= 2 + max_begin_string_size) {
    start.separator_size = separator_size(here.substr(start.begin_string_size, start_size));
    if (start.separator_size == 0) start.separator_size = other_separator_size(here.substr(start.begin_string_size));
  }
  if (const std::size_t plain = plain_begin_string_size(here.substr(2)); start.separator_size == 0 && plain != 0) {
    start.begin_string_size = 2 + plain;
    start.separator_size = other_separator_size(here.substr(start.begin_string_size));
  }
  return start;
}

auto MessageScanner::measure(std::string_view text, std::string_view separator) const -> Extent {
  if (separator.front() == soh) {
    const Extent exact = measure_by_length(text);
    if (exact.size != 0 || exact.wanted != 0) return exact;
  }
  return measure_by_check_sum(text, separator);
}

// Uses BodyLength. Sets neither size nor wanted if it is wrong.
auto MessageScanner::measure_by_length(std::string_view text) const -> Extent {
  const auto body = declared_body(text);
  if (!body) return {};
  const std::size_t end = body->begin + body->size;
  const std::size_t total = end + 7;
  if (total > max_message_size_) return {};
  if (text.size() < total && !ended_ && !settled_) return {.wanted = total};
  if (text.size() < end + 6 || text[end - 1] != soh || !check_sum_ends(text.substr(end))) return {};
  return {.size = text.size() > end + 6 && text[end + 6] == soh ? total : end + 6};
}

// The text up to the end of its line or up to the next message, if there is one in the text. Also ends at a possible
// next message, because this message cannot extend beyond it.
std::string_view MessageScanner::up_to_line_or_message_end(std::string_view text, bool& bounded) const {
  const std::size_t line = text.find('\n');
  bounded = line != std::string_view::npos;
  text = text.substr(0, line);
  if (const Start other = find_start(text, std::nullopt, bounded || ended_ || settled_);
      other.at != std::string_view::npos) {
    bounded = !other.unsure;
    text = text.substr(0, other.at);
  }
  return text;
}

// With one field per line: the text up to the first line that is not a field, if there is one.
std::string_view MessageScanner::up_to_last_field(std::string_view text, std::string_view separator,
                                                  bool& bounded) const {
  bounded = false;
  for (std::size_t at = text.find(separator); at != std::string_view::npos;) {
    const std::size_t next = at + separator.size();
    const std::string_view field = text.substr(next);
    const bool incomplete =
        field.size() <= max_tag_size && field.find_first_not_of("-0123456789") == std::string_view::npos;
    if (incomplete && !ended_ && !settled_) return text;
    if (!starts_with_tag(field) || field.starts_with(start_text)) {
      bounded = true;
      return text.substr(0, at);
    }
    at = text.find(separator, next);
  }
  return text;
}

auto MessageScanner::measure_by_check_sum(std::string_view text, std::string_view separator) const -> Extent {
  bool bounded = false;
  const bool too_long = text.size() > max_message_size_;
  const std::string_view searched = text.substr(0, max_message_size_);
  const std::string_view line = ends_line(separator) ? up_to_last_field(searched, separator, bounded)
                                                     : up_to_line_or_message_end(searched, bounded);
  const std::string check_sum_start = std::string{separator} + "10=";
  std::size_t first_end = 0;
  std::string converted;
  std::size_t at = line.find(check_sum_start);
  for (std::size_t i = 0; i < max_check_sums && at != std::string_view::npos; ++i) {
    std::size_t end = at + check_sum_start.size();
    // More than three digits, to show a wrong one.
    const std::size_t most = std::min(line.size(), end + 8);
    while (end < most && (is_digit(line[end]) || is_letter(line[end]))) ++end;
    // Digits before a "=" are the tag of the following text without a separator, perhaps the next message.
    const bool all_there = (end < line.size() && line[end] != '=') || bounded || ended_ || settled_;
    if (line.substr(end).starts_with(separator)) end += separator.size();
    if (first_end == 0 && all_there) first_end = end;
    if (separator.front() == soh) break;
    to_soh(line.substr(0, end), separator, true, converted);
    if (all_there && body_length_fits(converted)) return {.size = end};
    at = line.find(check_sum_start, end - separator.size());
  }
  const bool decided = bounded || ended_ || settled_ || separator.front() == soh;
  if (first_end != 0 && (decided || too_long)) return {.size = first_end};
  if (bounded || ended_) {
    // Without the line end.
    const std::size_t last = line.find_last_not_of("\r \t");
    return {.size = last == std::string_view::npos ? line.size() : last + 1, .cut_off = true};
  }
  if (too_long) return {.size = start_text.size(), .too_long = true};
  return {.line_decides = true};
}

void MessageScanner::take(const Extent& extent, std::string_view separator, FoundMessage& found) {
  const std::string_view text = rest().substr(0, extent.size);
  if (separator.front() == soh) {
    message_.assign(text);
    if (message_.back() != soh) message_ += soh;
  } else {
    to_soh(text, separator, true, message_);
    if (!verified(message_)) {
      // Perhaps none of them was part of a value; then the sum is right.
      std::string other;
      to_soh(text, separator, false, other);
      if (verified(other)) message_ = std::move(other);
    }
  }
  // Text after a skipped message is the rest of that message.
  const std::size_t first = skipping_ ? std::string::npos : prefix_.find_first_not_of(" \t");
  shown_prefix_ = first == std::string::npos ? std::string{} : prefix_.substr(first);
  skipping_ = extent.too_long;
  while (!shown_prefix_.empty() && (shown_prefix_.back() == ' ' || shown_prefix_.back() == '\t'))
    shown_prefix_.pop_back();
  hide_secrets(shown_prefix_);
  found = {message_, shown_prefix_, line_, consumed_, extent.size, separator, extent.cut_off, extent.too_long};
  consume(extent.size);
  prefix_.clear();
}

void MessageScanner::consume(std::size_t size) {
  if (size == 0) return;
  const std::string_view gone = rest().substr(0, size);
  if (copy_ != nullptr) copy_->append(gone);
  const auto lines = std::ranges::count(gone, '\n');
  line_ += static_cast<std::uint64_t>(lines);
  before_ = gone.back();
  const std::size_t line_end = lines == 0 ? std::string_view::npos : gone.rfind('\n');
  if (line_end != std::string_view::npos) {
    prefix_.clear();
    skipping_ = false;
  }
  std::string_view tail = line_end == std::string_view::npos ? gone : gone.substr(line_end + 1);
  if (tail.size() > max_prefix_size) tail.remove_prefix(tail.size() - max_prefix_size);
  prefix_ += tail;
  if (prefix_.size() > max_prefix_size) prefix_.erase(0, prefix_.size() - max_prefix_size);
  at_ += size;
  consumed_ += size;
}

}  // namespace nfx::app
