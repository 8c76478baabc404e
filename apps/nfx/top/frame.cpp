// Formats tables and messages as lines.
#include "top/frame.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/printable.hpp"
#include "base/text.hpp"

namespace nfx::app::top {
namespace {

constexpr std::size_t most_lines = 100'000;  // for messages, and for tables without a row limit
constexpr std::size_t widest_first = 32;     // of the first column in a terminal, before other columns are added

std::string_view help_text() noexcept {
  return R"(1 2 3 4  sessions, threads, messages, slowest moments
Tab      the next of them
Enter    the messages of the selected session
arrows   up and down: select, scroll; left and right: another column to sort by
< >      the same as left and right
PgUp PgDn Home End   further
r        reverse the order
/        show only rows with this text: Enter keeps it, Esc clears it
w        window of the latencies: 1s, 10s, 1min, 1day, start
l        stage of the columns p50 and p99
Esc      clear the filter, or back to the sessions
? h      this help; any key closes it
q        quit)";
}

std::string cut(std::string text, std::size_t columns) {
  if (text.size() > columns) {
    text.resize(columns);
    if (columns > 3) text.back() = '>';
  }
  return text;
}

std::string rate_sum(const Snapshot& snapshot, std::optional<double> SessionRow::* rate) {
  double sum = 0;
  bool any = false;
  for (const SessionRow& each : snapshot.sessions) {
    any = any || (each.*rate).has_value();
    sum += (each.*rate).value_or(0);
  }
  return any ? std::to_string(static_cast<std::uint64_t>(sum + 0.5)) + "/s" : "-";
}

Line title_of(const Snapshot& snapshot) {
  if (!snapshot.connected) {
    return {"no engine answers: " + one_line(snapshot.problem.empty() ? "waiting for the first answer"
                                                                      : std::string_view{snapshot.problem}),
            Look::alarm};
  }
  const auto logged_on = std::ranges::count_if(snapshot.sessions, &SessionRow::logged_on);
  std::string text = one_line(snapshot.state) + ", " + std::to_string(logged_on) + " of " +
                     std::to_string(snapshot.sessions.size()) + " logged on, in " +
                     rate_sum(snapshot, &SessionRow::in_rate) + " out " + rate_sum(snapshot, &SessionRow::out_rate) +
                     "  " + one_line(snapshot.utc) + "  pid " + std::to_string(snapshot.pid) + ", NexusFIX " +
                     one_line(snapshot.version);
  if (!snapshot.complete)
    return {"a poll thread did not answer in time: its sessions are missing; " + text, Look::alarm};
  return {std::move(text), Look::title};
}

std::string views_of(const ViewState& state) {
  std::string text;
  for (std::size_t i = 0; i < view_names.size(); ++i) {
    const bool shown = static_cast<std::size_t>(state.view) == i;
    text.append(text.empty() ? "" : " ").append(shown ? "[" : "").append(std::to_string(i + 1)).append(" ");
    text.append(view_names[i]).append(shown ? "]" : "");
  }
  if (state.view != View::messages) text.append("  window ").append(to_string(state.window));
  if (state.view == View::sessions) text.append(", ").append(to_string(state.stage));
  if (!state.filter.empty()) text.append("  filter ").append(one_line(state.filter));
  return text;
}

// Chooses the columns that fit, by importance. The table's first column is shown whole, up to a limit, before less
// important ones.
struct Layout {
  std::vector<std::size_t> columns;
  std::vector<std::size_t> widths;
};

Layout layout_of(const std::vector<Column>& columns, const std::vector<Row>& rows, Size size) {
  const std::size_t width = size.columns;
  const auto longest_in = [&](std::size_t column) {
    std::size_t longest = columns[column].title.size() + 1;  // including the sort mark
    for (const Row& row : rows) longest = std::max(longest, row.cells[column].text.size());
    return longest;
  };
  std::vector<std::size_t> order(columns.size()), widths;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return columns[i].importance; });
  for (const Column& each : columns) widths.push_back(each.width);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].is_name && size.rows == Size::no_limit) widths[i] = std::max(widths[i], longest_in(i));
  }
  if (!columns[0].number) widths[0] = std::clamp(longest_in(0), widths[0], std::max(widths[0], widest_first));
  widths[0] = std::min(widths[0], width);
  std::vector<bool> shown(columns.size());
  std::size_t used = 0;
  for (const std::size_t i : order) {
    const std::size_t needed = widths[i] + (used == 0 ? 0 : 1);
    if (used != 0 && used + needed > width) break;
    used += needed;
    shown[i] = true;
  }
  Layout layout;
  std::size_t spare = width > used ? width - used : 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!shown[i]) continue;
    const std::size_t longest = longest_in(i);
    const std::size_t more = longest > widths[i] ? std::min(longest - widths[i], spare) : 0;
    spare -= more;
    layout.columns.push_back(i);
    layout.widths.push_back(widths[i] + more);
  }
  return layout;
}

void append_cell(std::string& line, std::string text, std::size_t width, bool to_the_right) {
  if (!line.empty()) line += ' ';
  text = cut(std::move(text), width);
  const std::size_t padding = width - text.size();
  if (to_the_right) line.append(padding, ' ');
  line += text;
  if (!to_the_right) line.append(padding, ' ');
}

void add_table(std::vector<Line>& lines, const Snapshot& snapshot, const ViewState& state, Size size,
               std::size_t space) {
  if (space == 0) return;
  const std::vector<Column> columns = columns_of(state.view);
  std::vector<Row> rows = rows_of(state, snapshot);
  for (Row& row : rows) {
    for (Cell& cell : row.cells) cell.text = one_line(cell.text);
  }
  const Layout layout = layout_of(columns, rows, size);
  std::string heading;
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    const std::size_t column = layout.columns[i];
    std::string title{columns[column].title};
    if (column == state.sorting().column) {
      title = title.substr(0, layout.widths[i] - 1);
      title += state.sorting().descending ? 'v' : '^';
    }
    append_cell(heading, std::move(title), layout.widths[i], columns[column].number);
  }
  lines.push_back({std::move(heading), Look::heading});
  const std::size_t body = space - 1;
  const bool selects = state.view == View::sessions && size.rows != Size::no_limit;
  const std::string wanted = one_line(state.session);
  const auto is_selected = [&](const Row& row) { return selects && row.cells[0].text == wanted; };
  std::size_t first = state.scrolled();
  if (selects) {
    const auto at = static_cast<std::size_t>(std::ranges::find_if(rows, is_selected) - rows.begin());
    first = at == rows.size() || at < body ? 0 : at + 1 - body;
  }
  first = std::min(first, rows.size() > body ? rows.size() - body : 0);
  for (std::size_t i = first; i < rows.size() && i - first < body; ++i) {
    std::string text;
    for (std::size_t k = 0; k < layout.columns.size(); ++k)
      append_cell(text, rows[i].cells[layout.columns[k]].text, layout.widths[k], columns[layout.columns[k]].number);
    lines.push_back({std::move(text), is_selected(rows[i]) ? Look::selected
                                      : rows[i].alarm      ? Look::alarm
                                                           : Look::normal});
  }
  if (rows.empty() && body != 0) {
    const std::string_view none = !snapshot.connected                                 ? ""
                                  : !state.filter.empty()                             ? "nothing with this filter"
                                  : state.view == View::slowest && !snapshot.measured ? "[engine] latency = false"
                                                                                      : "nothing yet";
    lines.push_back({std::string{none}, Look::faint});
  }
}

bool passes(const MessageRow& message, const std::string& filter) {
  if (filter.empty()) return true;
  const auto has = [&](std::string_view text) { return !std::ranges::search(text, filter, {}, lower, lower).empty(); };
  return has(message.type_name) || has(message.type) || has(message.direction) ||
         std::ranges::any_of(message.fields, has);
}

// A message as a line about it, followed by its fields, as many per line as fit.
std::vector<Line> lines_of(const MessageRow& message, std::size_t columns) {
  std::string about =
      one_line(message.time) + ' ' + (message.direction == "in" ? "in  " : "out ") +
      one_line(message.type_name.empty() ? message.type : message.type_name + " (" + message.type + ")") + ", number " +
      one_line(message.seq) + ", " + std::to_string(message.size) + " bytes";
  if (message.cut) about += ", its end is not shown";
  std::vector<Line> lines{{cut(std::move(about), columns), Look::heading}};
  std::string line;
  for (const std::string& field : message.fields) {
    std::string text = one_line(field);
    if (!line.empty() && line.size() + 2 + text.size() > columns) {
      lines.push_back({std::exchange(line, {})});
      if (lines.size() >= most_lines) return lines;
    }
    line += line.empty() ? "  " : " ";
    line += text;
    while (line.size() > columns && columns > 4) {  // a long field takes several lines
      lines.push_back({line.substr(0, columns)});
      line = "    " + line.substr(columns);
    }
  }
  if (!line.empty()) lines.push_back({cut(std::move(line), columns)});
  return lines;
}

// The newest message is at the bottom; scrolling counts from there.
void add_messages(std::vector<Line>& lines, const Snapshot& snapshot, const ViewState& state, Size size,
                  std::size_t space) {
  if (space == 0) return;
  std::string about = state.session.empty() ? "no session is selected" : one_line(state.session);
  if (snapshot.messages_of == state.session && snapshot.dropped != 0)
    about += ", " + std::to_string(snapshot.dropped) + " were too many to be copied";
  lines.push_back({cut(std::move(about), size.columns), Look::title});
  const std::size_t body = std::min(space - 1, most_lines);
  if (body == 0) return;
  if (snapshot.messages_of != state.session || !snapshot.messages_problem.empty()) {
    const bool refused = snapshot.messages_of == state.session;
    lines.push_back({refused ? one_line(snapshot.messages_problem) : "", Look::alarm});
    return;
  }
  std::vector<std::vector<Line>> newest_first;
  std::size_t count = 0;
  for (auto each = snapshot.messages.rbegin(); each != snapshot.messages.rend(); ++each) {
    if (!passes(*each, state.filter)) continue;
    newest_first.push_back(lines_of(*each, size.columns));
    count += newest_first.back().size();
    if (count >= body + state.scrolled()) break;
  }
  std::vector<Line> all;
  for (auto each = newest_first.rbegin(); each != newest_first.rend(); ++each)
    std::ranges::move(*each, std::back_inserter(all));
  const std::size_t hidden = std::min(state.scrolled(), all.size() > body ? all.size() - body : 0);
  const std::size_t end = all.size() - hidden;
  for (std::size_t i = end > body ? end - body : 0; i < end; ++i) lines.push_back(std::move(all[i]));
  if (all.empty()) lines.push_back({"no message since it is shown", Look::faint});
}

void add_help(std::vector<Line>& lines, std::size_t space) {
  std::string_view rest = help_text();
  while (!rest.empty() && space-- != 0) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    lines.push_back({std::string{line}});
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string safe, line;
  append_printable(safe, text);
  for (const char c : safe) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) line += c;
    if (byte >= 0xC0) line += '?';  // the first byte of a character; later bytes take no column
  }
  return line;
}

Size printed_size(const Snapshot& snapshot, const ViewState& state, std::size_t columns) {
  std::size_t longest = one_line(state.session).size();
  for (const SessionRow& each : snapshot.sessions) longest = std::max(longest, one_line(each.name).size());
  for (const MomentRow& each : snapshot.moments) longest = std::max(longest, one_line(each.session).size());
  const std::size_t more = longest > widest_first ? longest - widest_first : 0;
  return {.columns = std::max(columns, widest_first) + more, .rows = Size::no_limit};
}

std::vector<Line> frame_of(const Snapshot& snapshot, const ViewState& state, Size size) {
  std::vector<Line> lines;
  const bool whole = size.rows == Size::no_limit;
  const std::size_t rows = whole ? most_lines : size.rows;
  const bool has_views = rows >= 6;
  const bool has_keys = !whole && rows >= 4;
  if (rows == 0 || size.columns == 0) return lines;
  lines.push_back(title_of(snapshot));
  if (has_views) lines.push_back({views_of(state), Look::faint});
  const std::size_t taken = lines.size() + (has_keys ? 1 : 0);
  const std::size_t space = rows > taken ? rows - taken : 0;
  if (state.help) {
    add_help(lines, space);
  } else if (state.view == View::messages) {
    add_messages(lines, snapshot, state, size, space);
  } else {
    add_table(lines, snapshot, state, size, space);
  }
  if (has_keys) {
    lines.resize(rows - 1);
    lines.push_back({state.typing_filter ? "filter: " + one_line(state.filter) + "_"
                                         : "q quit  ? help  Tab view  / filter  < > sort  r reverse  Enter messages",
                     Look::faint});
  }
  for (Line& line : lines) {
    line.text.resize(line.text.find_last_not_of(' ') + 1);
    line.text = cut(std::move(line.text), size.columns);
  }
  return lines;
}

}  // namespace nfx::app::top
