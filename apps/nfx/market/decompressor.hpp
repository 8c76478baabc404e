// Decompresses a stream of Zstandard or gzip frames with bounded memory.
// Thread: one owner. Cost: a call of the library per decode(). Errors: std::runtime_error with the library's reason; in
// a program built without the library, making one throws and names the package.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace nfx::app::market {

class Decompressor {
 public:
  struct Step {
    std::size_t consumed = 0;
    std::size_t produced = 0;
  };

  Decompressor() = default;
  virtual ~Decompressor() = default;
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  virtual Step decode(std::span<const std::byte> in, std::span<std::byte> out) = 0;
  // Whether the last frame has ended, so that the stream may end here.
  [[nodiscard]] bool between_frames() const noexcept { return between_frames_; }

 protected:
  bool between_frames_ = true;
};

[[nodiscard]] std::unique_ptr<Decompressor> make_zstd_decompressor();
[[nodiscard]] std::unique_ptr<Decompressor> make_gzip_decompressor();

}  // namespace nfx::app::market
