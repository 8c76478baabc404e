// Certificates of a cluster: an authority, and one certificate that it signed for all servers.
// Thread: any; no state. Cost: two keys. Errors: std::runtime_error, which names the file or the step.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nfx::app::cluster_tools {

struct CertificateFiles {
  std::filesystem::path authority;    // ca.pem
  std::filesystem::path certificate;  // server.pem: for the hosts, as a server and as a client
  std::filesystem::path key;          // server.key: only its owner may read it
};

// Writes the three files to the folder, over those that are there. Hosts are names and IPv4 addresses. The authority's
// key is not written anywhere.
[[nodiscard]] CertificateFiles make_certificates(const std::filesystem::path& folder,
                                                 const std::vector<std::string>& hosts);

}  // namespace nfx::app::cluster_tools
