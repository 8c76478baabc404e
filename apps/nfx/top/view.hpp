// The tables of `nfx top` for a snapshot, and the effect of keys: functions of their arguments, without a terminal.
// Thread: values. Cost: allocates. Errors: none; keys without a meaning change nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/enum_values.hpp"
#include "nexusfix/engine/latency.hpp"
#include "top/snapshot.hpp"

namespace nfx::app::top {

enum class View : std::uint8_t { sessions, threads, messages, slowest };
inline constexpr std::array<std::string_view, 4> view_names{"sessions", "threads", "messages", "slowest"};
[[nodiscard]] constexpr std::string_view to_string(View view) noexcept {
  return view_names[static_cast<std::size_t>(view)];
}

enum class KeyKind : std::uint8_t {
  character,  // `c`
  up,
  down,
  left,
  right,
  page_up,
  page_down,
  home,
  end,
  enter,
  escape,
  backspace,
  tab,
  resized,  // nothing was typed: redraw
  quit,     // like 'q' in any state: Ctrl-C or SIGTERM
};
struct Key {
  KeyKind kind = KeyKind::character;
  char c = '\0';
};

struct Size {
  std::size_t columns = 80;
  std::size_t rows = 24;  // no_limit: all rows, without the line about keys
  static constexpr std::size_t no_limit = SIZE_MAX;
};

struct Sort {
  std::size_t column = 0;
  bool descending = false;
};

struct ViewState {
  View view = View::sessions;
  bool help = false;
  bool typing_filter = false;
  std::string filter;
  std::string session;                                     // the selected session, whose messages are shown
  std::array<Sort, view_names.size()> sort{};              // per view
  std::array<std::size_t, view_names.size()> first_row{};  // scroll position
  LatencyWindow window = LatencyWindow::ten_seconds;
  LatencyStage stage = LatencyStage::in_application;

  ViewState();
  [[nodiscard]] Sort& sorting() noexcept { return sort[static_cast<std::size_t>(view)]; }
  [[nodiscard]] const Sort& sorting() const noexcept { return sort[static_cast<std::size_t>(view)]; }
  [[nodiscard]] std::size_t& scrolled() noexcept { return first_row[static_cast<std::size_t>(view)]; }
  [[nodiscard]] std::size_t scrolled() const noexcept { return first_row[static_cast<std::size_t>(view)]; }
};

// The columns of a view's table; none for messages.
struct Column {
  std::string_view title;
  std::size_t width = 0;    // minimum width
  bool number = false;      // right-aligned, and sorted numerically
  unsigned importance = 0;  // columns with the highest value are dropped first
  bool is_name = false;     // a session's name: shown whole in a frame without a row limit
};
[[nodiscard]] std::vector<Column> columns_of(View view);

// A value in a table. An unknown value is "-", and last in any order.
struct Cell {
  std::string text = "-";
  double number = 0;
  bool known = false;
};
struct Row {
  std::vector<Cell> cells;
  bool alarm = false;  // operators should notice it
};
// The rows that match the filter, sorted.
[[nodiscard]] std::vector<Row> rows_of(const ViewState& state, const Snapshot& snapshot);

// False if the program ends.
[[nodiscard]] bool press(ViewState& state, Key key, const Snapshot& snapshot, Size size);

}  // namespace nfx::app::top
