// Zstandard by libzstd.
#include "market/zstd_decoder.hpp"

#include <zstd.h>

#include <new>
#include <stdexcept>
#include <string>

namespace nfx::app::market {

ZstdDecoder::ZstdDecoder() : stream_(ZSTD_createDStream()) {
  if (stream_ == nullptr) throw std::bad_alloc{};
}

ZstdDecoder::~ZstdDecoder() { ZSTD_freeDStream(static_cast<ZSTD_DStream*>(stream_)); }

ZstdDecoder::Step ZstdDecoder::decode(std::span<const std::byte> in, std::span<std::byte> out) {
  ZSTD_inBuffer from{in.data(), in.size(), 0};
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  const std::size_t result = ZSTD_decompressStream(static_cast<ZSTD_DStream*>(stream_), &to, &from);
  if (ZSTD_isError(result) != 0) throw std::runtime_error(ZSTD_getErrorName(result));
  // Once a frame has begun, it lasts until the library reports its end. Between frames the library reads nothing
  // without input.
  if (from.pos != 0 || to.pos != 0) between_frames_ = result == 0;
  return {from.pos, to.pos};
}

}  // namespace nfx::app::market
