// The answer to one HTTP/1.1 GET over bytes: status and body, by Content-Length, chunks, or the end of the connection.
// Thread: one owner. Cost: one pass and one copy of the body; no allocation after construction. Lifetime: the body is
// valid until begin(), and is followed by 64 readable bytes for simdjson. Errors: HttpState::failed, after which
// nothing is read. Bounds: HttpLimits. Redirects, compression and trailers are not used: a trailer is skipped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "market/json_message.hpp"

namespace nfx::market {

struct HttpLimits {
  std::size_t head = 16u << 10;
  std::size_t body = 4u << 20;
};

enum class HttpState : std::uint8_t { reading, complete, failed };

class HttpAnswer {
 public:
  explicit HttpAnswer(const HttpLimits& limits);

  // Forgets the last answer.
  void begin() noexcept { answer_ = {}; }
  // The next bytes; what follows the answer is left out.
  HttpState received(std::string_view bytes) noexcept;
  // The connection has ended.
  HttpState ended() noexcept;

  [[nodiscard]] HttpState state() const noexcept { return answer_.state; }
  [[nodiscard]] int status() const noexcept { return answer_.status; }
  [[nodiscard]] JsonBytes body() const noexcept {
    return {body_.get(), answer_.body_size, answer_.body_size + json_padding};
  }

 private:
  enum class Part : std::uint8_t { head, sized, until_end, chunk_size, chunk, chunk_end, trailer };

  void read_head() noexcept;
  void read_chunk_size() noexcept;
  bool take_line(std::string_view& bytes) noexcept;
  bool take_body(std::string_view& bytes, std::uint64_t most) noexcept;
  void fail() noexcept { answer_.state = HttpState::failed; }

  // The state of one answer.
  struct Answer {
    HttpState state = HttpState::reading;
    Part part = Part::head;
    int status = 0;
    std::size_t head_size = 0;  // of the head, or of an unfinished line
    std::size_t body_size = 0;
    std::uint64_t left = 0;  // of the body, or of the chunk
  };

  HttpLimits limits_;
  std::unique_ptr<char[]> head_;
  std::unique_ptr<char[]> body_;
  Answer answer_;
};

}  // namespace nfx::market
