// Replaces zstd.cpp in a build without libzstd.
#include <stdexcept>

#include "market/decompressor.hpp"

namespace nfx::app::market {

std::unique_ptr<Decompressor> make_zstd_decompressor() {
  throw std::runtime_error(
      "the file is compressed with Zstandard, and nfx was built without libzstd: install the package libzstd-dev and "
      "build again, or run 'zstd -d' first");
}

}  // namespace nfx::app::market
