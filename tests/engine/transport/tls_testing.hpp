// Pairs of ends with TLS, for the tests.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "engine/handshake_queue.hpp"
#include "transport/tls_certificates.hpp"
#include "transport/tls_transport.hpp"
#include "transport/transport_testing.hpp"

namespace nfx::testing {

inline std::shared_ptr<TlsContext> tls(const TlsOptions& options) { return std::make_shared<TlsContext>(options); }

// One authority and a certificate of each kind; created once per process, because keys take time.
struct TestCertificates {
  test::TemporaryFolder folder;
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
  // The options of an ordinary server and client.
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
  // A client with a certificate of its own.
  [[nodiscard]] TlsOptions desk_options() const {
    TlsOptions options = client_options();
    options.certificate = client.certificate;
    options.key = client.key;
    return options;
  }
};

inline TestCertificates& certificates() { return TestCertificates::get(); }

inline void expect_text(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << text << "\" lacks \"" << part << "\"";
}

// Two ends with faults only on the client's side, so that the server sees the real effects of a network on its peer.
struct WeatherEnds {
  explicit WeatherEnds(const FaultOptions& faults) : client(client_inner, faults, [this] { return now; }) {}
  MonotonicTime now{};
  LoopbackNetwork network;
  LoopbackTransport server{network};
  LoopbackTransport client_inner{network};
  FaultyTransport<LoopbackTransport> client;
  Duration idle_wait = 0ns;
  static std::string missing() { return {}; }
  void advance() { now += 1ms; }
};

template <class InnerEnds>
struct TlsEnds {
  template <class... Args>
  explicit TlsEnds(const TlsTransportOptions& options = {}, const Args&... of_inner)
      : inner(of_inner...),
        server(inner.server, options, [this] { return now; }),
        client(inner.client, options, [this] { return now; }) {}
  InnerEnds inner;
  MonotonicTime now{};
  TlsTransport<decltype(InnerEnds::server)> server;
  TlsTransport<decltype(InnerEnds::client)> client;
  Duration idle_wait = inner.idle_wait;
  // Valid for both sides of a connection to 127.0.0.1.
  std::shared_ptr<TlsContext> default_tls = tls(TestCertificates::get().server_options());
  static std::string missing() { return InnerEnds::missing(); }
  void advance() { inner.advance(); }
};

// The thread for handshakes of an engine.
struct HandshakeThread {
  HandshakeQueue queue;
  HelperWatch watch;
  std::thread thread{[this] { queue.run(IdleMode::block, watch); }};
  ~HandshakeThread() {
    queue.end();
    thread.join();
  }
};

// Both ends have their handshakes computed on another thread.
template <class InnerEnds>
struct ThreadedTlsEnds : HandshakeThread, TlsEnds<InnerEnds> {
  explicit ThreadedTlsEnds(TlsTransportOptions options = {})
      : TlsEnds<InnerEnds>((options.executor = &queue, options)) {}
};

// Sockets are encrypted by default.
template <class InnerEnds, template <class> class Ends = TlsEnds>
struct TlsPair : Pair<Ends<InnerEnds>> {
  template <class... Args>
  explicit TlsPair(const Args&... args) : Pair<Ends<InnerEnds>>(args...) {
    this->socket.tls = this->default_tls;
  }
};

using TlsTcpPair = TlsPair<TcpEnds<EpollKind>>;
using TlsIoUringPair = TlsPair<TcpEnds<IoUringKind>>;
using TlsLoopbackPair = TlsPair<LoopbackEnds>;
using TlsFaultyTcpPair = TlsPair<FaultyEnds<TcpEnds<EpollKind>>>;
using TlsFaultyLoopbackPair = TlsPair<FaultyEnds<LoopbackEnds>>;
using ThreadedTlsTcpPair = TlsPair<TcpEnds<EpollKind>, ThreadedTlsEnds>;
using ThreadedTlsIoUringPair = TlsPair<TcpEnds<IoUringKind>, ThreadedTlsEnds>;
using ThreadedTlsLoopbackPair = TlsPair<LoopbackEnds, ThreadedTlsEnds>;
using TlsWeatherPair = TlsPair<WeatherEnds>;

}  // namespace nfx::testing
