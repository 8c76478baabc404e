// Whether addresses could be listened on, all together, before anything depends on it.
// Thread: one owner. Cost: some system calls an address, and a name look-up where the host is a name; a descriptor for
// each until the end. Errors: a TransportError.
#pragma once

#include <cstdint>
#include <expected>
#include <vector>

#include "transport/transport.hpp"

namespace nfx {

// Binds each address that it tries, and releases all at its end. A peer that connects meanwhile is refused, as before a
// start. Of addresses with the same port those before the last are listened on too: only then is one that includes
// another, such as 0.0.0.0:9878 and 127.0.0.1:9878, in use, as at a start.
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
