// Credentials for the servers of a cluster and their users: an authority, one certificate that it signed
// for all servers, and an account of NATS with users, as the tool nsc makes them.
// Thread: any; no state. Cost: some keys. Errors: std::runtime_error, which names the file or the step.
//
//   admin    everything in the account: makes the streams
//   gateway  writes and reads the sessions of one stream and their leases; makes and removes nothing
//   reader   reads the stream, also by consumers; writes no session
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace nfx::app::cluster_tools {

struct CertificateFiles {
  std::filesystem::path authority;    // ca.pem
  std::filesystem::path certificate;  // server.pem: for the hosts, as a server and as a client
  std::filesystem::path key;          // server.key: only its owner may read it
};

// Writes the three files to the folder, over existing ones. Hosts are names and IPv4 addresses. The authority's key is
// not written anywhere.
[[nodiscard]] CertificateFiles make_certificates(const std::filesystem::path& folder,
                                                 const std::vector<std::string>& hosts);

inline constexpr std::array<std::string_view, 3> user_names = {"admin", "gateway", "reader"};

[[nodiscard]] std::filesystem::path credentials_file(const std::filesystem::path& folder, std::string_view user);

// Writes accounts.conf, which a server's configuration includes, and NAME.creds for each user; only their owner may
// read them. The keys that sign are not written anywhere.
void make_users(const std::filesystem::path& folder, const std::string& stream);

}  // namespace nfx::app::cluster_tools
