// Pairs of ends with TLS around them, for the tests.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "nexusfix/transport/tls_transport.hpp"
#include "transport/tls_certificates.hpp"
#include "transport/transport_testing.hpp"

namespace nfx::testing {

inline std::shared_ptr<TlsContext> tls(const TlsOptions& options) { return std::make_shared<TlsContext>(options); }

// One authority and a certificate of each kind; made once per process, as keys take time.
struct TestCertificates {
  TemporaryFolder folder;
  Authority authority{folder};
  Authority::Files server = authority.issue({});
  Authority::Files client = authority.issue(client_wish());

  static CertificateWish client_wish() {
    CertificateWish wish;
    wish.name = "desk";
    wish.alternative_names = "DNS:desk.example,URI:fix:DESK";
    return wish;
  }
  static TestCertificates& get() {
    static TestCertificates made;
    return made;
  }
  // What a server and a client say that have nothing special to say.
  [[nodiscard]] TlsOptions server_options() const {
    TlsOptions options;
    options.certificate = server.certificate;
    options.key = server.key;
    options.ca = authority.file();
    return options;
  }
  [[nodiscard]] TlsOptions client_options() const {
    TlsOptions options;
    options.ca = authority.file();
    return options;
  }
};

template <class InnerEnds>
struct TlsEnds {
  explicit TlsEnds(const TlsTransportOptions& options = {})
      : server(inner.server, options, [this] { return now; }), client(inner.client, options, [this] { return now; }) {}
  InnerEnds inner;
  MonotonicTime now{};
  TlsTransport<decltype(InnerEnds::server)> server;
  TlsTransport<decltype(InnerEnds::client)> client;
  Duration idle_wait = inner.idle_wait;
  // Good for both sides of a connection to 127.0.0.1.
  std::shared_ptr<TlsContext> default_tls = tls(TestCertificates::get().server_options());
  static std::string missing() { return InnerEnds::missing(); }
  void advance() { inner.advance(); }
};

using TlsTcpPair = Pair<TlsEnds<TcpEnds<EpollKind>>>;
using TlsIoUringPair = Pair<TlsEnds<TcpEnds<IoUringKind>>>;
using TlsLoopbackPair = Pair<TlsEnds<LoopbackEnds>>;
using TlsFaultyTcpPair = Pair<TlsEnds<FaultyEnds<TcpEnds<EpollKind>>>>;
using TlsFaultyLoopbackPair = Pair<TlsEnds<FaultyEnds<LoopbackEnds>>>;

}  // namespace nfx::testing
