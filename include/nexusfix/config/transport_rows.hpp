// The transports that a configuration can name. To add one, write its row here and
// src/engine/engine/poll_thread_<name>.cpp, which defines `const TransportMakers <name>_makers`
// (src/engine/engine/poll_thread_makers.hpp). The value of `transport`, its help, its documentation and the engine's
// choice are made from the rows.
//
// Thread: values.
#pragma once

#include <cstdint>
#include <string_view>

#include "nexusfix/base/language.hpp"

// The name, and for the help of the key what it is.
#define NFX_TRANSPORTS(row)                       \
  row(epoll, "system calls per read and write. ") \
      row(io_uring, "a shared ring with the kernel, or epoll where the kernel lacks it. ")

namespace nfx {

#define NFX_TRANSPORT_KIND(name, help) name,
enum class TransportKind : std::uint8_t {
  automatic,  // epoll
  NFX_TRANSPORTS(NFX_TRANSPORT_KIND)
};
#undef NFX_TRANSPORT_KIND

[[nodiscard]] std::string_view to_string(TransportKind kind) noexcept;

}  // namespace nfx
