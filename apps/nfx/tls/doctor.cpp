// nfx tls doctor: makes one encrypted connection, step by step, and explains failures. Sends only TLS, no FIX.
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "command.hpp"
#include "output.hpp"
#include "tls/tls.hpp"
#include "transport/epoll_transport.hpp"
#include "transport/tls_transport.hpp"

namespace nfx::app::tls {
namespace {

using namespace std::chrono_literals;

struct DoctorOptions {
  TlsOptions tls;
  std::string where;
  std::string format = "text";
  double timeout_s = 10;
};

// A refusal after the client's handshake, as in TLS 1.3, arrives within a round trip.
constexpr auto time_for_a_late_refusal = 1s;

struct Sink {
  bool connected = false;
  std::optional<CloseReason> closed;
  void on_accept(ListenerId, ConnectionId, std::string_view) {}
  void on_connect(ConnectionId) { connected = true; }
  void on_receive(ConnectionId, std::span<const char>) {}
  void on_writable(ConnectionId) {}
  void on_close(ConnectionId, CloseReason reason) { closed = reason; }
};

struct Attempt {
  std::string error;  // failure before the start
  Sink seen;
  std::string tls_error;  // why the handshake, or a later step, failed
  std::optional<TlsFacts> facts;
  Duration took{};
};

Attempt attempt(const Endpoint& endpoint, const std::shared_ptr<TlsContext>& context, Duration timeout) {
  EpollTransport inner;
  TlsTransport<EpollTransport> transport(inner, {.handshake_timeout = timeout});
  Attempt result;
  SocketOptions socket;
  socket.tls = context;
  const auto begun = std::chrono::steady_clock::now();
  const auto id = transport.connect(endpoint, socket);
  if (!id) {
    result.error = id.error().text();
    return result;
  }
  // The handshake has its own limit; this one is for establishing the connection.
  auto until = begun + 2 * timeout;
  while (!result.seen.closed && std::chrono::steady_clock::now() < until) {
    transport.poll(result.seen, 50ms);
    if (!result.seen.connected || result.facts) continue;
    result.took = std::chrono::steady_clock::now() - begun;
    result.facts = transport.tls_facts(*id);
    until = std::chrono::steady_clock::now();
    if (result.facts && result.facts->certificate_requested) until += time_for_a_late_refusal;
  }
  result.tls_error = transport.tls_error(*id);
  transport.close(*id);
  return result;
}

void report_agreement(Report& report, const TlsFacts& facts, Duration took) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(took).count();
  report.add(Result::good, "handshake", facts.version + " with " + facts.cipher + " in " + std::to_string(ms) + " ms");
  for (std::size_t i = 0; i < facts.chain.size(); ++i) {
    report.add_certificate("certificate " + std::to_string(i + 1), facts.chain[i]);
  }
}

void report_client_certificate(Report& report, const TlsOptions& options, const Attempt& seen) {
  const bool given = !options.certificate.empty();
  if (!seen.facts->certificate_requested) {
    return report.add(Result::good, "client certificate",
                      given ? "the server requests none; the configured one was not used" : "the server requests none");
  }
  if (!seen.tls_error.empty()) return report.add(Result::failure, "client certificate", seen.tls_error);
  if (seen.seen.closed) {
    return report.add(
        Result::failure, "client certificate",
        "the server requested one and then ended the connection (" + std::string(to_string(*seen.seen.closed)) + ")" +
            (given ? "; its operator can find the reason in the server's log" : "; give --cert and --key"));
  }
  report.add(given ? Result::good : Result::warning, "client certificate",
             given ? "the server requested and accepted it"
                   : "the server requests one and continues without; it may refuse us later: give --cert and --key");
}

// After a failed handshake, a second one that accepts everything shows the reason.
void look_closer(Report& report, const DoctorOptions& options, const Endpoint& endpoint, Duration timeout) {
  TlsOptions lenient = options.tls;
  lenient.verify = false;
  lenient.crl.clear();
  const Attempt again = attempt(endpoint, std::make_shared<TlsContext>(lenient), timeout);
  if (!again.facts) return;
  report.add(Result::note, "without verifying", "the handshake succeeds; the server presents:");
  report_agreement(report, *again.facts, again.took);
  for (const std::string& problem : again.facts->problems) report.add(Result::failure, "verification", problem);
}

int run_doctor(const DoctorOptions& options) {
  const auto endpoint = Endpoint::parse(options.where);
  if (!endpoint) throw cli::UsageError("SERVER: \"" + options.where + "\" is not host:port, such as venue:9880");
  const auto timeout = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(options.timeout_s));
  Report report;
  std::shared_ptr<TlsContext> context;
  try {
    context = std::make_shared<TlsContext>(options.tls);
  } catch (const TlsError& error) {
    report.add(Result::failure, "files", error.what());
    return report.print(options.format);
  }
  const auto addresses = resolve(*endpoint);
  if (!addresses) {
    report.add(Result::failure, "name",
               addresses.error().text() + "; check the name, and that the name server is reachable");
    return report.print(options.format);
  }
  std::string list;
  for (const Endpoint& address : *addresses) list += (list.empty() ? "" : ", ") + to_string(address);
  report.add(Result::good, "name", endpoint->host + " is " + list);

  const Attempt first = attempt(*endpoint, context, timeout);
  if (!first.error.empty()) {
    report.add(Result::failure, "connection", first.error);
  } else if (!first.facts && first.tls_error.empty()) {
    const std::string why = first.seen.closed ? std::string(to_string(*first.seen.closed)) : "no answer in time";
    report.add(Result::failure, "connection",
               why + "; check that a server listens there, and that no firewall blocks it");
  } else if (!first.facts) {
    report.add(Result::good, "connection", "TCP connects");
    report.add(Result::failure, "handshake", first.tls_error);
    look_closer(report, options, *endpoint, timeout);
  } else {
    const std::string name = options.tls.server_name.empty() ? endpoint->host : options.tls.server_name;
    report.add(Result::good, "connection", "TCP connects");
    report_agreement(report, *first.facts, first.took);
    report.add(Result::good, "verification", "signed by a trusted authority, and issued for " + name);
    report.add(options.tls.crl.empty() ? Result::note : Result::good, "revocation",
               options.tls.crl.empty() ? "not checked: no --crl" : "nothing in the chain is revoked");
    report_client_certificate(report, options.tls, first);
  }
  const KernelTls kernel = kernel_tls();
  report.add(Result::note, "kernel TLS", (kernel.offered ? "offered, not used: " : "not offered: ") + kernel.why);
  return report.print(options.format);
}

}  // namespace

cli::Command doctor_command() {
  static DoctorOptions options;
  cli::Command command{
      .name = "doctor",
      .summary = "Connect to a server step by step, and report what fails and how to fix it",
      .run = [] { return run_doctor(options); },
      .options = {{.names = "SERVER",
                   .target = &options.where,
                   .help = "host:port, fix.venue.example:9880 for example",
                   .required = true},
                  {.names = "--name",
                   .target = &options.tls.server_name,
                   .help = "Name that the server's certificate must contain",
                   .default_text = "the host of SERVER"},
                  {.names = "--timeout",
                   .target = &options.timeout_s,
                   .help = "Time limit for a connection and for a handshake",
                   .value = "SECONDS",
                   .range = {{0.1, 600}}}},
      .exit_codes = "0 ok, 1 warnings, 2 failures or wrong usage",
      .examples = {{.line = "nfx tls doctor fix.venue.example:9880 --ca venue-ca.pem",
                    .about = "why an encrypted connection fails, or when it will"}},
  };
  for (cli::Option& option : file_options(options.tls, options.format)) command.options.push_back(std::move(option));
  return command;
}

}  // namespace nfx::app::tls
