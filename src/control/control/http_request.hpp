// Reads one HTTP/1.1 request out of bytes as they arrive. A request that two readers could end at different bytes is
// refused: Transfer-Encoding, a Content-Length that is not one plain number, a line that ends without CR LF, a field
// over several lines, bytes after the request. So no part of one can be taken for a request of its own.
// Thread: one. Cost: every byte is read three times at most; memory for the head and the body that `HttpSizes`
// allows. Lifetime: views of the reader, until begin(). Errors: a refusal with its status and text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nfx::control {

struct HttpSizes {
  std::size_t head_bytes = 8192;  // request line and fields, with the empty line
  std::size_t body_bytes = std::size_t{16} * 1024;
  std::size_t fields = 64;
};

// The fields that mean something here. Each may be there once.
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

// The connection ends after it.
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
  // Bytes after a complete request refuse it. After a refusal nothing is taken.
  HttpProgress take(std::string_view bytes);
  // Once it is complete.
  [[nodiscard]] const HttpRequest& request() const noexcept { return request_; }
  // Once it is refused.
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
  std::size_t scanned_ = 0;     // bytes of the head that were checked
  std::size_t line_begin_ = 0;  // of the line that is being checked
  std::size_t head_size_ = 0;   // 0: it has not ended
  std::size_t body_size_ = 0;
  std::size_t field_count_ = 0;
  HttpProgress progress_ = HttpProgress::incomplete;
  HttpRequest request_;
  HttpRefusal refusal_;
};

}  // namespace nfx::control
