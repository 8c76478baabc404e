// Tests whether all addresses can be listened on, before anything depends on it.
// Thread: one owner. Cost: some system calls per address, and a look-up for a host name; a descriptor for each until
// the end. Errors: a TransportError.
#pragma once

#include <cstdint>
#include <expected>
#include <vector>

#include "transport/transport.hpp"

namespace nfx {

// Binds each address, and releases all in its destructor. A peer that connects meanwhile is refused, as before a start.
// If several addresses have the same port, all but the last are also listened on. Only then does an overlap, such as
// 0.0.0.0:9878 and 127.0.0.1:9878, fail as it would at a start.
class ListenTrial {
 public:
  ListenTrial() = default;
  ListenTrial(const ListenTrial&) = delete;
  ListenTrial& operator=(const ListenTrial&) = delete;
  ~ListenTrial();

  [[nodiscard]] std::expected<void, TransportError> bind(const Endpoint& endpoint);

 private:
  struct Bound {
    std::uint16_t port;
    int descriptor;
  };
  std::vector<Bound> bound_;
};

}  // namespace nfx
