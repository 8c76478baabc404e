// Replaces gzip.cpp in a build without zlib.
#include <stdexcept>

#include "market/decompressor.hpp"

namespace nfx::app::market {

std::unique_ptr<Decompressor> make_gzip_decompressor() {
  throw std::runtime_error(
      "the file is compressed with gzip, and nfx was built without zlib: install the package zlib1g-dev and build "
      "again, or run 'gzip -d' first");
}

}  // namespace nfx::app::market
