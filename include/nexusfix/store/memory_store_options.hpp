// The limits of a store in memory.
// Thread: values.
#pragma once

#include <cstddef>

#include "nexusfix/base/language.hpp"

namespace nfx {

struct MemoryStoreOptions {
  std::size_t retain_messages = 65536;          // numbers back from the last one appended; 0 stores no message
  std::size_t retain_bytes = 16 * 1024 * 1024;  // below 4 GiB
};

}  // namespace nfx
