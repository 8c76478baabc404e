// Everything that a server sends passes ServerBytes before libnats parses it, decrypted if there is TLS. This library
// defines natsParser_Parse() and natsSock_Read(), which libnats exports and calls through its table of symbols, and
// calls the originals.
// Thread: libnats' threads. Cost: as ServerBytes. Errors: a connection that sends something else ends.
#pragma once

#include <nats/nats.h>

namespace nfx::nats {

// For this process: some bytes of a server were checked. After the first answer of a server it is true; otherwise this
// libnats does not let its input be checked, and must not be used.
[[nodiscard]] bool input_is_checked() noexcept;

// While a thread connects: bounds what a server can have it read, and ends reads that fail again and again. libnats
// before 3.8 repeats them for ever, and stores a byte each time.
class ConnectingThread {
 public:
  ConnectingThread() noexcept;
  ~ConnectingThread();
  ConnectingThread(const ConnectingThread&) = delete;
  ConnectingThread& operator=(const ConnectingThread&) = delete;

  // The status of the attempted connection: NATS_TIMEOUT for a server that has not answered, whatever libnats made of
  // it.
  [[nodiscard]] natsStatus status_of(natsStatus status) const noexcept;
};

}  // namespace nfx::nats
