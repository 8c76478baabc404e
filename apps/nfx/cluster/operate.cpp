// nfx cluster drain, move and settings: has sessions continue on other gateways, by settings that every gateway of the
// cluster reads.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/options.hpp"
#include "command.hpp"
#include "gateway/operator_settings.hpp"
#include "nats/nats_stream.hpp"
#include "output.hpp"

namespace nfx::app::cluster_tools {
namespace {

struct Options : StreamOptions {
  std::string name;  // of drain: the gateway; of move: the session
  std::string to;
  bool undo = false;
};

Options drain_options, move_options;
StreamOptions settings_options;

Duration timeout_of(const StreamOptions& options) { return seconds_of(options.timeout_s); }

void require_word(std::string_view name, std::string_view what) {
  if (name.empty() || name.contains(' ') || name.contains('\n'))
    throw cli::UsageError(std::string{what} + ": expected a name without spaces");
}

void show(const OperatorSettings& settings) {
  const std::string text = to_string(settings);
  Output out;
  if (text.empty()) out.text.add("no settings: the configuration of the gateways applies\n");
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    out.text.add("{}\n", line);
  }
  out.flush();
}

void warn(std::string_view what, std::string_view name, std::string_view effect) {
  print_error("nfx: no {} {} is known to the cluster now; the setting has an effect when {}\n", what, name, effect);
}

// A name may be one that comes later; most that are not known are misspelt.
void warn_of_unknown(nats::NatsStream& stream, std::string_view session, std::string_view gateway) {
  const std::vector<std::string> gateways = stream.gateways();
  if (std::ranges::find(gateways, gateway) == gateways.end()) warn("gateway", gateway, "one of this name runs");
  if (session.empty()) return;
  const std::vector<nats::StoredSession> sessions = stream.list();
  if (std::ranges::find(sessions, session, &nats::StoredSession::name) == sessions.end())
    warn("session", session, "one of this name is owned");
}

int change(const Options& options, const std::function<void(OperatorSettings&)>& what) {
  nats::NatsStream stream = open_stream(options);
  OperatorSettings now;
  change_settings(stream, timeout_of(options), [&](OperatorSettings& settings) {
    what(settings);
    now = settings;
  });
  show(now);
  if (!options.undo)
    warn_of_unknown(stream, options.to.empty() ? std::string{} : options.name,
                    options.to.empty() ? options.name : options.to);
  return exit_done;
}

int run_drain() {
  const Options& options = drain_options;
  require_word(options.name, "GATEWAY");
  return change(options, [&](OperatorSettings& settings) {
    std::erase(settings.drains, options.name);
    if (!options.undo) settings.drains.push_back(options.name);
  });
}

int run_move() {
  const Options& options = move_options;
  require_word(options.name, "SESSION");
  if (options.undo != options.to.empty()) throw cli::UsageError("give either --to GATEWAY or --undo");
  if (!options.undo) require_word(options.to, "--to");
  return change(options, [&](OperatorSettings& settings) {
    std::erase_if(settings.moves, [&](const auto& move) { return move.first == options.name; });
    if (!options.undo) settings.moves.emplace_back(options.name, options.to);
  });
}

int run_settings() {
  nats::NatsStream stream = open_stream(settings_options);
  show(read_settings(stream, timeout_of(settings_options)));
  return exit_done;
}

std::vector<cli::Option> with(std::vector<cli::Option> first, StreamOptions& options) {
  for (cli::Option& each : options_of(options)) first.push_back(std::move(each));
  return first;
}

}  // namespace

std::vector<cli::Command> operator_commands() {
  return {
      {.name = "drain",
       .summary = "Move a gateway's sessions to the others until --undo",
       .run = run_drain,
       .options =
           with({{.names = "GATEWAY", .target = &drain_options.name, .help = "Name of the gateway", .required = true},
                 {.names = "--undo",
                  .target = &drain_options.undo,
                  .help = "End draining: the gateway may own sessions again"}},
                drain_options),
       .details = "Every gateway reads the settings once a second. A session that moves logs out, and logs on at its "
                  "next gateway with the same sequence numbers.",
       .examples = {{.line = "nfx cluster drain a", .about = "before its machine is maintained"},
                    {.line = "nfx cluster drain a --undo"}}},
      {.name = "move",
       .summary = "Move a session to a gateway until --undo; it stays there while the gateway is alive",
       .run = run_move,
       .options =
           with({{.names = "SESSION", .target = &move_options.name, .help = "Session name", .required = true},
                 {.names = "--to",
                  .target = &move_options.to,
                  .help = "Gateway that the session moves to",
                  .value = "GATEWAY"},
                 {.names = "--undo", .target = &move_options.undo, .help = "End the move: the gateways decide again"}},
                move_options),
       .examples = {{.line = "nfx cluster move DESK-VENUE --to b"},
                    {.line = "nfx cluster move DESK-VENUE --undo", .about = "it stays where it is"}}},
      {.name = "settings",
       .summary = "Show the settings of drain and move",
       .run = run_settings,
       .options = options_of(settings_options),
       .examples = {{.line = "nfx cluster settings --url tls://10.0.0.1"}}}};
}

}  // namespace nfx::app::cluster_tools
