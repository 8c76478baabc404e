// Issues the certificates of the rows with TLS, once per process.
#include "transport/ping_pong.hpp"
#include "transport/tls_certificates.hpp"

namespace nfx::bench {

const Encryption& encryption() {
  struct Made {
    nfx::test::TemporaryFolder folder;
    nfx::testing::Authority authority{folder};
    nfx::testing::Authority::Files certificate = authority.issue({});
    Encryption encryption;
    Made() {
      encryption.server.certificate = certificate.certificate;
      encryption.server.key = certificate.key;
      encryption.client.ca = authority.file();
      encryption.server.min_version = encryption.client.min_version = TlsVersion::tls_1_3;
    }
  };
  static const Made made;
  return made.encryption;
}

}  // namespace nfx::bench
