// The tables of `nfx top` and its keys.
#include "top/view.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/text.hpp"

namespace nfx::app::top {
namespace {

constexpr std::size_t longest_filter = 64;

constexpr std::array session_columns{
    Column{"SESSION", 12, false, 0, true}, Column{"STATE", 12, false, 1},   Column{"NEXT IN", 8, true, 3},
    Column{"NEXT OUT", 8, true, 2},        Column{"IN/s", 6, true, 9},      Column{"OUT/s", 6, true, 6},
    Column{"GAP", 6, false, 10},           Column{"p50", 8, true, 5},       Column{"p99", 8, true, 4},
    Column{"LAG p99", 8, true, 13},        Column{"PENDING", 8, true, 14},  Column{"SINCE", 8, true, 7},
    Column{"LAST IN", 8, true, 11},        Column{"LAST OUT", 8, true, 12}, Column{"LAST END", 16, false, 8},
    Column{"PEER", 21, false, 15}};
constexpr std::array thread_columns{
    Column{"THREAD", 12, false, 0},    Column{"CPU", 3, true, 2},      Column{"STATE", 5, false, 8},
    Column{"BUSY", 6, true, 1},        Column{"WAITED", 6, true, 3},   Column{"STOLEN", 6, true, 6},
    Column{"MIGRATIONS", 10, true, 5}, Column{"INVOLUNT", 8, true, 4}, Column{"WORST GAP", 9, true, 7}};
constexpr std::array slowest_columns{
    Column{"TOOK", 8, true, 0},    Column{"CAUSE", 11, false, 1},         Column{"STAGE", 19, false, 2},
    Column{"ENDED", 12, false, 4}, Column{"SESSION", 20, false, 3, true}, Column{"THREAD", 6, true, 6},
    Column{"HOST", 30, false, 5}};

Cell text_cell(std::string text) { return {.text = std::move(text), .known = true}; }

Cell count_cell(Count count) {
  if (!count) return {};
  return {.text = std::to_string(*count), .number = static_cast<double>(*count), .known = true};
}

template <std::size_t Size = 32>
std::string formatted(const char* format, double number) {
  std::array<char, Size> text;
  std::snprintf(text.data(), text.size(), format, number);
  return text.data();
}

// "812 ns", "12.3 us", "1.24 s".
Cell duration_cell(Count ns) {
  if (!ns) return {};
  const auto number = static_cast<double>(*ns);
  constexpr std::array<std::pair<double, const char*>, 4> units{{{1, " ns"}, {1e3, " us"}, {1e6, " ms"}, {1e9, " s"}}};
  std::size_t unit = 0;
  while (unit + 1 < units.size() && number >= units[unit + 1].first) ++unit;
  const double scaled = number / units[unit].first;
  const char* const format = unit == 0 || scaled >= 99.95 ? "%.0f" : scaled >= 9.995 ? "%.1f" : "%.2f";
  return {.text = formatted(format, scaled) + units[unit].second, .number = number, .known = true};
}

// "0.5", "120", "1.2M".
Cell rate_cell(std::optional<double> rate) {
  if (!rate || !std::isfinite(*rate)) return {};
  std::string text = *rate >= 999'950              ? formatted("%.1fM", *rate / 1e6)
                     : *rate >= 9'995              ? formatted("%.0fk", *rate / 1e3)
                     : *rate >= 9.95 || *rate == 0 ? formatted("%.0f", *rate)
                                                   : formatted("%.1f", *rate);
  return {.text = std::move(text), .number = *rate, .known = true};
}

Cell part_cell(std::optional<double> part) {
  if (!part || !std::isfinite(*part)) return {};
  return {.text = formatted("%.1f%%", *part * 100), .number = *part, .known = true};
}

Cell stage_cell(const std::optional<Percentiles>& stage, std::uint64_t Percentiles::* member) {
  return stage ? duration_cell((*stage).*member) : Cell{};
}

Cell gap_cell(const SessionRow& session) {
  if (session.gap_open) {
    const std::uint64_t queued = session.queued.value_or(0);
    return text_cell(queued == 0 ? "open" : "+" + std::to_string(queued));
  }
  return session.resending ? text_cell("resend") : Cell{};
}

// "12:00:00", or the date if it is another day. Sorted by the full time.
Cell time_cell(const std::string& time, const std::string& today) {
  constexpr std::size_t date_size = 8, clock_begin = 9, clock_size = 8;
  if (time.size() < clock_begin + clock_size) return {};
  const std::string date = time.substr(0, date_size);
  Cell cell = text_cell(date == today ? time.substr(clock_begin, clock_size) : date);
  for (const char c : time.substr(0, clock_begin + clock_size)) {
    if (c >= '0' && c <= '9') cell.number = cell.number * 10 + (c - '0');
  }
  return cell;
}

Row row_of(const SessionRow& session, LatencyStage shown, const std::string& today) {
  const auto& stage = session.stages[static_cast<std::size_t>(shown)];
  const auto& lag = session.stages[static_cast<std::size_t>(LatencyStage::durable_lag)];
  return {.cells = {text_cell(session.name), text_cell(session.state), count_cell(session.next_in),
                    count_cell(session.next_out), rate_cell(session.in_rate), rate_cell(session.out_rate),
                    gap_cell(session), stage_cell(stage, &Percentiles::p50_ns), stage_cell(stage, &Percentiles::p99_ns),
                    stage_cell(lag, &Percentiles::p99_ns), count_cell(session.pending_bytes),
                    time_cell(session.since, today), time_cell(session.last_in, today),
                    time_cell(session.last_out, today), session.last_end.empty() ? Cell{} : text_cell(session.last_end),
                    session.peer.empty() || session.peer == "-" ? Cell{} : text_cell(session.peer)},
          .alarm = session.gap_open || (!session.logged_on && session.in_hours)};
}

Row row_of(const ThreadRow& thread) {
  return {.cells = {text_cell(thread.name), count_cell(thread.cpu), text_cell(thread.state), part_cell(thread.busy),
                    part_cell(thread.waited), part_cell(thread.stolen), count_cell(thread.migrations),
                    count_cell(thread.involuntary), duration_cell(thread.worst_gap_ns)},
          .alarm = thread.poll_thread && thread.waited.value_or(0) > 0.1};
}

Row row_of(const MomentRow& moment) {
  return {.cells = {duration_cell(moment.took_ns), text_cell(moment.cause), text_cell(moment.stage),
                    text_cell(moment.ended), moment.session.empty() ? Cell{} : text_cell(moment.session),
                    count_cell(moment.poll_thread), moment.evidence.empty() ? Cell{} : text_cell(moment.evidence)}};
}

bool contains(std::string_view text, std::string_view part) {
  return !std::ranges::search(text, part, {}, lower, lower).empty() || part.empty();
}

bool before(const Row& a, const Row& b, Sort sort, bool number) {
  const Cell &x = a.cells[sort.column], &y = b.cells[sort.column];
  if (x.known != y.known) return x.known;
  if (number && x.number != y.number) return (x.number < y.number) != sort.descending;
  if (!number && x.text != y.text) return (x.text < y.text) != sort.descending;
  return a.cells[0].text < b.cells[0].text;
}

template <class Enum>
Enum next(Enum of, Enum last) noexcept {
  return of == last ? Enum{} : static_cast<Enum>(static_cast<std::size_t>(of) + 1);
}

// The row of the selected session, or the first row.
std::size_t selected_row(const std::vector<Row>& rows, const ViewState& state) {
  const auto found = std::ranges::find_if(rows, [&](const Row& row) { return row.cells[0].text == state.session; });
  return found == rows.end() ? 0 : static_cast<std::size_t>(found - rows.begin());
}

// Lines are counted from the newest message in the message view, and from the top elsewhere.
void move(ViewState& state, const Snapshot& snapshot, std::ptrdiff_t by) {
  if (state.view == View::messages) by = -by;
  if (state.view != View::sessions) {
    const std::size_t most = state.view == View::messages ? std::size_t{1} << 20 : rows_of(state, snapshot).size();
    const auto wanted = static_cast<std::ptrdiff_t>(state.scrolled()) + by;
    state.scrolled() =
        std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(wanted, 0)), most == 0 ? 0 : most - 1);
    return;
  }
  const std::vector<Row> rows = rows_of(state, snapshot);
  if (rows.empty()) return;
  const auto wanted = static_cast<std::ptrdiff_t>(selected_row(rows, state)) + by;
  const auto last = static_cast<std::ptrdiff_t>(rows.size()) - 1;
  state.session = rows[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(wanted, 0, last))].cells[0].text;
}

void type_filter(ViewState& state, Key key) {
  if (key.kind == KeyKind::enter) {
    state.typing_filter = false;
  } else if (key.kind == KeyKind::escape) {
    state.typing_filter = false;
    state.filter.clear();
  } else if (key.kind == KeyKind::backspace) {
    if (!state.filter.empty()) state.filter.pop_back();
  } else if (key.kind == KeyKind::character && key.c >= 0x20 && key.c < 0x7F && state.filter.size() < longest_filter) {
    state.filter += key.c;
  }
}

void sort_by(ViewState& state, std::ptrdiff_t step) {
  const auto count = static_cast<std::ptrdiff_t>(columns_of(state.view).size());
  if (count == 0) return;
  const auto column = static_cast<std::ptrdiff_t>(state.sorting().column);
  state.sorting().column = static_cast<std::size_t>((column + step + count) % count);
}

void show(ViewState& state, View view, const Snapshot& snapshot) {
  // The messages belong to the selected session, or to the one that the next key would select.
  if (view == View::messages && state.session.empty()) {
    ViewState sessions = state;
    sessions.view = View::sessions;
    if (const std::vector<Row> rows = rows_of(sessions, snapshot); !rows.empty())
      state.session = rows.front().cells[0].text;
  }
  state.view = view;
}

bool press_character(ViewState& state, char c, const Snapshot& snapshot) {
  switch (c) {
    case 'q': return false;
    case '?':
    case 'h': state.help = true; break;
    case '1': show(state, View::sessions, snapshot); break;
    case '2': show(state, View::threads, snapshot); break;
    case '3': show(state, View::messages, snapshot); break;
    case '4': show(state, View::slowest, snapshot); break;
    case '/': state.typing_filter = true; break;
    case '<': sort_by(state, -1); break;
    case '>': sort_by(state, 1); break;
    case 'r': state.sorting().descending = !state.sorting().descending; break;
    case 'w': state.window = next(state.window, LatencyWindow::since_start); break;
    case 'l': state.stage = next(state.stage, LatencyStage::request_to_answer); break;
    default: break;
  }
  return true;
}

}  // namespace

ViewState::ViewState() { sort[static_cast<std::size_t>(View::slowest)].descending = true; }

std::vector<Column> columns_of(View view) {
  switch (view) {
    case View::sessions: return {session_columns.begin(), session_columns.end()};
    case View::threads: return {thread_columns.begin(), thread_columns.end()};
    case View::slowest: return {slowest_columns.begin(), slowest_columns.end()};
    case View::messages: break;
  }
  return {};
}

std::vector<Row> rows_of(const ViewState& state, const Snapshot& snapshot) {
  std::vector<Row> rows;
  switch (state.view) {
    case View::sessions:
      for (const SessionRow& each : snapshot.sessions) rows.push_back(row_of(each, state.stage, snapshot.date));
      break;
    case View::threads:
      for (const ThreadRow& each : snapshot.threads) rows.push_back(row_of(each));
      break;
    case View::slowest:
      for (const MomentRow& each : snapshot.moments) rows.push_back(row_of(each));
      break;
    case View::messages: return rows;
  }
  std::erase_if(rows, [&](const Row& row) {
    return std::ranges::none_of(row.cells, [&](const Cell& cell) { return contains(cell.text, state.filter); });
  });
  const std::vector<Column> columns = columns_of(state.view);
  Sort sort = state.sorting();
  sort.column = std::min(sort.column, columns.size() - 1);
  std::ranges::stable_sort(rows,
                           [&](const Row& a, const Row& b) { return before(a, b, sort, columns[sort.column].number); });
  return rows;
}

bool press(ViewState& state, Key key, const Snapshot& snapshot, Size size) {
  if (key.kind == KeyKind::resized) return true;
  if (key.kind == KeyKind::quit) return false;
  if (state.typing_filter) {
    type_filter(state, key);
    return true;
  }
  if (state.help) {
    state.help = false;  // any key, including 'q', which readers of help press
    return true;
  }
  const auto page = static_cast<std::ptrdiff_t>(std::clamp<std::size_t>(size.rows, 6, 1000) - 5);
  constexpr std::ptrdiff_t everything = 1 << 20;
  switch (key.kind) {
    case KeyKind::character: return press_character(state, key.c, snapshot);
    case KeyKind::up: move(state, snapshot, -1); break;
    case KeyKind::down: move(state, snapshot, 1); break;
    case KeyKind::page_up: move(state, snapshot, -page); break;
    case KeyKind::page_down: move(state, snapshot, page); break;
    case KeyKind::home: move(state, snapshot, -everything); break;
    case KeyKind::end: move(state, snapshot, everything); break;
    case KeyKind::left: sort_by(state, -1); break;
    case KeyKind::right: sort_by(state, 1); break;
    case KeyKind::enter:
      if (state.view == View::sessions) {
        move(state, snapshot, 0);
        show(state, View::messages, snapshot);
      }
      break;
    case KeyKind::escape:
      if (!state.filter.empty()) {
        state.filter.clear();
      } else {
        show(state, View::sessions, snapshot);
      }
      break;
    case KeyKind::tab: show(state, next(state.view, View::slowest), snapshot); break;
    case KeyKind::backspace:
    case KeyKind::resized:
    case KeyKind::quit: break;
  }
  return true;
}

}  // namespace nfx::app::top
