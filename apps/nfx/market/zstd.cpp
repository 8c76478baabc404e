// Zstandard by libzstd.
#include <zstd.h>

#include <new>
#include <stdexcept>

#include "market/decompressor.hpp"

namespace nfx::app::market {
namespace {

class ZstdDecompressor final : public Decompressor {
 public:
  ZstdDecompressor() : stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc{};
  }
  ~ZstdDecompressor() override { ZSTD_freeDStream(stream_); }

  Step decode(std::span<const std::byte> in, std::span<std::byte> out) override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t result = ZSTD_decompressStream(stream_, &to, &from);
    if (ZSTD_isError(result) != 0) throw std::runtime_error(ZSTD_getErrorName(result));
    // Once a frame has begun, it lasts until the library reports its end. Between frames the library reads nothing
    // without input.
    if (from.pos != 0 || to.pos != 0) between_frames_ = result == 0;
    return {from.pos, to.pos};
  }

 private:
  ZSTD_DStream* stream_;
};

}  // namespace

std::unique_ptr<Decompressor> make_zstd_decompressor() { return std::make_unique<ZstdDecompressor>(); }

}  // namespace nfx::app::market
