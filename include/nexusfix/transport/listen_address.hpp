// Whether addresses could be listened on, all together, before anything depends on it.
// Thread: one owner. Cost: some system calls an address, and a name look-up where the host is a name; a descriptor for
// each until the end. Errors: a TransportError.
#pragma once

#include <expected>
#include <vector>

#include "nexusfix/transport/transport.hpp"

namespace nfx {

// Listens on each address that it tries and accepts nothing; all are released at its end. An address that includes
// another one, such as 0.0.0.0:9878 and 127.0.0.1:9878, is in use then, as at a start.
class ListenTrial {
 public:
  ListenTrial() = default;
  ListenTrial(const ListenTrial&) = delete;
  ListenTrial& operator=(const ListenTrial&) = delete;
  ~ListenTrial();

  [[nodiscard]] std::expected<void, TransportError> listen(const Endpoint& endpoint);

 private:
  std::vector<int> descriptors_;
};

}  // namespace nfx
