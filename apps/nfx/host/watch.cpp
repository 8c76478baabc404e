// nfx host watch: live statistics of the engine's CPUs and threads, and deviations from the plan.
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "base/clocks.hpp"
#include "base/error_text.hpp"
#include "command.hpp"
#include "host/host.hpp"
#include "host/watch_view.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "report/report.hpp"
#include "text.hpp"

namespace nfx::app::host {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct WatchCommand {
  Place place;
  int pid = 0;
  std::uint32_t interval_ms = 1000;
  std::uint64_t count = 0;  // 0: no limit
  bool once = false;
  std::string root_before;
  std::string root_after;
  std::string isolated_cpus;
  std::string format = "text";
  bool alerts_only = false;
  std::string html;
  std::size_t width = 0;  // 0: the terminal's width
  std::string color = "auto";
};

int exit_as(HostExit exit) { return static_cast<int>(exit); }

int give_up(std::string_view text, HostExit exit) {
  print_error("nfx: {}\n", text);
  return exit_as(exit);
}

// In a frame, a byte of this list begins a colour. Other text has no control characters.
constexpr std::array<std::pair<char, Colour>, 7> colour_marks{{{'\1', Colour::plain},
                                                               {'\2', Colour::bold},
                                                               {'\3', Colour::dim},
                                                               {'\4', Colour::red},
                                                               {'\5', Colour::green},
                                                               {'\6', Colour::yellow},
                                                               {'\7', Colour::cyan}}};

void append_coloured(SafeText& out, std::string_view frame, const Palette& palette) {
  while (!frame.empty()) {
    const std::size_t size = std::min(frame.find_first_of("\1\2\3\4\5\6\7"), frame.size());
    out += SafeText::lines(frame.substr(0, size));
    if (size == frame.size()) return;
    out += palette(std::ranges::find(colour_marks, frame[size], &std::pair<char, Colour>::first)->second);
    frame.remove_prefix(size + 1);
  }
}

enum class Wake : std::uint8_t { due, quit, resized };

// Receives signals and keys while waiting for the next sample. A signal to end only sets a request, so that the
// terminal is restored and a report written.
class Events {
 public:
  Events() {
    sigemptyset(&mask_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGPIPE}) {
      struct sigaction action{};
      sigaction(signal, nullptr, &action);
      // A signal that nohup or a shell ignores stays ignored; if it were blocked, it would be received anyway.
      if (action.sa_handler != SIG_IGN) sigaddset(&mask_, signal);
    }
    sigprocmask(SIG_BLOCK, &mask_, &before_);
    signals_ = signalfd(-1, &mask_, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  ~Events() {
    if (signals_ >= 0) close(signals_);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

  void listen_to_keys() { keys_ = STDIN_FILENO; }

  // Calls `stop` for Ctrl-Z; it returns when the program continues.
  template <typename Stop>
  Wake wait(Clock::time_point due, Stop&& stop) {
    while (true) {
      const auto left = std::chrono::ceil<milliseconds>(due - Clock::now()).count();
      if (left <= 0) return Wake::due;
      std::array<pollfd, 2> fds{{{signals_, POLLIN, 0}, {keys_, POLLIN, 0}}};
      if (poll(fds.data(), fds.size(), static_cast<int>(std::min<std::int64_t>(left, 1 << 30))) < 0 && errno != EINTR)
        return Wake::quit;
      if (fds[1].revents != 0 && quit_key()) return Wake::quit;
      if (fds[0].revents == 0) continue;
      signalfd_siginfo signal{};
      if (read(signals_, &signal, sizeof signal) != sizeof signal) continue;
      switch (signal.ssi_signo) {
        case SIGWINCH: return Wake::resized;
        case SIGTSTP: stop(); return Wake::resized;
        case SIGPIPE: break;  // the write fails as well
        default: return Wake::quit;
      }
    }
  }

 private:
  bool quit_key() {
    std::array<char, 64> keys;
    const ssize_t got = read(STDIN_FILENO, keys.data(), keys.size());
    if (got <= 0 && errno != EAGAIN && errno != EINTR) keys_ = -1;  // standard input has ended
    if (got <= 0) return false;
    const std::string_view typed{keys.data(), static_cast<std::size_t>(got)};
    return typed.find_first_of("qQ\x03\x04") != std::string_view::npos;
  }

  sigset_t mask_{};
  sigset_t before_{};
  int signals_ = -1;
  int keys_ = -1;
};

// The terminal's alternate screen. The destructor restores the previous contents.
class Screen {
 public:
  Screen() { enter(); }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen() { leave(); }

  void enter() {
    if (tcgetattr(STDIN_FILENO, &before_) == 0) {
      termios raw = before_;
      raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      raw.c_cc[VMIN] = 1;
      raw.c_cc[VTIME] = 0;
      changed_ = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    }
    // The alternate screen, without a cursor and without line wrapping.
    put(TerminalControl{"\033[?1049h\033[?25l\033[?7l\033[2J"});
  }
  void leave() {
    put(TerminalControl{"\033[?7h\033[?25h\033[0m\033[?1049l"});
    if (changed_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    changed_ = false;
  }

  // Each line ends with a sequence that clears its rest, so that nothing flickers.
  bool draw(std::string_view frame, const Palette& palette) {
    SafeText out;
    out += TerminalControl{"\033[H"};
    while (!frame.empty()) {
      const std::size_t end = frame.find('\n');
      append_coloured(out, frame.substr(0, end), palette);
      out += TerminalControl{"\033[K"};
      frame = end == std::string_view::npos ? std::string_view{} : frame.substr(end + 1);
      if (!frame.empty()) out += TerminalControl{"\r\n"};
    }
    out += TerminalControl{"\033[J"};
    return write(Stream::out, out) == 0;
  }

 private:
  static void put(TerminalControl control) {
    SafeText text;
    text += control;
    static_cast<void>(write(Stream::out, text));
  }

  termios before_{};
  bool changed_ = false;
};

struct Size {
  std::size_t width = 100;
  std::size_t height = 0;
};

Size frame_size() {
  const TerminalSize size = nfx::terminal_size();
  if (size.columns == 0) return {};
  return {.width = size.columns, .height = size.rows};
}

// The watched process or host, and the plan to compare it with.
struct Subject {
  HostFiles files;
  std::optional<PlacementPlan> plan;
  WatchTarget target;
  CpuSet tickless;
  std::string title;
};

Subject find_subject(const WatchCommand& command) {
  Place place = command.place;
  place.root = command.root_after;
  Subject subject{
      HostFiles{place.root.empty() ? "/" : place.root}, {}, {.pid = command.pid, .isolated_cpus = {}}, {}, {}};
  HostFacts facts;
  if (place.config.empty()) {
    facts = read_host_facts(subject.files);
  } else {
    Situation seen = look(place);
    facts = std::move(seen.facts);
    subject.plan = std::move(seen.plan);
    subject.title = place.config + ' ';
  }
  const bool planned = subject.plan && !subject.plan->isolated_cpus.empty();
  subject.target.isolated_cpus = planned ? subject.plan->isolated_cpus : facts.isolated_cpus();
  if (!command.isolated_cpus.empty()) {
    const auto given = CpuSet::parse_list(command.isolated_cpus);
    if (!given) throw cli::UsageError("--isolated-cpus: " + given.error());
    subject.target.isolated_cpus = *given;
  }
  subject.tickless = facts.nohz_full;
  subject.title += command.pid != 0 ? "process " + std::to_string(command.pid)
                                    : "threads " + std::string{engine_thread_prefix} + "*";
  return subject;
}

// Why nothing of the requested process or host can be read; otherwise empty.
std::string blind(const Subject& subject, const WatchSample& sample) {
  if (sample.counters.cpus.empty())
    return "cannot read " + subject.files.path("/proc/stat").string() + ", so nothing is known about the CPUs";
  if (subject.target.pid == 0 || !sample.threads.empty()) return {};
  const std::string folder = subject.files.path("/proc/" + std::to_string(subject.target.pid)).string();
  return folder +
         ": no such process, or /proc hides it (hidepid): give a number that 'ps' shows, or watch as "
         "the user who runs it";
}

// A metrics file has each name once, so several intervals in a row would be invalid.
void require_one_interval(const WatchCommand& command) {
  const bool one = command.once || command.count == 1 || !command.root_after.empty();
  if (command.format == "prometheus" && !one)
    throw cli::UsageError("--format prometheus is a file of metrics for one interval: give --once or --count 1");
}

class Watch {
 public:
  Watch(const WatchCommand& command, Subject subject)
      : command_(command), subject_(std::move(subject)), palette_(use_colour(command.color, Stream::out)) {}

  int run() {
    if (!command_.root_after.empty()) return between_roots();
    keep_off_isolated_cpus();
    WatchSample before = sample();
    if (const std::string why = blind(subject_, before); !why.empty()) return give_up(why, HostExit::cannot_tell);
    Events events;
    std::optional<Screen> screen;
    const bool tty = is_terminal(Stream::out);
    if (tty && command_.format == "text" && !command_.once && !command_.alerts_only) {
      screen.emplace();
      if (isatty(STDIN_FILENO) == 1) events.listen_to_keys();
      const std::size_t width = frame_size().width;
      const auto cut = [width](std::string_view line) { return std::string{line.substr(0, width)} + '\n'; };
      screen->draw(cut("nfx host watch  " + subject_.title) + cut("measuring the first interval; q quits"), palette_);
    }
    const milliseconds interval{command_.interval_ms};
    // The first interval is short, so that the screen does not stay empty for long.
    Clock::time_point due = Clock::now() + (screen ? std::min(interval, milliseconds{300}) : interval);
    const std::uint64_t count = command_.once ? 1 : command_.count;
    std::optional<WatchInterval> last;
    for (std::uint64_t done = 0; count == 0 || done < count;) {
      const Wake wake = events.wait(due, [&] { suspend(screen); });
      if (wake == Wake::quit) break;
      if (wake == Wake::due) {
        WatchSample after = sample();
        last = evaluate(before, after);
        const bool gone = subject_.target.pid != 0 && after.threads.empty();
        if (!screen && !print(after, *last)) break;
        before = std::move(after);
        ++done;
        if (gone) break;
        // A sample that takes longer than the interval must not make the next ones follow without a pause.
        due = std::max(due + interval, Clock::now() + interval / 2);
      }
      if (screen && last && !screen->draw(frame(*last, frame_size()), palette_)) break;
    }
    screen.reset();
    return finish();
  }

 private:
  // Its own work would be noise on the watched CPUs.
  void keep_off_isolated_cpus() const {
    const CpuSet rest = CpuAffinity::get() - subject_.target.isolated_cpus;
    if (!subject_.target.isolated_cpus.empty() && !rest.empty()) (void)CpuAffinity::set(rest);
  }

  int between_roots() {
    using std::chrono::nanoseconds;
    const WatchSample before = sample_host(HostFiles{command_.root_before}, subject_.target, nanoseconds{0});
    const WatchSample after = sample_host(subject_.files, subject_.target, milliseconds{command_.interval_ms});
    if (const std::string why = blind(subject_, before); !why.empty()) return give_up(why, HostExit::cannot_tell);
    print(after, evaluate(before, after));
    return finish();
  }

  WatchSample sample() const { return sample_host(subject_.files, subject_.target, Clock::now().time_since_epoch()); }

  WatchInterval evaluate(const WatchSample& before, const WatchSample& after) {
    const DriftInput input{.before = before,
                           .after = after,
                           .plan = subject_.plan ? &*subject_.plan : nullptr,
                           .isolated_cpus = subject_.target.isolated_cpus,
                           .tickless = subject_.tickless};
    WatchInterval interval = summarize(input);
    if (command_.root_after.empty()) interval.utc = timestamp(read_utc());
    history_.add(interval);
    return interval;
  }

  std::string frame(const WatchInterval& interval, Size size) const {
    const WatchViewOptions options{
        .title = subject_.title,
        .width = command_.width != 0 ? command_.width : size.width,
        .height = size.height,
        .alerts_only = command_.alerts_only,
        .colours = {
            .plain = "\1", .bold = "\2", .dim = "\3", .red = "\4", .green = "\5", .yellow = "\6", .cyan = "\7"}};
    return to_text(interval, options);
  }

  bool print(const WatchSample& sample, const WatchInterval& interval) {
    SafeText out;
    if (command_.format == "json") {
      out = SafeText::lines(to_json(interval, command_.alerts_only));
    } else if (command_.format == "prometheus") {
      out = SafeText::lines(to_prometheus(sample, interval));
    } else {
      if (printed_ && !command_.alerts_only) out += '\n';
      append_coloured(out, frame(interval, {.width = frame_size().width, .height = 0}), palette_);
    }
    printed_ = true;
    return write(Stream::out, out) == 0;
  }

  static void suspend(std::optional<Screen>& screen) {
    if (screen) screen->leave();
    raise(SIGSTOP);
    if (screen) screen->enter();
  }

  int finish() const {
    if (!command_.html.empty()) {
      std::ofstream file{command_.html, std::ios::binary};
      file << report_page(ReportKind::watch, "Host watch: " + subject_.title, history_.json());
      file.close();
      if (!file) return give_up(cannot("write", command_.html, errno), HostExit::failures);
    }
    return exit_as(history_.alerted() ? HostExit::warnings : HostExit::ok);
  }

  const WatchCommand& command_;
  Subject subject_;
  Palette palette_;
  WatchHistory history_;
  bool printed_ = false;
};

}  // namespace

cli::Command watch_command() {
  static WatchCommand options;
  return {
      .name = "watch",
      .summary = "Show what CPUs and threads do, and what deviates from the plan",
      .run =
          [] {
            require_one_interval(options);
            return Watch{options, find_subject(options)}.run();
          },
      .options = {config_argument(options.place, false),
                  {.names = "--pid",
                   .target = &options.pid,
                   .help = "Watch this process",
                   .range = {{1}},
                   .default_text = "all threads named nfx-*"},
                  {.names = "--interval-ms",
                   .target = &options.interval_ms,
                   .help = "Time between two samples",
                   .range = {{10, 3'600'000}}},
                  {.names = "--count",
                   .target = &options.count,
                   .help = "End after this many intervals; 0: never",
                   .range = {{0}},
                   .default_text = "0"},
                  {.names = "--once",
                   .target = &options.once,
                   .help = "Print one interval as plain text, and end",
                   .excludes = {"--count"}},
                  {.names = "--root-before",
                   .target = &options.root_before,
                   .help = "Copied /proc and /sys of a host, instead of this one",
                   .kind = cli::Kind::existing_folder,
                   .needs = {"--root-after"}},
                  {.names = "--root-after",
                   .target = &options.root_after,
                   .help = "The same, copied one interval later",
                   .kind = cli::Kind::existing_folder,
                   .needs = {"--root-before"}},
                  {.names = "--isolated-cpus",
                   .target = &options.isolated_cpus,
                   .help = "CPUs that no other task or interrupt should use",
                   .value = "LIST",
                   .default_text = "the plan's, or the host's isolated ones"},
                  {.names = "--format",
                   .target = &options.format,
                   .help = "Output format; json: an object per interval and line; prometheus: metrics of one interval",
                   .one_of = {"text", "json", "prometheus"}},
                  {.names = "--alerts-only",
                   .target = &options.alerts_only,
                   .help = "Print only deviations from the plan, one line per alert"},
                  {.names = "--html",
                   .target = &options.html,
                   .help = "Write a report of the watched period to this file at the end",
                   .kind = cli::Kind::file},
                  {.names = "--width",
                   .target = &options.width,
                   .help = "Width of the text in columns",
                   .range = {{40, 1000}},
                   .default_text = "the terminal's"},
                  color_option(options.color)},
      .details =
          R"(On a terminal the display is redrawn until q is pressed; elsewhere each interval is printed after the last. Nothing on the host is changed; the program itself keeps off the isolated CPUs. Without CONFIG, threads that are pinned to one CPU are expected to own it, and the CPUs that the host has isolated are monitored.

Columns: BUSY and STEAL share of the CPU's time, STALL time its threads waited for it, MIG moves of threads, VOL and INVO switches, TIMR DEV IPI TLB interrupts by kind, SOFT softirqs, FALT page faults, all per second.)",
      .exit_codes =
          "0 nothing deviated from the plan, 1 alerts were raised, 2 wrong usage or the report cannot be "
          "written, 3 the process or /proc cannot be read",
      .examples = {{.line = "nfx host watch engine.toml"},
                   {.line = "nfx host watch --pid 4711 --once --format json | jq .alerts"},
                   {.line = "nfx host watch engine.toml --count 3600 --alerts-only --html report.html"}},
  };
}

}  // namespace nfx::app::host
