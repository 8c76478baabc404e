// Replaces zstd_decoder.cpp in a build without libzstd.
#include <stdexcept>

#include "market/zstd_decoder.hpp"

namespace nfx::app::market {

ZstdDecoder::ZstdDecoder() {
  throw std::runtime_error(
      "is compressed with Zstandard, and this nfx was built without it: install the package libzstd-dev and build "
      "again, or decompress the file with 'zstd -d' first");
}

ZstdDecoder::~ZstdDecoder() { static_cast<void>(stream_); }

ZstdDecoder::Step ZstdDecoder::decode(std::span<const std::byte>, std::span<std::byte>) { return {}; }

}  // namespace nfx::app::market
