// nfx cluster: makes and checks the streams that sessions are stored on, lists them, and explains which gateway has
// which.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/assignment.hpp"
#include "cluster/options.hpp"
#include "command.hpp"
#include "nats/nats_stream.hpp"
#include "output.hpp"

namespace nfx::app {
namespace {

using cluster_tools::options_of;
using cluster_tools::seconds_of;
using cluster_tools::StreamOptions;

struct InitOptions {
  StreamOptions stream;
  std::uint32_t replicas = 3;
  std::uint64_t bytes_max = std::uint64_t{1} << 30;
  double lease_s = 5;
  double audit_days = 0;
  std::uint64_t audit_bytes = 0;
};

struct WhyOptions {
  std::string session;
  std::vector<std::string> gateways;
  std::vector<std::string> lost;
  std::vector<std::string> draining;
  std::string pin;
};

InitOptions init_options;
StreamOptions check_options;
StreamOptions list_options;
WhyOptions why_options;

int run_init() {
  if (init_options.lease_s != std::floor(init_options.lease_s))
    throw cli::UsageError("--lease: expected whole seconds, as lease_s of the gateways");
  nats::NatsStream stream = cluster_tools::open_stream(init_options.stream);
  stream.create({.replicas = init_options.replicas,
                 .bytes_max = init_options.bytes_max,
                 .lease = seconds_of(init_options.lease_s),
                 .audit_age = seconds_of(init_options.audit_days * 86400),
                 .audit_bytes = init_options.audit_bytes});
  const std::string& name = init_options.stream.stream;
  if (init_options.audit_days == 0) {
    print("made the streams {} and KV_{}\n", name, name);
  } else {
    print("made the streams {}, KV_{} and {}\n", name, name, nats::audit_stream(name));
  }
  return exit_done;
}

int run_check() {
  nats::NatsStream stream = cluster_tools::open_stream(check_options);
  Output out;
  bool good = true;
  for (const nats::CheckLine& line : stream.check()) {
    good = good && line.good;
    out.text.add("{}  {}\n", line.good ? "good" : "FAIL", line.text);
  }
  out.flush();
  return good ? exit_done : exit_failed;
}

int run_list() {
  nats::NatsStream stream = cluster_tools::open_stream(list_options);
  Output out;
  for (const nats::StoredSession& session : stream.list()) {
    out.text.add("{}  {} frames  {}{}\n", session.name, session.frames, session.owner.empty() ? "" : "owned by ",
                 session.owner.empty() ? "without an owner" : session.owner);
    out.flush_when_large();
  }
  out.flush();
  return exit_done;
}

int run_why() {
  const WhyOptions& options = why_options;
  const auto is_in = [](const std::vector<std::string>& list, const std::string& name) {
    return std::ranges::find(list, name) != list.end();
  };
  for (const auto* list : {&options.lost, &options.draining}) {
    for (const std::string& name : *list)
      if (!is_in(options.gateways, name)) throw cli::UsageError(name + " is not one of --gateways");
  }
  std::vector<cluster::Gateway> gateways;
  for (const std::string& name : options.gateways)
    gateways.push_back({.name = name, .alive = !is_in(options.lost, name), .draining = is_in(options.draining, name)});
  std::vector<cluster::Pin> pins;
  if (!options.pin.empty()) pins.push_back({.session = options.session, .gateway = options.pin});
  Output out;
  for (const std::string& line : cluster::explain(options.session, gateways, pins)) out.text.add("{}\n", line);
  out.text += "no server was asked: these are the options given here, and 'nfx cluster ls' shows who owns it now\n";
  out.flush();
  return exit_done;
}

std::vector<cli::Option> options_of(InitOptions& options) {
  std::vector<cli::Option> list = options_of(options.stream);
  list.push_back({.names = "--replicas",
                  .target = &options.replicas,
                  .help = "Servers that store each frame",
                  .range = cli::Range{1, 5}});
  list.push_back({.names = "--max-bytes",
                  .target = &options.bytes_max,
                  .help = "Maximum stream size; publishing fails when the stream is full",
                  .value = "BYTES",
                  .range = cli::Range{4096, 1e15}});
  list.push_back({.names = "--lease",
                  .target = &options.lease_s,
                  .help = "Lifetime of a lost gateway's lease",
                  .value = "SECONDS",
                  .range = cli::Range{1, 3600}});
  list.push_back({.names = "--audit-days",
                  .target = &options.audit_days,
                  .help = "Age to which the audit copy NAME_AUDIT keeps all frames (default: no copy)",
                  .value = "DAYS",
                  .range = cli::Range{0, 36500}});
  list.push_back({.names = "--audit-bytes",
                  .target = &options.audit_bytes,
                  .help = "Maximum size of the audit copy; the oldest frames are dropped (0: no limit)",
                  .value = "BYTES",
                  .range = cli::Range{0, 1e15},
                  .needs = {"--audit-days"}});
  return list;
}

std::vector<cli::Option> options_of(WhyOptions& options) {
  return {{.names = "SESSION", .target = &options.session, .help = "Session name", .required = true},
          {.names = "--gateways",
           .target = &options.gateways,
           .help = "Names of all gateways",
           .value = "NAMES",
           .required = true,
           .separator = ','},
          {.names = "--lost",
           .target = &options.lost,
           .help = "Gateways that are not alive",
           .value = "NAMES",
           .separator = ','},
          {.names = "--draining",
           .target = &options.draining,
           .help = "Gateways that drain",
           .value = "NAMES",
           .separator = ','},
          {.names = "--pin",
           .target = &options.pin,
           .help = "Gateway that the configuration pins the session to",
           .value = "NAME"}};
}

}  // namespace

cli::Command cluster_command() {
  cli::Command all{
      .name = "cluster",
      .summary = "Make, check, list, read, compact and repair the streams of NATS that sessions are stored on",
      .commands =
          {{.name = "init",
            .summary = "Make the streams, before the first gateway starts",
            .run = run_init,
            .options = options_of(init_options),
            .examples = {{.line = "nfx cluster init --url tls://10.0.0.1 --ca ca.pem --max-bytes 10000000000 --lease 5",
                          .about = "once, for all gateways"}}},
           {.name = "check",
            .summary = "Check version, replicas, space and permissions, one line each",
            .run = run_check,
            .options = options_of(check_options),
            .examples = {{.line = "nfx cluster check --url tls://10.0.0.1,tls://10.0.0.2",
                          .about = "exit code 1 when a line begins with FAIL"}}},
           {.name = "ls",
            .summary = "List the sessions in the stream, with their frames and owners",
            .run = run_list,
            .options = options_of(list_options),
            .examples = {{.line = "nfx cluster ls --stream NEXUSFIX", .about = "the sessions of one stream"}}},
           {.name = "why",
            .summary = "Explain which gateway would own a session; uses these options and no server",
            .run = run_why,
            .options = options_of(why_options),
            .examples = {{.line = "nfx cluster why DESK-VENUE --gateways a,b,c --draining a",
                          .about = "while a is emptied"}}},
           cluster_tools::tail_command(),
           cluster_tools::compact_command(),
           cluster_tools::repair_command(),
           cluster_tools::up_command(),
           cluster_tools::secrets_command()},
      .exit_codes = "0 done, 1 failed or not as it has to be, 2 wrong usage",
      .examples = {{.line = "nfx cluster init --url tls://10.0.0.1,tls://10.0.0.2,tls://10.0.0.3",
                    .about = "with three replicas"},
                   {.line = "nfx cluster check", .about = "on the server of this host"},
                   {.line = "nfx cluster why DESK-VENUE --gateways a,b,c --lost b", .about = "the owner without b"}},
  };
  for (cli::Command& each : cluster_tools::operator_commands()) all.commands.push_back(std::move(each));
  return all;
}

}  // namespace nfx::app
