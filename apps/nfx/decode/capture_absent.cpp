// Replaces capture.cpp in a build without libpcap.
#include <stdexcept>

#include "decode/capture.hpp"

namespace nfx::app {

std::unique_ptr<MessageSource> open_capture(std::unique_ptr<ByteStream> /*bytes*/, std::string_view /*first*/,
                                            const LogFile& file, const LogReaderHooks& /*hooks*/) {
  throw std::runtime_error(file.name +
                           ": nfx was built without libpcap: install the package libpcap-dev and build again");
}

}  // namespace nfx::app
