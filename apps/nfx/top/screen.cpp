// The terminal through ncurses.
#define NCURSES_NOMACROS
#include "top/screen.hpp"

#include <curses.h>
#include <signal.h>
#include <term.h>

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

// term.h has these names as macros.
#undef columns
#undef lines
#undef tab

namespace nfx::app::top {
namespace {

constexpr int escape_code = 27;
constexpr short alarm_pair = 1;

std::atomic<bool> end_wanted{false};  // a handler's, on whichever thread
static_assert(std::atomic<bool>::is_always_lock_free);

// Ctrl-C and SIGTERM are keys while this lives. ncurses' own handlers, which it sets where there is none, would end the
// program as one that failed. A signal that nohup or a shell ignores stays ignored.
class EndSignals {
 public:
  EndSignals() noexcept {
    for (std::size_t i = 0; i < signals.size(); ++i) {
      struct sigaction action{};
      action.sa_handler = [](int) { end_wanted.store(true); };
      ::sigemptyset(&action.sa_mask);
      ::sigaction(signals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_DFL) ::sigaction(signals[i], &action, nullptr);
    }
  }
  ~EndSignals() {
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
  }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

 private:
  static constexpr std::array signals{SIGINT, SIGTERM};
  std::array<struct sigaction, signals.size()> before_{};
};

class CursesScreen final : public Screen {
 public:
  explicit CursesScreen(bool colours) {
    ::initscr();
    ::cbreak();
    ::noecho();
    ::keypad(::stdscr, TRUE);
    ::set_escdelay(50);
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

  std::optional<Key> key(Duration timeout) override {
    ::wtimeout(::stdscr, static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count()));
    const int code = ::wgetch(::stdscr);
    if (end_wanted.load()) return Key{KeyKind::quit};
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

  EndSignals signals_;  // before initscr()
  bool colours_ = false;
};

}  // namespace

std::unique_ptr<Screen> make_screen(bool colours) {
  // Where the terminal is not known, initscr() would end the program.
  int error = 0;
  if (::setupterm(nullptr, 1, &error) != OK)
    throw std::runtime_error(
        "this terminal is not known (TERM): set TERM to one that it is like, such as xterm, or use "
        "--once");
  return std::make_unique<CursesScreen>(colours);
}

}  // namespace nfx::app::top
