// A poll thread over one transport with TLS. Included by the files that instantiate it, one for each transport.
#pragma once

#include "engine/poll_thread_over.hpp"
#include "transport/tls_transport.hpp"

namespace nfx {

// A transport with TLS for the connections that are configured to use it.
template <Transport Inner>
class Encrypted {
 public:
  using Outer = TlsTransport<Inner>;
  template <class Options>
  Encrypted(const PollThreadOptions& thread, const Options& options)
      : transport_(transport_options(thread.config, options)),
        tls_(transport_, {.handshakes = handshake_limits(thread.config), .executor = thread.handshakes}) {}
  [[nodiscard]] Outer& outer() noexcept { return tls_; }
  [[nodiscard]] const Inner& inner() const noexcept { return transport_; }
  [[nodiscard]] std::optional<TlsCounters> tls_counters() const noexcept { return tls_.counters(); }

 private:
  Inner transport_;
  Outer tls_;
};

}  // namespace nfx
