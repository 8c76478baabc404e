// nfx top: a live view of a running engine.
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "command.hpp"
#include "control_access.hpp"
#include "text.hpp"
#include "top/feed.hpp"
#include "top/frame.hpp"
#include "top/screen.hpp"
#include "top/view.hpp"

namespace nfx::app {
namespace {

using namespace top;

struct Options {
  ControlOptions control;
  double interval = 1;
  bool once = false;
  std::string view{view_names[0]};
  std::string session;
  std::string filter;
  std::string window{to_string(LatencyWindow::ten_seconds)};
  std::vector<std::string> dictionaries;
  std::string color = "auto";
};

Options options;

Duration interval_of(const Options& from) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>{from.interval});
}

ViewState begin_with(const Options& from) {
  ViewState state;
  for (std::size_t i = 0; i < view_names.size(); ++i) {
    if (from.view == view_names[i]) state.view = static_cast<View>(i);
  }
  for (std::size_t i = 0; i <= timed_window_count; ++i) {
    if (from.window == to_string(static_cast<LatencyWindow>(i))) state.window = static_cast<LatencyWindow>(i);
  }
  state.session = from.session;
  state.filter = from.filter;
  if (state.view == View::messages && state.session.empty())
    throw cli::UsageError("--view messages: give the session as --session NAME; 'nfx session list' has the names");
  return state;
}

Wanted wanted_by(const ViewState& state) {
  return {.view = state.view,
          .session = state.view == View::messages ? state.session : std::string{},
          .window = state.window};
}

// Takes two snapshots, for rates and for the messages of the time between them.
int show_once(Asker& asker, const ViewState& state) {
  const Wanted wanted = wanted_by(state);
  Snapshot snapshot = asker.ask(wanted);
  if (snapshot.connected) {
    std::this_thread::sleep_for(interval_of(options));
    snapshot = asker.ask(wanted);
  }
  if (!snapshot.connected) {
    print_error("nfx: {}\n", snapshot.problem);
    return asker.exit_code();
  }
  constexpr std::size_t usual_columns = 120;
  const std::size_t columns = terminal_size().columns;
  SafeText text;
  const Size size = printed_size(snapshot, state, columns == 0 ? usual_columns : columns);
  for (const Line& line : frame_of(snapshot, state, size)) text.add("{}\n", line.text);
  print(text);
  return snapshot.messages_problem.empty() ? exit_done : exit_failed;
}

int show_live(Asker& asker, ViewState state) {
  const std::unique_ptr<Screen> screen = make_screen(use_colour(options.color, Stream::out));
  Feed feed{asker, interval_of(options)};
  feed.want(wanted_by(state));
  std::shared_ptr<const Snapshot> shown;
  for (bool changed = true;;) {
    const std::shared_ptr<const Snapshot> latest = feed.latest();
    if (changed || latest != shown) screen->draw(frame_of(*latest, state, screen->size()));
    shown = latest;
    const std::optional<Key> key = screen->key(feed.changed_fd());
    changed = key.has_value();
    if (!key) continue;
    if (!press(state, *key, *latest, screen->size())) return exit_done;
    feed.want(wanted_by(state));
  }
}

int run() {
  const ViewState state = begin_with(options);
  ControlAddress address = control_address(options.control);
  address.timeout = std::chrono::seconds{5};
  Asker asker{address, options.dictionaries};
  const bool live = !options.once && is_terminal(Stream::out);
  return live ? show_live(asker, state) : show_once(asker, state);
}

}  // namespace

cli::Command top_command() {
  std::vector<cli::Option> all = address_options(options.control);
  all.push_back({.names = "--interval",
                 .target = &options.interval,
                 .help = "Time between two snapshots of the engine",
                 .value = "SECONDS",
                 .range = {{0.2, 60}}});
  all.push_back(
      {.names = "--once",
       .target = &options.once,
       .help = "Print one frame as text after one interval, and end; the default if standard output is no terminal"});
  all.push_back({.names = "--view",
                 .target = &options.view,
                 .help = "First view",
                 .one_of = {view_names.begin(), view_names.end()}});
  all.push_back(
      {.names = "--session", .target = &options.session, .help = "Session whose messages are shown", .value = "NAME"});
  all.push_back({.names = "--filter", .target = &options.filter, .help = "Show only rows with this text"});
  all.push_back({.names = "--window",
                 .target = &options.window,
                 .help = "Time window of the latencies",
                 .one_of = {"1s", "10s", "1min", "1day", "start"}});
  all.push_back({.names = "--dictionary",
                 .target = &options.dictionaries,
                 .help = "Dictionary or overlay that names the fields of messages, used for its version; repeatable",
                 .kind = cli::Kind::file});
  all.push_back(color_option(options.color));
  return {
      .name = "top",
      .summary = "Show a running engine live: sessions, threads, messages, slowest moments",
      .run = run,
      .options = std::move(all),
      .details =
          "The engine needs [control] in its configuration, and you need a role there; messages need the role "
          "operator: docs/top.md. In the view, ? lists the keys. When the engine ends, the view says so and waits for "
          "the next one. Secrets in messages are masked by the engine.",
      .exit_codes = control_exit_codes,
      .examples = {{.line = "nfx top",
                    .about = "sessions, threads, messages and latencies of the engine on this host, live"},
                   {.line = "nfx top --once --view threads"},
                   {.line = "nfx top --view messages --session 'FIX.4.4:DESK->VENUE'"}},
  };
}

}  // namespace nfx::app
