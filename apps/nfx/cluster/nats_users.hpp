// An account of NATS with users, as the tool nsc makes them: signed tokens for the servers' configuration, and a file
// of credentials for each user. Thread: any; no state. Cost: a key for each user. Errors: std::runtime_error, which
// names the file or the step.
//
//   admin    everything in the account: makes the streams
//   gateway  writes and reads the sessions of one stream and their leases; makes and removes nothing
//   reader   reads the stream, also by consumers; writes no session
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

namespace nfx::app::cluster_tools {

inline constexpr std::array<std::string_view, 3> user_names = {"admin", "gateway", "reader"};

[[nodiscard]] std::filesystem::path credentials_file(const std::filesystem::path& folder, std::string_view user);

// Writes accounts.conf, which a server's configuration includes, and NAME.creds for each user; only their owner may
// read them. The keys that sign are not written anywhere.
void make_users(const std::filesystem::path& folder, const std::string& stream);

}  // namespace nfx::app::cluster_tools
