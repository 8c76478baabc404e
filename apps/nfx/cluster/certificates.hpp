// Certificates of a cluster on one host: an authority, and one certificate for loopback that it signed.
// Thread: any; no state. Cost: two keys. Errors: std::runtime_error, which names the file or the step.
#pragma once

#include <filesystem>

namespace nfx::app::cluster_tools {

struct CertificateFiles {
  std::filesystem::path authority;    // ca.pem
  std::filesystem::path certificate;  // server.pem: for localhost and 127.0.0.1, as a server and as a client
  std::filesystem::path key;          // server.key: only its owner may read it
};

// Writes the three files to the folder, over those that are there. The authority's key is not written anywhere.
[[nodiscard]] CertificateFiles make_certificates(const std::filesystem::path& folder);

}  // namespace nfx::app::cluster_tools
