// nfx cluster secrets: certificates and users for nats-servers on other hosts or in containers.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error_text.hpp"
#include "cluster/credentials.hpp"
#include "cluster/options.hpp"
#include "command.hpp"
#include "output.hpp"

namespace nfx::app::cluster_tools {
namespace {

struct SecretsOptions {
  std::string folder;
  std::vector<std::string> hosts;
  std::string stream = "NEXUSFIX";
};

int run_secrets(const SecretsOptions& options) {
  namespace fs = std::filesystem;
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.*";
  for (const std::string& host : options.hosts)
    if (host.empty() || host.find_first_not_of(allowed) != std::string::npos)
      throw cli::UsageError("--hosts: " + host + " is not a name or an IPv4 address of a host");
  if (options.stream.empty() || options.stream.find_first_not_of(allowed.substr(0, 64)) != std::string::npos)
    throw cli::UsageError("--stream: use letters, digits, - and _");
  const fs::path folder = options.folder;
  std::error_code error;
  if (fs::create_directories(folder, error)) fs::permissions(folder, fs::perms::owner_all, error);
  if (!fs::is_directory(folder)) throw std::runtime_error("--folder: " + cannot("make folder", folder, error.value()));
  // Servers and gateways that run have these; others would not be accepted any more.
  if (fs::exists(folder / "accounts.conf"))
    throw std::runtime_error((folder / "accounts.conf").string() +
                             " exists already: remove it, or choose another --folder");
  const CertificateFiles files = make_certificates(folder, options.hosts);
  make_users(folder, options.stream);
  SafeText out;
  out.add("for each server   {} {} {} {}\n", files.authority.string(), files.certificate.string(), files.key.string(),
          (folder / "accounts.conf").string());
  out.add("for gateways      {} {}\n", files.authority.string(), credentials_file(folder, "gateway").string());
  out.add("for readers       {} {}\n", files.authority.string(), credentials_file(folder, "reader").string());
  out.add("for init          {} {}\n", files.authority.string(), credentials_file(folder, "admin").string());
  print(out);
  return exit_done;
}

}  // namespace

cli::Command secrets_command() {
  static SecretsOptions options;
  return {
      .name = "secrets",
      .summary = "Make certificates and users for nats-servers; needs no server",
      .run = [] { return run_secrets(options); },
      .options =
          {{.names = "--folder",
            .target = &options.folder,
            .help = "Folder to write to; must not contain accounts.conf yet",
            .required = true,
            .kind = cli::Kind::folder},
           {.names = "--hosts",
            .target = &options.hosts,
            .help = "Names and addresses by which servers are reached, by gateways and by each other",
            .value = "NAMES",
            .required = true,
            .separator = ','},
           {.names = "--stream", .target = &options.stream, .help = "Stream that the users may use", .value = "NAME"}},
      .details =
          "Makes a certificate authority and one certificate for all servers, valid for a year, and the users admin, "
          "gateway and reader. The signing keys are not stored: to add a certificate or user later, make all of them "
          "again.",
      .examples = {{.line = "nfx cluster secrets --folder secrets --hosts nats-1,nats-2,nats-3",
                    .about = "for packaging/compose"}},
  };
}

}  // namespace nfx::app::cluster_tools
