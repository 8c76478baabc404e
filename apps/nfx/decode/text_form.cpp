// Recognises the form of a log by its first message, and rewrites the lines of messages.
#include "decode/text_form.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "nexusfix/wire/encoder.hpp"

namespace nfx::app {
namespace {

constexpr std::string_view field_line_mark = "BeginString (8): ";
// "8=FIX" as journalctl prints it now, and as it did.
constexpr std::array<std::string_view, 2> byte_array_marks{"56,61,70,73,88,", "56, 61, 70, 73, 88,"};
constexpr char soh_character = '\x01';

struct FieldLine {
  std::string_view tag, value;
};

// "    MsgType (35): D (NewOrderSingle)".
std::optional<FieldLine> read_field_line(std::string_view line) {
  const std::size_t colon = line.find("): ");
  if (colon == std::string_view::npos) return std::nullopt;
  const std::size_t open = line.rfind('(', colon);
  if (open == std::string_view::npos || open == 0 || line[open - 1] != ' ') return std::nullopt;
  const std::string_view tag = line.substr(open + 1, colon - open - 1);
  if (tag.empty() || tag.size() > 9 || tag.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  return FieldLine{tag, line.substr(colon + 3)};
}

std::size_t find_byte_array(std::string_view text) {
  return std::min(text.find(byte_array_marks[0]), text.find(byte_array_marks[1]));
}

bool check_sum_fits(std::string_view message) {
  if (message.size() < 7) return false;
  std::array<char, 7> expected;
  write_check_sum_field(expected.data(), check_sum(message.substr(0, message.size() - 7)));
  return message.ends_with(std::string_view{expected.data(), expected.size()});
}

void add_field(std::string& message, std::string_view tag, std::string_view value) {
  message.append(tag).append("=").append(value) += soh_character;
}

}  // namespace

std::string_view TextForm::convert(std::string_view bytes) {
  if (kind_ == Kind::usual) return bytes;
  out_.clear();
  if (kind_ == Kind::undecided) {
    bytes = decide(bytes);
    if (kind_ == Kind::undecided || kind_ == Kind::usual) return bytes;
  }
  convert_lines(bytes);
  return out_;
}

// The first mark decides. Until then, the beginning of a line is held back, because it may be that of a message.
std::string_view TextForm::decide(std::string_view bytes) {
  constexpr std::size_t longest_line = 64 * 1024;
  if (!line_.empty()) {
    undecided_ = std::exchange(line_, {});
    undecided_ += bytes;
    bytes = undecided_;
  }
  const std::size_t field_line = bytes.find(field_line_mark), usual = bytes.find("8=FIX");
  const std::size_t byte_array = find_byte_array(bytes), first = std::min({field_line, usual, byte_array});
  if (first != std::string_view::npos) {
    kind_ = first == usual ? Kind::usual : first == field_line ? Kind::field_lines : Kind::byte_arrays;
    if (kind_ == Kind::usual) return bytes;
    // The lines before it pass unchanged.
    const std::size_t before = bytes.substr(0, first).rfind('\n');
    const std::size_t line = before == std::string_view::npos ? 0 : before + 1;
    out_ = bytes.substr(0, line);
    return bytes.substr(line);
  }
  const std::size_t line_end = bytes.rfind('\n');
  const std::size_t whole = line_end == std::string_view::npos ? 0 : line_end + 1;
  if (bytes.size() - whole > longest_line) return bytes;
  line_ = bytes.substr(whole);
  return bytes.substr(0, whole);
}

std::string_view TextForm::finish() {
  out_.clear();
  if (kind_ == Kind::field_lines) {
    field_line(line_);
    end_message();
  } else if (kind_ == Kind::byte_arrays) {
    byte_array_line(line_);
  } else {
    out_ = line_;
  }
  line_.clear();
  return out_;
}

void TextForm::convert_lines(std::string_view bytes) {
  for (;;) {
    const std::size_t end = bytes.find('\n');
    line_.append(bytes.substr(0, end));
    if (line_.size() > max_size) {
      out_ += line_;
      line_.clear();
    }
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    if (line_.ends_with('\r')) line_.pop_back();
    if (kind_ == Kind::field_lines) {
      field_line(line_);
      ++lines_;
      if (whole_.empty() || whole_.size() > max_size) end_message();
    } else {
      byte_array_line(line_);
      out_ += '\n';
    }
    line_.clear();
  }
}

// Which of the texts after a colon is the value follows from CheckSum.
void TextForm::field_line(std::string_view line) {
  const auto field = read_field_line(line);
  if (!field) {
    if (whole_.empty()) out_ += line;
    return;
  }
  if (field->tag == "8") {
    end_message();
  } else if (whole_.empty()) {
    out_ += line;
    return;
  }
  std::string_view stripped = field->value, inner = field->value;
  if (field->value.ends_with(')')) {
    if (const std::size_t open = field->value.rfind(" ("); open != std::string_view::npos) {
      stripped = field->value.substr(0, open);
      inner = field->value.substr(open + 2, field->value.size() - open - 3);
    }
  }
  // Wireshark says of a CheckSum whether it is correct.
  if (field->tag == "10") stripped = inner = field->value.substr(0, 3);
  add_field(stripped_, field->tag, stripped);
  add_field(whole_, field->tag, field->tag == "10" ? stripped : field->value);
  add_field(inner_, field->tag, inner);
  if (field->tag == "10") end_message();
}

// Line ends follow the message, so that its line number is that of its first line.
void TextForm::end_message() {
  if (!whole_.empty()) {
    const bool use_inner = !check_sum_fits(stripped_) && check_sum_fits(inner_);
    const bool use_whole = !check_sum_fits(stripped_) && check_sum_fits(whole_);
    out_ += use_whole ? whole_ : use_inner ? inner_ : stripped_;
  }
  out_.append(lines_, '\n');
  lines_ = 0;
  stripped_.clear();
  whole_.clear();
  inner_.clear();
}

void TextForm::byte_array_line(std::string_view line) {
  const std::size_t message = find_byte_array(line);
  const std::size_t begin = message == std::string_view::npos ? message : line.rfind('[', message);
  if (begin == std::string_view::npos) {
    out_ += line;
    return;
  }
  out_ += line.substr(0, begin);
  std::string_view rest = line.substr(begin + 1);
  const auto skip_blanks = [&] { rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size())); };
  for (;;) {
    skip_blanks();
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), byte);
    if (error != std::errc{} || byte > 255) break;
    out_ += static_cast<char>(byte);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    skip_blanks();
    if (!rest.starts_with(',')) break;
    rest.remove_prefix(1);
  }
  out_ += rest;
}

}  // namespace nfx::app
