// The output of nfx top: pictures of snapshots at several sizes, and the effects of keys.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "nexusfix/dictionary/load.hpp"
#include "top/frame.hpp"

namespace nfx::app::top {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array sizes{Size{80, 24}, Size{120, 40}, Size{40, 10}, Size{20, 5}};

// As in a parsed answer: numbers that are not negative are unsigned.
Json parsed(const Json& json) { return Json::parse(json.dump(-1, ' ', false, Json::error_handler_t::replace)); }

Json session_json(const std::string& name, unsigned number, bool logged_on = true) {
  return {{"name", name},
          {"state", logged_on ? "logged_on" : "disconnected"},
          {"enabled", true},
          {"connected", logged_on},
          {"peer", "127.0.0.1:" + std::to_string(4000 + number)},
          {"next_in", 100 * number},
          {"next_out", 100 * number + 1},
          {"gap_open", number % 3 == 0},
          {"queued", number},
          {"pending_bytes", 0},
          {"counters", {{"messages_in_total", 100 * number}, {"messages_out_total", 200 * number}}}};
}

Json counts_json(std::uint64_t p50, std::uint64_t p99) {
  return {{"count", 10}, {"p50_ns", p50}, {"p99_ns", p99}, {"max_ns", 2 * p99}};
}

Snapshot snapshot_of(const std::vector<std::string>& names) {
  Snapshot snapshot;
  snapshot.connected = true;
  snapshot.utc = "12:00:00";
  read_engine(parsed({{"version", "1.2.3"}, {"state", "serving"}, {"pid", 4711}}), snapshot);
  Json list{{"complete", true}, {"sessions", Json::array()}}, stages = Json::array();
  unsigned number = 0;
  for (const std::string& name : names) {
    ++number;
    list["sessions"].push_back(session_json(name, number, number != 2));
    stages.push_back({{"name", name},
                      {"stages",
                       {{"in_application", counts_json(1'500 * number, 12'345 * number)},
                        {"durable_lag", counts_json(800'000, 2'500'000)}}}});
  }
  read_sessions(parsed(list), snapshot);
  read_threads(parsed({{"running",
                        {{{"name", "nfx"},
                          {"tid", 1},
                          {"poll_thread", 0},
                          {"cpu", 3},
                          {"state", "R"},
                          {"run_ns", 5'000'000'000},
                          {"wait_ns", 1'000'000'000},
                          {"migrations", 4},
                          {"involuntary_switches", 17},
                          {"cpu_stolen_ns", 20'000'000}},
                         {{"name", "nfx-log-0"},
                          {"tid", 2},
                          {"poll_thread", nullptr},
                          {"cpu", 1},
                          {"state", "S"},
                          {"run_ns", nullptr},
                          {"migrations", nullptr}}}}}),
               snapshot);
  read_latency(parsed({{"measured", true},
                       {"sessions", stages},
                       {"threads", {{{"poll_thread", 0}, {"poll_gap", counts_json(500, 40'000)}}}}}),
               snapshot);
  read_slowest(parsed({{"moments",
                        {{{"ended", "20240315-12:00:00.123"},
                          {"took_ns", 3'200'000},
                          {"stage", "in_application"},
                          {"session", names.empty() ? "" : names[0]},
                          {"poll_thread", 0},
                          {"cause", "scheduler"},
                          {"between_ns", 200'500'000},
                          {"waited_ns", 3'100'000},
                          {"involuntary_switches", 2}},
                         {{"ended", "20240315-12:00:01.500"},
                          {"took_ns", 7'000},
                          {"stage", "turn"},
                          {"session", ""},
                          {"poll_thread", 0},
                          {"cause", "disk"}}}}}),
               snapshot);
  return snapshot;
}

Json message_json(std::uint64_t number, const std::string& text = "hello") {
  return {
      {"number", number},
      {"time", "20240315-12:00:00.123"},
      {"direction", number % 2 == 0 ? "in" : "out"},
      {"size", 150},
      {"cut", false},
      {"fields",
       {{8, "FIX.4.4"}, {35, "D"}, {34, std::to_string(number)}, {554, "***"}, {54, "1"}, {58, text}, {0, "junk"}}}};
}

std::string joined(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) text += line.text + '\n';
  return text;
}

void expect_fits(const std::vector<Line>& lines, Size size) {
  EXPECT_LE(lines.size(), size.rows);
  for (const Line& line : lines) {
    EXPECT_LE(line.text.size(), size.columns) << line.text;
    EXPECT_TRUE(std::ranges::all_of(line.text, [](char c) { return c >= 0x20 && c < 0x7F; })) << line.text;
  }
}

Snapshot three() { return snapshot_of({"FIX.4.4:VENUE->ALPHA", "FIX.4.4:VENUE->BRAVO", "FIX.4.4:VENUE->CHARLIE"}); }

void type(ViewState& state, const Snapshot& snapshot, std::string_view keys) {
  for (const char c : keys) EXPECT_TRUE(press(state, {KeyKind::character, c}, snapshot, {}));
}

Json session_at(const std::string& name, const Json& times) {
  Json session = session_json(name, 1, false);
  session.update(times);
  return session;
}

// The cell of a session's row under this title.
std::string cell_of(const Snapshot& snapshot, const std::string& name, std::string_view title) {
  const ViewState state;
  const std::vector<Column> columns = columns_of(View::sessions);
  const auto column = std::ranges::find(columns, title, &Column::title) - columns.begin();
  for (const Row& row : rows_of(state, snapshot)) {
    if (row.cells[0].text == name) return row.cells[static_cast<std::size_t>(column)].text;
  }
  return "no such row";
}

TEST(TopFrame, a_session_outside_its_hours_is_closed_and_no_alarm_and_says_why_it_ended) {
  Snapshot snapshot;
  snapshot.connected = true;
  snapshot.date = "20240315";
  const Json end{{"time", "20240315-17:00:00.123"},
                 {"reason", "schedule"},
                 {"reason_text", "the session's time is over"},
                 {"text", "the session's time is over"}};
  const Json refused{{"time", "20240314-09:00:00.000"},
                     {"reason", "refused_by_peer"},
                     {"reason_text", "Logon refused by the peer"},
                     {"text", "wrong password"}};
  read_sessions(
      parsed({{"complete", true},
              {"sessions",
               {session_at("NIGHT", {{"in_hours", false}, {"last_end", end}, {"last_in", "20240315-16:59:59.000"}}),
                session_at("DAY", {{"in_hours", true}, {"last_end", refused}}),
                session_at("NEW", {{"in_hours", true}, {"last_end", nullptr}, {"logged_on_since", nullptr}})}}}),
      snapshot);
  EXPECT_EQ(cell_of(snapshot, "NIGHT", "STATE"), "closed");
  EXPECT_EQ(cell_of(snapshot, "NIGHT", "SINCE"), "17:00:00");
  EXPECT_EQ(cell_of(snapshot, "NIGHT", "LAST IN"), "16:59:59");
  EXPECT_EQ(cell_of(snapshot, "NIGHT", "LAST END"), "the session's time is over");
  EXPECT_EQ(cell_of(snapshot, "DAY", "STATE"), "disconnected");
  EXPECT_EQ(cell_of(snapshot, "DAY", "SINCE"), "20240314") << "another day";
  EXPECT_EQ(cell_of(snapshot, "DAY", "LAST END"), "Logon refused by the peer: wrong password");
  EXPECT_EQ(cell_of(snapshot, "NEW", "SINCE"), "-");
  EXPECT_EQ(cell_of(snapshot, "NEW", "LAST END"), "-");
  for (const Row& row : rows_of(ViewState{}, snapshot)) EXPECT_EQ(row.alarm, row.cells[0].text != "NIGHT");
}

TEST(TopFrame, has_the_rows_of_the_terminal_and_every_session_where_there_is_space) {
  const Snapshot snapshot = three();
  for (const Size size : sizes) {
    const auto lines = frame_of(snapshot, {}, size);
    expect_fits(lines, size);
    EXPECT_EQ(lines.size(), size.rows);
  }
  const std::string wide = joined(frame_of(snapshot, {}, {180, 40}));
  for (const char* part :
       {"serving, 2 of 3 logged on", "pid 4711", "[1 sessions]", "SESSION^", "FIX.4.4:VENUE->CHARLIE", "logged on",
        "disconnected", "300", "301", "+3", "4.50 us", "37.0 us", "2.50 ms"})
    EXPECT_NE(wide.find(part), std::string::npos) << part << '\n' << wide;
  const std::string narrow = joined(frame_of(snapshot, {}, {20, 5}));
  EXPECT_NE(narrow.find("FIX.4.4:VENUE->ALPHA"), std::string::npos) << narrow;
}

TEST(TopFrame, leaves_the_less_important_columns_out_first) {
  const Snapshot snapshot = three();
  const auto heading = [&](std::size_t columns) { return frame_of(snapshot, {}, {columns, 24})[2].text; };
  EXPECT_NE(heading(180).find("LAG p99"), std::string::npos);
  EXPECT_NE(heading(80).find("p99"), std::string::npos);
  EXPECT_EQ(heading(80).find("PEER"), std::string::npos);
  EXPECT_NE(heading(40).find("STATE"), std::string::npos);
  EXPECT_EQ(heading(40).find("p50"), std::string::npos);
}

TEST(TopFrame, what_is_printed_has_whole_names) {
  const std::string name = "FIX.4.4:" + std::string(40, 'A') + "/DESK->" + std::string(40, 'B');
  Snapshot snapshot = snapshot_of({"FIX.4.4:VENUE->ALPHA", name});
  for (MomentRow& each : snapshot.moments) each.session = name;
  ASSERT_FALSE(snapshot.moments.empty());
  for (const std::size_t columns : {80U, 120U}) {
    for (const View view : {View::sessions, View::slowest, View::messages}) {
      ViewState state;
      state.view = view;
      state.session = snapshot.messages_of = name;
      const Size size = printed_size(snapshot, state, columns);
      const auto lines = frame_of(snapshot, state, size);
      expect_fits(lines, size);
      EXPECT_NE(joined(lines).find(name), std::string::npos) << joined(lines);
    }
    const std::string all = joined(frame_of(snapshot, {}, printed_size(snapshot, {}, columns)));
    EXPECT_NE(all.find("NEXT OUT"), std::string::npos) << all;
    EXPECT_EQ(printed_size(three(), {}, columns).columns, columns);
  }
}

TEST(TopFrame, hostile_text_stays_in_its_line_and_column) {
  const std::string hostile[] = {"\x1b[2J\x1b[H",
                                 "a\nb\r\tc",
                                 std::string(5000, 'x'),
                                 "\xff\xfe\x80",
                                 "\u202etxt\u4e2d\u6587",
                                 std::string(3, '\0'),
                                 "%s%n{}",
                                 ""};
  std::vector<std::string> names(std::begin(hostile), std::end(hostile));
  Snapshot snapshot = snapshot_of(names);
  for (std::size_t i = 0; i < names.size(); ++i) snapshot.sessions[i].name = snapshot.sessions[i].peer = names[i];
  for (auto& moment : snapshot.moments) moment.cause = moment.stage = moment.evidence = hostile[0] + hostile[4];
  for (auto& thread : snapshot.threads) thread.name = thread.state = hostile[1];
  snapshot.version = snapshot.state = snapshot.utc = hostile[4];
  for (const std::string& text : hostile) {
    Json list{{"messages", Json::array()}};
    list["messages"].push_back(message_json(1, text));
    for (MessageRow& row : read_messages(parsed(list), [](auto, auto) { return nullptr; })) {
      row.time = row.type = row.seq = row.direction = text;
      snapshot.messages.push_back(row);
    }
  }
  for (const std::string& name : hostile) {
    for (const Size size : sizes) {
      ViewState state;
      state.session = state.filter = snapshot.messages_of = name;
      for (const View view : {View::sessions, View::threads, View::messages, View::slowest}) {
        state.view = view;
        expect_fits(frame_of(snapshot, state, size), size);
        ViewState all = state;
        all.filter.clear();
        expect_fits(frame_of(snapshot, all, size), size);
        expect_fits(frame_of(snapshot, all, {size.columns, Size::no_limit}), {size.columns, Size::no_limit});
      }
      snapshot.connected = false;
      snapshot.problem = name;
      expect_fits(frame_of(snapshot, state, size), size);
      snapshot.connected = true;
    }
  }
}

TEST(TopFrame, fits_every_small_size) {
  Snapshot snapshot = three();
  snapshot.messages_of = snapshot.sessions[0].name;
  snapshot.messages.resize(3);
  snapshot.messages[0].fields = {std::string(200, 'f')};
  for (std::size_t columns = 0; columns < 30; ++columns) {
    for (std::size_t rows = 0; rows < 12; ++rows) {
      for (const View view : {View::sessions, View::threads, View::messages, View::slowest}) {
        for (const bool help : {false, true}) {
          ViewState state;
          state.view = view;
          state.help = help;
          state.session = snapshot.messages_of;
          expect_fits(frame_of(snapshot, state, {columns, rows}), {columns, rows});
        }
      }
    }
  }
}

TEST(TopFrame, threads_have_what_the_kernel_counted_and_a_dash_for_what_it_did_not) {
  Snapshot before = three(), now = three();
  before.taken = MonotonicTime{std::chrono::seconds{1}};
  now.taken = MonotonicTime{std::chrono::seconds{3}};
  now.threads[0].run_ns = *now.threads[0].run_ns + 1'000'000'000;
  now.threads[0].wait_ns = *now.threads[0].wait_ns + 500'000'000;
  add_rates(now, before);
  ViewState state;
  state.view = View::threads;
  const std::string text = joined(frame_of(now, state, {120, 40}));
  for (const char* part : {"nfx-poll-0", "50.0%", "25.0%", "80.0 us", "17"})
    EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
  const auto lines = frame_of(now, state, {120, 40});
  const auto log = std::ranges::find_if(lines, [](const Line& line) { return line.text.starts_with("nfx-log-0"); });
  ASSERT_NE(log, lines.end());
  EXPECT_EQ(std::ranges::count(log->text, '-'), 8) << log->text;
  const auto poll = std::ranges::find_if(lines, [](const Line& line) { return line.text.starts_with("nfx-poll-0"); });
  EXPECT_EQ(poll->look, Look::alarm) << "it waited for its CPU for a quarter of the time";
}

TEST(TopFrame, rates_are_those_between_two_snapshots_of_one_process) {
  Snapshot before = three(), now = three();
  before.taken = MonotonicTime{std::chrono::seconds{1}};
  now.taken = MonotonicTime{std::chrono::seconds{3}};
  *now.sessions[0].messages_in += 1;
  *now.sessions[0].messages_out += 3000;
  Snapshot restarted = now;
  restarted.pid = 1;
  add_rates(now, before);
  EXPECT_EQ(now.sessions[0].in_rate, 0.5);
  const std::string text = joined(frame_of(now, {}, {120, 40}));
  EXPECT_NE(text.find("1500"), std::string::npos) << text;
  EXPECT_NE(text.find("in 1/s out 1500/s"), std::string::npos) << text;
  add_rates(restarted, before);
  EXPECT_FALSE(restarted.sessions[0].in_rate);
}

TEST(TopFrame, messages_show_names_and_meanings_newest_last) {
  Json list{{"messages", Json::array()}};
  for (std::uint64_t i = 1; i <= 40; ++i) list["messages"].push_back(message_json(i));
  const Dictionary dictionary = load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX44.xml");
  Snapshot snapshot = three();
  snapshot.messages = read_messages(parsed(list), [&](std::string_view begin_string, std::string_view) {
    EXPECT_EQ(begin_string, "FIX.4.4");
    return &dictionary;
  });
  ViewState state;
  state.view = View::messages;
  state.session = snapshot.messages_of = snapshot.sessions[0].name;
  snapshot.dropped = 12;
  std::string text = joined(frame_of(snapshot, state, {80, 24}));
  EXPECT_NE(text.find("number 40, 150 bytes"), std::string::npos) << text;
  EXPECT_EQ(text.find("number 1, "), std::string::npos);
  EXPECT_NE(text.find("12 were too many to be copied"), std::string::npos);
  EXPECT_NE(text.find("Password=*** Side=1(BUY) Text=hello junk"), std::string::npos) << text;
  const std::size_t newest = text.rfind("number 40");
  EXPECT_GT(newest, text.find("number 39"));
  EXPECT_TRUE(press(state, {KeyKind::home}, snapshot, {80, 24}));
  text = joined(frame_of(snapshot, state, {80, 24}));
  EXPECT_NE(text.find("number 1, "), std::string::npos) << text;
  EXPECT_TRUE(press(state, {KeyKind::end}, snapshot, {80, 24}));
  EXPECT_NE(joined(frame_of(snapshot, state, {80, 24})).find("number 40"), std::string::npos);
  state.filter = "OUT";
  text = joined(frame_of(snapshot, state, {80, 24}));
  EXPECT_NE(text.find("number 39"), std::string::npos);
  EXPECT_EQ(text.find("number 40"), std::string::npos);
  snapshot.messages_problem = "user bob has the role viewer, and this needs operator";
  EXPECT_NE(joined(frame_of(snapshot, state, {80, 24})).find("this needs operator"), std::string::npos);
}

TEST(TopFrame, says_when_the_engine_does_not_answer_and_keeps_what_was_known) {
  Snapshot snapshot = three();
  snapshot.connected = false;
  snapshot.problem = "/run/x: connection refused";
  const auto lines = frame_of(snapshot, {}, {80, 24});
  EXPECT_EQ(lines[0].text, "no engine answers: /run/x: connection refused");
  EXPECT_EQ(lines[0].look, Look::alarm);
  EXPECT_NE(joined(lines).find("VENUE->BRAVO"), std::string::npos);
}

TEST(TopKeys, arrows_select_a_session_and_enter_shows_its_messages) {
  const Snapshot snapshot = three();
  ViewState state;
  EXPECT_TRUE(press(state, {KeyKind::down}, snapshot, {}));
  EXPECT_EQ(state.session, "FIX.4.4:VENUE->BRAVO");
  const auto lines = frame_of(snapshot, state, {80, 24});
  const auto selected = std::ranges::find(lines, Look::selected, &Line::look);
  ASSERT_NE(selected, lines.end());
  EXPECT_TRUE(selected->text.starts_with("FIX.4.4:VENUE->BRAVO"));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(press(state, {KeyKind::down}, snapshot, {}));
  EXPECT_EQ(state.session, "FIX.4.4:VENUE->CHARLIE");
  EXPECT_TRUE(press(state, {KeyKind::home}, snapshot, {}));
  EXPECT_EQ(state.session, "FIX.4.4:VENUE->ALPHA");
  EXPECT_TRUE(press(state, {KeyKind::enter}, snapshot, {}));
  EXPECT_EQ(state.view, View::messages);
  EXPECT_TRUE(press(state, {KeyKind::escape}, snapshot, {}));
  EXPECT_EQ(state.view, View::sessions);
}

TEST(TopKeys, the_selected_session_stays_in_a_small_picture) {
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("S" + std::to_string(100 + i));
  const Snapshot snapshot = snapshot_of(names);
  ViewState state;
  EXPECT_TRUE(press(state, {KeyKind::end}, snapshot, {}));
  for (const Size size : sizes) {
    const auto lines = frame_of(snapshot, state, size);
    EXPECT_EQ(std::ranges::count(lines, Look::selected, &Line::look), 1) << size.rows;
  }
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(press(state, {KeyKind::up}, snapshot, {}));
  EXPECT_EQ(state.session, "S149");
  EXPECT_EQ(std::ranges::count(frame_of(snapshot, state, {20, 5}), Look::selected, &Line::look), 1);
}

TEST(TopKeys, sorts_by_each_column_of_each_view_in_both_orders) {
  const Snapshot snapshot = three();
  for (const char view : {'1', '2', '4'}) {
    ViewState state;
    type(state, snapshot, std::string{view});
    const auto columns = columns_of(state.view);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      EXPECT_EQ(state.sorting().column, i);
      for (int order = 0; order < 2; ++order) {
        const auto rows = rows_of(state, snapshot);
        for (std::size_t k = 1; k < rows.size(); ++k) {
          const Cell &a = rows[k - 1].cells[i], &b = rows[k].cells[i];
          EXPECT_TRUE(a.known || !b.known) << columns[i].title << ": what is not known is last";
          if (!a.known || !b.known) continue;
          const bool ordered = columns[i].number
                                   ? (state.sorting().descending ? a.number >= b.number : a.number <= b.number)
                                   : (state.sorting().descending ? a.text >= b.text : a.text <= b.text);
          EXPECT_TRUE(ordered) << columns[i].title;
        }
        type(state, snapshot, "r");
      }
      EXPECT_TRUE(press(state, {KeyKind::right}, snapshot, {}));
    }
    EXPECT_EQ(state.sorting().column, 0U);
    EXPECT_TRUE(press(state, {KeyKind::left}, snapshot, {}));
    EXPECT_EQ(state.sorting().column, columns.size() - 1);
  }
}

TEST(TopKeys, the_slowest_moment_is_first) {
  ViewState state;
  state.view = View::slowest;
  EXPECT_EQ(rows_of(state, three())[0].cells[0].text, "3.20 ms");
}

TEST(TopKeys, a_filter_is_typed_kept_and_cleared) {
  const Snapshot snapshot = three();
  ViewState state;
  type(state, snapshot, "/brq");
  EXPECT_NE(joined(frame_of(snapshot, state, {80, 24})).find("filter: brq_"), std::string::npos);
  EXPECT_TRUE(press(state, {KeyKind::backspace}, snapshot, {}));
  EXPECT_TRUE(press(state, {KeyKind::enter}, snapshot, {}));
  EXPECT_EQ(rows_of(state, snapshot).size(), 1U);
  EXPECT_TRUE(press(state, {KeyKind::escape}, snapshot, {}));
  EXPECT_EQ(rows_of(state, snapshot).size(), 3U);
  type(state, snapshot, "/" + std::string(1000, 'x'));
  EXPECT_LE(state.filter.size(), 64U);
}

TEST(TopKeys, help_is_shown_until_a_key_and_q_ends) {
  const Snapshot snapshot = three();
  ViewState state;
  type(state, snapshot, "?");
  EXPECT_NE(joined(frame_of(snapshot, state, {80, 24})).find("the messages of the selected session"),
            std::string::npos);
  type(state, snapshot, "x");
  EXPECT_FALSE(state.help);
  EXPECT_FALSE(press(state, {KeyKind::character, 'q'}, snapshot, {}));
}

TEST(TopKeys, a_signal_ends_whatever_is_shown) {
  ViewState plain, typing, help;
  typing.typing_filter = help.help = true;
  for (ViewState* const each : {&plain, &typing, &help}) EXPECT_FALSE(press(*each, {KeyKind::quit}, three(), {}));
}

TEST(TopKeys, windows_and_stages_follow_each_other) {
  const Snapshot snapshot = three();
  ViewState state;
  for (std::size_t i = 0; i <= timed_window_count; ++i) type(state, snapshot, "w");
  EXPECT_EQ(state.window, LatencyWindow::ten_seconds);
  for (int i = 0; i < 3; ++i) type(state, snapshot, "l");
  EXPECT_EQ(state.stage, LatencyStage::request_to_answer);
  type(state, snapshot, "l");
  EXPECT_EQ(state.stage, LatencyStage::kernel_to_read);
  EXPECT_EQ(rows_of(state, snapshot)[0].cells[7].text, "-");
}

TEST(TopSnapshot, an_answer_of_another_kind_leaves_everything_empty) {
  for (const Json& answer :
       {Json::object(),
        Json{{"sessions", 5}, {"running", "x"}, {"moments", nullptr}, {"messages", 1}, {"threads", {1, 2}}},
        Json{{"sessions", {1, "x", nullptr}},
             {"running", {true}},
             {"moments", {0}},
             {"messages", {{{"fields", {1, {1}, {"a", 2}}}}}}}}) {
    Snapshot snapshot;
    read_engine(answer, snapshot);
    read_sessions(answer, snapshot);
    read_threads(answer, snapshot);
    read_latency(answer, snapshot);
    read_slowest(answer, snapshot);
    EXPECT_TRUE(snapshot.sessions.empty() && snapshot.threads.empty() && snapshot.moments.empty());
    for (const MessageRow& row : read_messages(answer, [](auto, auto) { return nullptr; }))
      EXPECT_TRUE(row.fields.empty());
  }
}

}  // namespace
}  // namespace nfx::app::top
