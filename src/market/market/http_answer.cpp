// Reads the head of an answer, then its body in one of three forms.
#include "market/http_answer.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/text.hpp"
#include "market/http_text.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx::market {

namespace {

std::optional<std::uint64_t> number_in(std::string_view text, int base) noexcept {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

HttpAnswer::HttpAnswer(const HttpLimits& limits)
    : limits_(limits),
      head_(std::make_unique_for_overwrite<char[]>(limits.head)),
      body_(std::make_unique_for_overwrite<char[]>(limits.body + json_padding)) {}

HttpState HttpAnswer::received(std::string_view bytes) noexcept {
  while (answer_.state == HttpState::reading && !bytes.empty()) {
    switch (answer_.part) {
      case Part::head:
      case Part::chunk_size:
      case Part::chunk_end:
      case Part::trailer:
        if (!take_line(bytes)) return answer_.state;
        break;
      case Part::sized:
        if (!take_body(bytes, answer_.left)) break;
        if (answer_.left == 0) answer_.state = HttpState::complete;
        break;
      case Part::until_end: (void)take_body(bytes, bytes.size()); break;
      case Part::chunk:
        if (take_body(bytes, answer_.left) && answer_.left == 0) answer_.part = Part::chunk_end;
        break;
    }
  }
  return answer_.state;
}

HttpState HttpAnswer::ended() noexcept {
  if (answer_.state != HttpState::reading) return answer_.state;
  answer_.state = answer_.part == Part::until_end ? HttpState::complete : HttpState::failed;
  return answer_.state;
}

// Takes bytes up to the end of a line, or of the whole head. True: the line is complete and was processed.
bool HttpAnswer::take_line(std::string_view& bytes) noexcept {
  const std::string_view wanted = answer_.part == Part::head ? "\r\n\r\n" : "\r\n";
  while (!bytes.empty()) {
    if (answer_.head_size == limits_.head) {
      fail();
      return false;
    }
    head_[answer_.head_size++] = bytes.front();
    bytes.remove_prefix(1);
    const std::string_view line{head_.get(), answer_.head_size};
    if (!line.ends_with(wanted)) continue;
    switch (answer_.part) {
      case Part::head: read_head(); break;
      case Part::chunk_size: read_chunk_size(); break;
      case Part::chunk_end: line.size() == 2 ? void(answer_.part = Part::chunk_size) : fail(); break;
      case Part::trailer:
        if (line.size() == 2) answer_.state = HttpState::complete;
        break;
      case Part::sized:
      case Part::until_end:
      case Part::chunk: NFX_ASSERT(false); break;
    }
    answer_.head_size = 0;
    return answer_.state == HttpState::reading;
  }
  return false;
}

void HttpAnswer::read_head() noexcept {
  std::string_view lines{head_.get(), answer_.head_size - 2};
  const auto status = http_text::take_status(lines);
  if (!status) return fail();
  answer_.status = *status;
  std::optional<std::uint64_t> length;
  bool chunked = false;
  while (!lines.empty()) {
    const auto header = http_text::take_header(lines);
    if (!header) return fail();
    if (same_ignoring_case(header->name, "Content-Length")) {
      const auto given = number_in(header->value, 10);
      if (!given || (length && *length != *given)) return fail();
      length = given;
    } else if (same_ignoring_case(header->name, "Transfer-Encoding")) {
      if (chunked || !same_ignoring_case(header->value, "chunked")) return fail();
      chunked = true;
    } else if (same_ignoring_case(header->name, "Content-Encoding")) {
      if (!same_ignoring_case(header->value, "identity")) return fail();
    }
  }
  if (chunked && length) return fail();  // two lengths: who sent this is not to be trusted
  if (length && *length > limits_.body) return fail();
  answer_.part = chunked ? Part::chunk_size : length ? Part::sized : Part::until_end;
  answer_.left = length.value_or(0);
  if (length && *length == 0) answer_.state = HttpState::complete;
}

void HttpAnswer::read_chunk_size() noexcept {
  std::string_view line{head_.get(), answer_.head_size - 2};
  line = http_text::without_spaces(line.substr(0, line.find(';')));
  const auto size = number_in(line, 16);
  if (!size || *size > limits_.body - answer_.body_size) return fail();
  answer_.left = *size;
  answer_.part = *size == 0 ? Part::trailer : Part::chunk;
}

bool HttpAnswer::take_body(std::string_view& bytes, std::uint64_t most) noexcept {
  const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), most));
  if (size > limits_.body - answer_.body_size) {
    fail();
    return false;
  }
  std::memcpy(body_.get() + answer_.body_size, bytes.data(), size);
  answer_.body_size += size;
  if (answer_.part != Part::until_end) answer_.left -= size;
  bytes.remove_prefix(size);
  return true;
}

}  // namespace nfx::market
