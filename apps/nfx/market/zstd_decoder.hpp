// Decompresses a stream of Zstandard frames with bounded memory. In a program built without libzstd (package
// libzstd-dev) the constructor throws.
// Thread: one owner. Cost: a call of the library per decode(). Errors: std::runtime_error with the library's reason.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace nfx::app::market {

class ZstdDecoder {
 public:
  ZstdDecoder();
  ~ZstdDecoder();
  ZstdDecoder(const ZstdDecoder&) = delete;
  ZstdDecoder& operator=(const ZstdDecoder&) = delete;

  struct Step {
    std::size_t consumed = 0;
    std::size_t produced = 0;
  };
  Step decode(std::span<const std::byte> in, std::span<std::byte> out);

  // Whether the last frame has ended, so that the stream may end here.
  [[nodiscard]] bool between_frames() const noexcept { return between_frames_; }

 private:
  void* stream_ = nullptr;
  bool between_frames_ = true;
};

}  // namespace nfx::app::market
