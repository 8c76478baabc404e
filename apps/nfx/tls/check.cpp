// nfx tls check: our own certificate, key, authorities and revocation lists, without a network.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/private_files.hpp"
#include "command.hpp"
#include "config/quickfix_settings.hpp"
#include "config/tls_names.hpp"
#include "output.hpp"
#include "tls/tls.hpp"

namespace nfx::app::tls {
namespace {

struct CheckOptions {
  TlsOptions tls;
  std::string config;
  std::string peer;
  std::string name;
  std::string side = "server";
  std::string format = "text";
};

void check_own(Report& report, const CheckOptions& options) {
  const auto own = read_certificates(options.tls.certificate);
  if (!own) return report.add(Result::failure, "certificate", own.error());
  for (std::size_t i = 0; i < own->size(); ++i) {
    report.add_certificate(i == 0 ? "certificate" : "certificate " + std::to_string(i + 1), (*own)[i]);
  }
  const std::string& key = options.tls.key.empty() ? options.tls.certificate : options.tls.key;
  struct stat status{};
  if (::stat(key.c_str(), &status) == 0 && (status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    report.add(Result::warning, "key", open_to_others(key, status.st_mode, "read or change it", "600"));
  }
}

void check_authorities(Report& report, const TlsOptions& options) {
  std::error_code error;
  if (options.ca.empty() || std::filesystem::is_directory(options.ca, error)) return;
  const auto authorities = read_certificates(options.ca);
  if (!authorities) return;  // loading has already reported the reason
  for (const CertificateFacts& authority : *authorities) {
    if (authority.not_after < now()) {
      report.add(Result::warning, "authorities",
                 options.ca + ": " + authority.subject + " expired " + distance(authority.not_after, now()) +
                     "; get its successor");
    } else {
      report.add(Result::good, "authorities", authority.subject + ", valid until " + to_text(authority.not_after));
    }
  }
}

void check_revocations(Report& report, const TlsOptions& options) {
  for (const std::string& file : options.crl) {
    const auto lists = read_revocations(file);
    if (!lists) continue;  // loading has already reported the reason
    for (const RevocationFacts& list : *lists) {
      report.add(Result::good, "revocation list",
                 list.issuer + ": " + std::to_string(list.revoked) + " revoked, to be replaced by " +
                     to_text(list.next_update));
    }
  }
}

// Lists the certificates that each acceptor of a configuration accepts; with `peer`, the sessions that its holder may
// log on as.
void check_bindings(Report& report, const CheckOptions& options) {
  const EngineConfig config = load_any_config(options.config);
  std::optional<TlsPeer> peer;
  if (!options.peer.empty()) {
    const auto certificates = read_certificates(options.peer);
    if (!certificates) return report.add(Result::failure, "peer", certificates.error());
    report.add_certificate("peer", certificates->front());
    peer = peer_of(certificates->front());
  }
  for (const SessionSettings& each : config.sessions) {
    if (each.session.role != Role::acceptor || !each.tls_enabled) continue;
    const std::string name = (each.is_template ? "template " : "") + identity(each.session);
    report.add(Result::note, "who may log on", name + ": " + peer_names_text(each));
    if (!peer || each.tls.client_certificate == ClientCertificate::none) continue;
    // A template's CompIDs are known only at Logon.
    const auto of_comp_id = std::ranges::find_if(
        each.tls.peer_names, [](const std::string& pattern) { return pattern.contains(comp_id_placeholder); });
    if (each.tls.peer_names.empty() || is_one_of(*peer, each.tls.peer_names, each.session.target_comp_id)) {
      report.add(Result::note, "peer", "may log on as " + name);
    } else if (each.is_template && of_comp_id != each.tls.peer_names.end()) {
      report.add(Result::note, "peer",
                 "may log on as " + name + " with the CompID that makes " + *of_comp_id + " one of its names");
    } else {
      report.add(Result::note, "peer", "may not log on as " + name);
    }
  }
  for (std::string& warning : tls_binding_warnings(config)) report.add(Result::warning, "who may log on", warning);
}

int run_check(const CheckOptions& options) {
  Report report;
  if (!options.config.empty()) check_bindings(report, options);
  if (!options.tls.certificate.empty()) check_own(report, options);
  std::unique_ptr<TlsContext> context;
  try {
    context = std::make_unique<TlsContext>(options.tls);
    report.add(Result::good, "load", "the files can be read and belong together");
  } catch (const TlsError& error) {
    report.add(Result::failure, "load", error.what());
  }
  check_authorities(report, options.tls);
  check_revocations(report, options.tls);
  if (context && !options.tls.certificate.empty()) {
    const auto problems = verify_own_chain(*context, options.side == "server");
    for (const std::string& problem : problems) report.add(Result::failure, "chain", problem);
    if (problems.empty()) {
      report.add(Result::good, "chain", "complete up to an authority, and for use as a " + options.side);
    }
    if (!options.name.empty()) {
      const bool named = certificate_is_for(*context, options.name);
      report.add(named ? Result::good : Result::failure, "name",
                 named ? "the certificate is for " + options.name
                       : "the certificate is not for " + options.name +
                             "; peers that verify this name will refuse it: get one with the name among its "
                             "alternative names");
    }
  }
  return report.print(options.format);
}

}  // namespace

cli::Command check_command() {
  static CheckOptions options;
  cli::Command command{
      .name = "check",
      .summary = "Check our own certificate, key and authorities, without a network",
      .run =
          [] {
            if (options.tls.certificate.empty() && options.tls.ca.empty() && options.tls.crl.empty() &&
                options.config.empty())
              throw cli::UsageError("nothing to check: give --cert, --ca, --crl or --config");
            if (!options.peer.empty() && options.config.empty())
              throw cli::UsageError("--peer needs --config, the sessions that it may log on to");
            return run_check(options);
          },
      .options = {{.names = "--name",
                   .target = &options.name,
                   .help = "The host name or address that peers will verify"},
                  {.names = "--side",
                   .target = &options.side,
                   .help = "Side that uses the certificate",
                   .one_of = {"server", "client"}},
                  {.names = "--config",
                   .target = &options.config,
                   .help = "A configuration: show which certificates may log on as which of its acceptors",
                   .kind = cli::Kind::file},
                  {.names = "--peer",
                   .target = &options.peer,
                   .help = "With --config: a client's certificate, to show which acceptors it may log on as",
                   .kind = cli::Kind::file}},
      .exit_codes = "0 ok, 1 warnings, 2 failures or wrong usage",
      .examples = {{.line = "nfx tls check --cert server.pem --key server.key --name fix.venue.example",
                    .about = "whether our certificate, key and chain are valid"},
                   {.line = "nfx tls check --config acceptor.toml --peer desk.pem",
                    .about = "which sessions the holder of this certificate may use"}},
  };
  for (cli::Option& option : file_options(options.tls, options.format)) command.options.push_back(std::move(option));
  return command;
}

}  // namespace nfx::app::tls
