// Instantiates the poll loop for AF_XDP, where the packages are installed that it is made with.
#include "engine/poll_thread_makers.hpp"

#ifdef NFX_WITH_AF_XDP

#include <system_error>

#include "engine/poll_thread_over.hpp"
#include "transport/xdp_transport.hpp"

namespace nfx {

template class PollLoop<XdpTransport, CounterClock<>>;
template class PollLoop<TlsTransport<XdpTransport>, CounterClock<>>;

namespace {

XdpOptions af_xdp_options(const EngineConfig& config) { return {.address = config.af_xdp}; }

TransportProbe probe(const EngineConfig& config) {
  if (config.poll_threads > 1) throw std::invalid_argument("lwIP has one stack per process: set poll_threads = 1");
  check_xdp_options(af_xdp_options(config));
  return {.available = true, .text = "af_xdp: " + config.af_xdp};
}

constexpr TransportMakers makers = makers_over<XdpTransport, af_xdp_options>();

// What the host lacks is for the operator to fix.
std::unique_ptr<PollThread> make(decltype(makers.plain) maker, const PollThreadOptions& options) {
  try {
    return maker(options);
  } catch (const std::system_error& error) {
    throw ConfigError(std::string{"af_xdp: "} + error.what());
  }
}

}  // namespace

const TransportMakers af_xdp_makers{
    .plain = [](const PollThreadOptions& options) { return make(makers.plain, options); },
    .with_tls = [](const PollThreadOptions& options) { return make(makers.with_tls, options); },
    .probe = probe};

}  // namespace nfx

#else

#include <stdexcept>

namespace nfx {

const TransportMakers af_xdp_makers{
    .plain = nullptr, .with_tls = nullptr, .probe = [](const EngineConfig&) -> TransportProbe {
      throw std::invalid_argument(
          "this nfx was built without it: install libxdp-dev, libbpf-dev and liblwip-dev, and build again");
    }};

}  // namespace nfx

#endif
