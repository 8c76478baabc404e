// Parses one HTTP/1.1 request from bytes as they arrive. A request is refused if two readers could disagree about its
// end. Such cases are Transfer-Encoding, a Content-Length that is not one plain number, a line that does not end with
// CR LF, a field over several lines, and bytes after the request. So no part of a request can be taken for another
// request.
// Thread: one. Cost: every byte is read at most three times; memory for the head and the body that `HttpSizes` allows.
// Lifetime: views of the reader, until begin(). Errors: a refusal with its status and text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nfx::control {

struct HttpSizes {
  std::size_t head_bytes = 8192;  // request line and fields, including the empty line
  std::size_t body_bytes = std::size_t{16} * 1024;
  std::size_t fields = 64;
};

// The fields with a meaning here. Each may occur once.
enum class HttpField : std::uint8_t {
  host,
  origin,
  authorization,
  if_match,
  content_type,
  content_length,
  transfer_encoding,
  connection,
  accept,
};
inline constexpr std::size_t http_field_count = 9;

struct HttpRequest {
  std::string_view method;
  std::string_view target;
  std::array<std::string_view, http_field_count> values{};
  std::array<bool, http_field_count> present{};
  std::string_view body;
  bool keep_alive = false;

  [[nodiscard]] std::string_view operator[](HttpField field) const noexcept {
    return values[static_cast<std::size_t>(field)];
  }
  [[nodiscard]] bool has(HttpField field) const noexcept { return present[static_cast<std::size_t>(field)]; }
};

// The connection ends after a refusal.
struct HttpRefusal {
  unsigned status = 0;
  std::string_view kind;
  std::string_view detail;
};

enum class HttpProgress : std::uint8_t { incomplete, complete, refused };

class HttpRequestReader {
 public:
  explicit HttpRequestReader(HttpSizes sizes = {}) : sizes_(sizes) {}

  void begin() noexcept;
  // Bytes after a complete request cause a refusal. After a refusal nothing is taken.
  HttpProgress take(std::string_view bytes);
  // Requires that it is complete.
  [[nodiscard]] const HttpRequest& request() const noexcept { return request_; }
  // Requires that it is refused.
  [[nodiscard]] const HttpRefusal& refusal() const noexcept { return refusal_; }

 private:
  bool find_end_of_head();
  bool read_head(std::string_view head);
  bool read_request_line(std::string_view line);
  bool read_field(std::string_view line);
  bool read_body_size();
  bool refuse(unsigned status, std::string_view kind, std::string_view detail) noexcept;
  bool malformed(std::string_view detail) noexcept { return refuse(400, "bad-request", detail); }

  HttpSizes sizes_;
  std::string received_;
  std::size_t scanned_ = 0;     // bytes of the head checked so far
  std::size_t line_begin_ = 0;  // start of the line being checked
  std::size_t head_size_ = 0;   // 0: the head has not ended
  std::size_t body_size_ = 0;
  std::size_t field_count_ = 0;
  HttpProgress progress_ = HttpProgress::incomplete;
  HttpRequest request_;
  HttpRefusal refusal_;
};

}  // namespace nfx::control
