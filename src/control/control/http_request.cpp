// The grammar of RFC 9112, without its ambiguous parts.
#include "control/http_request.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx::control {
namespace {

constexpr std::array<std::string_view, http_field_count> field_names{
    "host",       "origin", "authorization", "if-match", "content-type", "content-length", "transfer-encoding",
    "connection", "accept"};

bool same_word(std::string_view text, std::string_view lower_case) noexcept {
  return std::ranges::equal(text, lower_case, {}, lower);
}

bool is_name_char(char c) noexcept {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || others.contains(c);
}

bool is_name(std::string_view text) noexcept { return !text.empty() && std::ranges::all_of(text, is_name_char); }

std::string_view without_spaces(std::string_view text) noexcept { return trimmed(text, " \t"); }

// Whether a list, such as "keep-alive, Close", contains the word.
bool list_has(std::string_view list, std::string_view word) noexcept {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (same_word(without_spaces(list.substr(0, comma)), word)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

}  // namespace

void HttpRequestReader::begin() noexcept {
  received_.clear();
  scanned_ = line_begin_ = head_size_ = body_size_ = field_count_ = 0;
  progress_ = HttpProgress::incomplete;
  request_ = {};
  refusal_ = {};
}

bool HttpRequestReader::refuse(unsigned status, std::string_view kind, std::string_view detail) noexcept {
  progress_ = HttpProgress::refused;
  request_ = {};
  refusal_ = {.status = status, .kind = kind, .detail = detail};
  return false;
}

HttpProgress HttpRequestReader::take(std::string_view bytes) {
  if (progress_ == HttpProgress::refused || bytes.empty()) return progress_;
  // One byte more than the maximum is enough to refuse a request.
  const std::size_t most = sizes_.head_bytes + sizes_.body_bytes + 1;
  NFX_ASSERT(received_.size() <= most);
  received_.append(bytes.substr(0, most - received_.size()));
  if (head_size_ == 0) {
    if (!find_end_of_head() || !read_head(std::string_view{received_}.substr(0, head_size_))) return progress_;
  }
  const std::size_t size = head_size_ + body_size_;
  if (received_.size() > size) {
    malformed("bytes follow the request: send the next one after its answer, and a body with its Content-Length");
    return progress_;
  }
  if (received_.size() < size) return progress_;
  // The buffer may have moved since the head was read.
  field_count_ = 0;
  request_ = {};
  if (!read_head(std::string_view{received_}.substr(0, head_size_))) return progress_;
  request_.body = std::string_view{received_}.substr(head_size_);
  return progress_ = HttpProgress::complete;
}

// False if the head has not ended, or is refused.
bool HttpRequestReader::find_end_of_head() {
  for (; scanned_ < received_.size(); ++scanned_) {
    if (scanned_ == sizes_.head_bytes)
      return refuse(431, "header-too-large", "expected at most 8 KiB of request line and headers");
    const char c = received_[scanned_];
    const bool after_cr = scanned_ != 0 && received_[scanned_ - 1] == '\r';
    if (after_cr != (c == '\n')) return malformed("this is not an HTTP request: each line ends with CR and LF");
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\r' && c != '\n' && c != '\t') || byte == 0x7f)
      return malformed("this is not an HTTP request: it has a control character");
    if (c != '\n') continue;
    const bool empty = scanned_ - line_begin_ == 1;
    line_begin_ = scanned_ + 1;
    if (!empty) continue;
    head_size_ = line_begin_;
    return true;
  }
  return false;
}

bool HttpRequestReader::read_head(std::string_view head) {
  for (bool first = true; !head.empty(); first = false) {
    const std::size_t end = head.find("\r\n");
    NFX_ASSERT(end != std::string_view::npos);
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 2);
    if (first ? !read_request_line(line) : !line.empty() && !read_field(line)) return false;
  }
  return read_body_size();
}

bool HttpRequestReader::read_request_line(std::string_view line) {
  const std::size_t one = line.find(' ');
  const std::size_t two = one == std::string_view::npos ? one : line.find(' ', one + 1);
  if (two == std::string_view::npos) return malformed("this is not an HTTP request");
  request_.method = line.substr(0, one);
  request_.target = line.substr(one + 1, two - one - 1);
  const std::string_view version = line.substr(two + 1);
  if (!is_name(request_.method)) return malformed("this is not an HTTP request: its method is not a word");
  const auto visible = [](char c) { return c > ' ' && c < '\x7f'; };
  if (!request_.target.starts_with('/') || !std::ranges::all_of(request_.target, visible))
    return malformed("expected a percent-encoded path that begins with '/' as target");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return malformed("expected HTTP/1.1");
  // The answer to HEAD has a body here, like every answer, so no request can follow it.
  request_.keep_alive = version == "HTTP/1.1" && request_.method != "HEAD";
  return true;
}

bool HttpRequestReader::read_field(std::string_view line) {
  if (++field_count_ > sizes_.fields) return refuse(431, "header-too-large", "expected at most 64 header fields");
  if (line.front() == ' ' || line.front() == '\t') return malformed("expected each header field on one line");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_name(line.substr(0, colon)))
    return malformed("expected header fields as 'Name: value', without a space before the colon");
  const std::string_view name = line.substr(0, colon);
  for (std::size_t i = 0; i < http_field_count; ++i) {
    if (!same_word(name, field_names[i])) continue;
    // Two fields of these could mean different things to different readers. For Accept, the first one counts.
    if (request_.present[i] && static_cast<HttpField>(i) == HttpField::accept) continue;
    if (request_.present[i]) return malformed("duplicate header field");
    request_.present[i] = true;
    request_.values[i] = without_spaces(line.substr(colon + 1));
  }
  return true;
}

bool HttpRequestReader::read_body_size() {
  if (request_.has(HttpField::transfer_encoding))
    return malformed("send the body's size as Content-Length, without Transfer-Encoding");
  if (list_has(request_[HttpField::connection], "close")) request_.keep_alive = false;
  if (!request_.has(HttpField::content_length)) return true;
  const std::string_view text = request_[HttpField::content_length];
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  const bool plain =
      !text.empty() && text.front() >= '0' && text.front() <= '9' && (text.size() == 1 || text[0] != '0');
  if (!plain || error != std::errc{} || end != text.data() + text.size())
    return malformed("expected Content-Length as one number, without sign, spaces or leading zeros");
  if (size > sizes_.body_bytes) return refuse(413, "too-large", "expected a body of at most 16 KiB");
  if (size != 0 && (request_.method == "GET" || request_.method == "HEAD"))
    return malformed("expected no body in a request that reads");
  body_size_ = static_cast<std::size_t>(size);
  return true;
}

}  // namespace nfx::control
