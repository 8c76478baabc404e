// Writes each message again, field by field.
#include "decode/redact.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

#include "decode/fields.hpp"
#include "decode/text_form.hpp"
#include "nexusfix/wire/encoder.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "wire/secret_fields.hpp"

namespace nfx::app {
namespace {

constexpr std::array<std::uint32_t, 5> secrets{554, 925, 96, 1402, 1404};

void append_field(std::string& out, std::uint32_t tag, std::string_view value) {
  out.append(std::to_string(tag)).append("=").append(value) += '\x01';
}

}  // namespace

Redactor::Redactor(std::vector<std::uint32_t> also) : also_(std::move(also)) {}

bool Redactor::is_hidden(std::uint32_t tag) const noexcept {
  return is_secret(Tag{static_cast<std::int32_t>(tag)}) || std::ranges::find(also_, tag) != also_.end();
}

std::string Redactor::replacement(std::uint32_t tag, std::string_view value) {
  ++replaced_;
  if (is_secret(Tag{static_cast<std::int32_t>(tag)})) return masked_text;
  const auto known = numbers_.find({tag, std::string{value}});
  if (known != numbers_.end()) return "redacted-" + std::to_string(known->second);
  if (numbers_.size() == max_values) return masked_text;
  const std::uint64_t number = numbers_.size() + 1;
  numbers_.emplace(std::pair{tag, std::string{value}}, number);
  return "redacted-" + std::to_string(number);
}

std::uint64_t Redactor::copy(const LogFile& file, OutputFile& out, const LogReaderHooks& hooks) {
  constexpr std::size_t longest_line = 1024 * 1024;
  const std::unique_ptr<ByteStream> bytes = open_bytes(file, true);
  TextForm form;
  MessageScanner scanner;
  std::string passed, text;
  scanner.copy_to(&passed);
  std::uint64_t messages = 0;
  // Text is written by whole lines, so that no secret in it is cut.
  const auto write_lines = [&](bool all) {
    const std::size_t line = text.rfind('\n');
    const std::size_t size = all || text.size() > longest_line ? text.size() : line == std::string::npos ? 0 : line + 1;
    write_text(std::string_view{text}.substr(0, size), out.bytes);
    text.erase(0, size);
  };
  bool first = true;
  for (bool ended = false; !ended;) {
    const std::string_view some = bytes->next();
    if (std::exchange(first, false) && begins_capture(some))
      throw std::runtime_error(file.name + ": a capture of packets cannot be redacted; decode it and redact that");
    if (hooks.on_read) hooks.on_read(some.size());
    ended = some.empty();
    scanner.feed(ended ? form.finish() : form.convert(some));
    if (ended) scanner.finish();
    while (const auto found = scanner.next()) {
      const std::string_view raw = std::string_view{passed}.substr(passed.size() - found->size);
      text.append(passed, 0, passed.size() - found->size);
      write_lines(true);
      write_message(*found, raw.ends_with(found->separator), out.bytes);
      ++messages;
      passed.clear();
      out.flush_when_large();
    }
    text += passed;
    passed.clear();
    write_lines(ended);
    out.flush_when_large();
  }
  return messages;
}

void Redactor::write_message(const FoundMessage& found, bool ends_with_separator, std::string& out) {
  const bool was_right = view_.parse_leniently(found.text) == WireError::none;
  std::string& message = message_;
  message.clear();
  std::size_t used = 0;
  bool changed = false;
  for (std::uint32_t i = 0; i < view_.size(); ++i) {
    const Field field = view_[i];
    const auto tag = static_cast<std::uint32_t>(value(field.tag));
    used = view_.offset_at(i) + field.value.size() + 1;
    std::string shown{field.value};
    if (is_hidden(tag)) {
      shown = replacement(tag, field.value);
      changed = true;
    }
    // The length of a data field that follows.
    const Tag data = data_tag_of(field.tag);
    if (data != Tag{0} && i + 1 < view_.size() && view_[i + 1].tag == data &&
        is_hidden(static_cast<std::uint32_t>(value(data))))
      shown = std::to_string(std::string_view{masked_text}.size());
    append_field(message, tag, shown);
  }
  // What is not readable may be part of a secret before it.
  bool after_secret = used != 0 && is_hidden(static_cast<std::uint32_t>(value(view_[view_.size() - 1].tag)));
  for (std::string_view rest = found.text.substr(std::min(used, found.text.size())); !rest.empty();) {
    const std::string_view field = rest.substr(0, rest.find('\x01'));
    rest.remove_prefix(std::min(field.size() + 1, rest.size()));
    std::uint32_t tag = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), tag);
    const bool readable = error == std::errc{} && end != field.data() + field.size() && *end == '=';
    if (readable) after_secret = is_hidden(tag);
    if (!readable && !after_secret) {
      message.append(field) += '\x01';
    } else if (!after_secret) {
      append_field(message, tag, field.substr(static_cast<std::size_t>(end - field.data()) + 1));
    } else {
      changed = true;
      if (readable) append_field(message, tag, replacement(tag, {}));
    }
  }
  if (was_right && changed) {
    // BodyLength is the second field, and CheckSum the last one.
    const std::size_t length = message.find('\x01') + 1;
    const std::size_t body = message.find('\x01', length) + 1;
    const std::size_t sum = message.size() - 7;
    const std::string right = "9=" + std::to_string(sum - body) + '\x01';
    message.replace(length, body - length, right);
    std::array<char, 7> check{};
    write_check_sum_field(check.data(), check_sum(std::string_view{message}.substr(0, message.size() - 7)));
    message.replace(message.size() - 7, 7, check.data(), check.size());
  }
  if (!ends_with_separator) message.pop_back();
  if (found.separator == "\x01") {
    out += message;
    return;
  }
  for (const char c : message) {
    if (c == '\x01') {
      out += found.separator;
    } else {
      out += c;
    }
  }
}

// In text, a value ends at a separator or at the end of its line.
void Redactor::write_text(std::string_view text, std::string& out) {
  while (!text.empty()) {
    std::size_t at = std::string_view::npos, size = 0;
    for (const std::uint32_t tag : secrets) {
      const std::string begin = std::to_string(tag) + "=";
      for (std::size_t found = text.find(begin); found < at; found = text.find(begin, found + 1)) {
        if (found != 0 && text[found - 1] >= '0' && text[found - 1] <= '9') continue;
        at = found;
        size = begin.size();
      }
    }
    if (at == std::string_view::npos) break;
    out += text.substr(0, at + size);
    text.remove_prefix(at + size);
    text.remove_prefix(std::min(text.find_first_of("\x01|\r\n"), text.size()));
    out += masked_text;
    ++replaced_;
  }
  out += text;
}

}  // namespace nfx::app
