// The terminal through ncurses.
#define NCURSES_NOMACROS
#include "top/screen.hpp"

#include <curses.h>
#include <poll.h>
#include <signal.h>
#include <term.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>
#include <string>
#include <utility>

// term.h defines these names as macros.
#undef columns
#undef lines
#undef tab

namespace nfx::app::top {
namespace {

constexpr int escape_code = 27;
constexpr short alarm_pair = 1;

volatile std::sig_atomic_t end_wanted = 0;

// During this object's lifetime Ctrl-C and SIGTERM are keys. ncurses' own handlers, which it installs if there are
// none, would end the program with a failure. A signal that nohup or a shell ignores stays ignored. These signals and
// the resize signal are delivered only within wait(), so that none can be missed just before it; threads started
// meanwhile do not receive them.
class ScreenSignals {
 public:
  ScreenSignals() noexcept {
    sigset_t blocked;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGWINCH);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      ::sigaddset(&blocked, ends[i]);
      struct sigaction action{};
      action.sa_handler = [](int) { end_wanted = 1; };
      ::sigemptyset(&action.sa_mask);
      ::sigaction(ends[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_DFL) ::sigaction(ends[i], &action, nullptr);
    }
    ::pthread_sigmask(SIG_BLOCK, &blocked, &mask_);
  }
  ~ScreenSignals() {
    for (std::size_t i = 0; i < ends.size(); ++i) ::sigaction(ends[i], &before_[i], nullptr);
    ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  ScreenSignals(const ScreenSignals&) = delete;
  ScreenSignals& operator=(const ScreenSignals&) = delete;

  // Waits for one of these descriptors, or a signal. Returns whether the first is readable.
  [[nodiscard]] bool wait(int first, int second) const noexcept {
    std::array<pollfd, 2> waits{{{first, POLLIN, 0}, {second, POLLIN, 0}}};
    return ::ppoll(waits.data(), waits.size(), nullptr, &mask_) > 0 && waits[0].revents != 0;
  }

 private:
  static constexpr std::array ends{SIGINT, SIGTERM};
  std::array<struct sigaction, ends.size()> before_{};
  sigset_t mask_{};
};

class CursesScreen final : public Screen {
 public:
  explicit CursesScreen(bool colours) {
    ::initscr();
    ::cbreak();
    ::noecho();
    ::keypad(::stdscr, TRUE);
    ::set_escdelay(50);
    ::wtimeout(::stdscr, 0);
    ::curs_set(0);
    colours_ = colours && ::has_colors() && ::start_color() == OK && ::use_default_colors() == OK &&
               ::init_pair(alarm_pair, COLOR_RED, -1) == OK;
  }
  ~CursesScreen() override { ::endwin(); }
  CursesScreen(const CursesScreen&) = delete;
  CursesScreen& operator=(const CursesScreen&) = delete;

  Size size() const override {
    return {.columns = static_cast<std::size_t>(::getmaxx(::stdscr)),
            .rows = static_cast<std::size_t>(::getmaxy(::stdscr))};
  }

  void draw(const std::vector<Line>& lines) override {
    ::werase(::stdscr);
    int row = 0;
    for (const Line& line : lines) {
      ::wattrset(::stdscr, attributes_of(line.look));
      ::mvwaddnstr(::stdscr, row++, 0, line.text.data(), static_cast<int>(line.text.size()));
    }
    ::wattrset(::stdscr, A_NORMAL);
    ::wrefresh(::stdscr);
  }

  std::optional<Key> key(int descriptor) override {
    int code = ::wgetch(::stdscr);  // it may have read more than one
    if (code == ERR) {
      const bool has_input = signals_.wait(input_, descriptor);
      code = ::wgetch(::stdscr);
      if (code == ERR && has_input) input_ = -1;  // standard input has ended
    }
    if (end_wanted != 0) return Key{KeyKind::quit};
    if (code == ERR) return std::nullopt;
    constexpr std::array<std::pair<int, KeyKind>, 18> keys{{{KEY_UP, KeyKind::up},
                                                            {KEY_DOWN, KeyKind::down},
                                                            {KEY_LEFT, KeyKind::left},
                                                            {KEY_RIGHT, KeyKind::right},
                                                            {KEY_PPAGE, KeyKind::page_up},
                                                            {KEY_NPAGE, KeyKind::page_down},
                                                            {KEY_HOME, KeyKind::home},
                                                            {KEY_END, KeyKind::end},
                                                            {KEY_ENTER, KeyKind::enter},
                                                            {'\n', KeyKind::enter},
                                                            {'\r', KeyKind::enter},
                                                            {KEY_BACKSPACE, KeyKind::backspace},
                                                            {'\b', KeyKind::backspace},
                                                            {0x7F, KeyKind::backspace},
                                                            {'\t', KeyKind::tab},
                                                            {escape_code, KeyKind::escape},
                                                            {KEY_RESIZE, KeyKind::resized},
                                                            {KEY_CANCEL, KeyKind::escape}}};
    for (const auto& [of, kind] : keys) {
      if (of == code) return Key{kind};
    }
    if (code >= 0x20 && code < 0x7F) return Key{KeyKind::character, static_cast<char>(code)};
    return std::nullopt;
  }

 private:
  [[nodiscard]] int attributes_of(Look look) const {
    switch (look) {
      case Look::normal: break;
      case Look::title:
      case Look::heading: return static_cast<int>(A_BOLD);
      case Look::selected: return static_cast<int>(A_REVERSE);
      case Look::alarm: return static_cast<int>(colours_ ? static_cast<unsigned>(COLOR_PAIR(alarm_pair)) : A_BOLD);
      case Look::faint: return static_cast<int>(A_DIM);
    }
    return static_cast<int>(A_NORMAL);
  }

  ScreenSignals signals_;  // before initscr()
  bool colours_ = false;
  int input_ = STDIN_FILENO;  // -1: it has ended
};

}  // namespace

std::unique_ptr<Screen> make_screen(bool colours) {
  // initscr() would end the program on an unknown terminal.
  int error = 0;
  if (::setupterm(nullptr, 1, &error) != OK)
    throw std::runtime_error("unknown terminal type (TERM): set TERM to a similar one, such as xterm, or use --once");
  return std::make_unique<CursesScreen>(colours);
}

}  // namespace nfx::app::top
