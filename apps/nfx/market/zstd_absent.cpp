// Replaces zstd_decoder.cpp in a build without libzstd.
#include <stdexcept>

#include "market/zstd_decoder.hpp"

namespace nfx::app::market {

ZstdDecoder::ZstdDecoder() {
  throw std::runtime_error(
      "the file is compressed with Zstandard, and nfx was built without libzstd: install the package libzstd-dev and "
      "build again, or run 'zstd -d' first");
}

ZstdDecoder::~ZstdDecoder() { static_cast<void>(stream_); }

ZstdDecoder::Step ZstdDecoder::decode(std::span<const std::byte>, std::span<std::byte>) { return {}; }

}  // namespace nfx::app::market
