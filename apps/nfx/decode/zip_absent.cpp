// Replaces zip_archive.cpp in a build without libzip.
#include <stdexcept>

#include "decode/byte_stream.hpp"

namespace nfx::app {

std::vector<LogFile> files_in_archive(const std::string& path) {
  throw std::runtime_error(path +
                           ": nfx was built without libzip: install the package libzip-dev and build again, or unpack "
                           "the archive first");
}

std::unique_ptr<ByteStream> open_archived(const LogFile& file) {
  static_cast<void>(files_in_archive(file.path));
  return nullptr;
}

}  // namespace nfx::app
