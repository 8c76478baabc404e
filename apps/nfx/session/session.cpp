// nfx session: sends commands to the sessions of a running engine. Each is a row in the engine's table of commands.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "command.hpp"
#include "control_access.hpp"
#include "engine/session_command.hpp"
#include "session/store.hpp"
#include "text.hpp"

namespace nfx::app {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  ControlOptions control;
  std::string session;
  std::string text;
  std::optional<std::uint64_t> next_in, next_out, expect_in, expect_out, from;
  bool force = false;
};

std::array<Options, session_command_rows.size()> options_of_rows;
ControlOptions list_options, add_options, change_options;
std::string add_file, change_session, change_file;

// "logged_on, held, gap"
std::string state_of(const Json& session) {
  std::string text = member_text(session, "state");
  if (!member_is_true(session, "enabled")) text += ", disabled";
  if (member_is_true(session, "held")) text += ", held";
  if (member_is_true(session, "gap_open")) text += ", gap";
  if (member_is_true(session, "resending")) text += ", resending";
  if (member_text(session, "unhandled_since") != "-") text += ", a message is not handled";
  if (!member_is_true(session, "in_hours")) text += ", outside its hours";
  return text;
}

// "20240315-17:00:00.000 logged out by the peer: going home"
std::string end_of(const Json& session) {
  const auto end = session.find("last_end");
  if (end == session.end() || !end->is_object()) return "-";
  std::string text = member_text(*end, "time") + ' ' + member_text(*end, "reason_text");
  const std::string said = member_text(*end, "text");
  // If both texts are equal, prints one.
  if (!said.empty() && said != member_text(*end, "reason_text")) text.append(": ").append(said);
  return text;
}

std::string since(const Json& session) {
  const std::string logged_on = member_text(session, "logged_on_since");
  return logged_on != "-" ? "logged on " + logged_on : end_of(session);
}

void append_table(SafeText& out, const Json& answer) {
  constexpr std::size_t columns = 6;
  std::vector<std::array<std::string, columns>> rows{{"SESSION", "STATE", "NEXT IN", "NEXT OUT", "PEER", "SINCE"}};
  for (const Json& each : answer.value("sessions", Json::array())) {
    rows.push_back({member_text(each, "name"), state_of(each), member_text(each, "next_in"),
                    member_text(each, "next_out"), member_text(each, "peer"), since(each)});
  }
  std::array<std::size_t, columns> widths{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    const std::size_t start = out.size();
    std::size_t column = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      out.pad_to(start, column).add("{}", row[i]);
      column += widths[i] + 2;
    }
    out += '\n';
  }
  if (!member_is_true(answer, "complete")) out += "a poll thread did not answer in time: its sessions are missing\n";
}

void append_session(SafeText& out, const Json& session) {
  out.add("{}  {}\n", member_text(session, "name"), state_of(session));
  for (const auto& [name, member] : session.items()) {
    if (name == "name" || name == "state" || name == "last_end" || member.is_object()) continue;
    const std::size_t start = out.size();
    out.add("  {}", name).pad_to(start, 20).add("{}\n", member_text(session, name.c_str()));
  }
  const std::size_t line = out.size();
  out.add("  last_end").pad_to(line, 20).add("{}\n", end_of(session));
  const Json counters = session.value("counters", Json::object());
  for (const auto& [name, count] : counters.items()) {
    if (count == 0) continue;
    const std::size_t start = out.size();
    out.add("  {}", name).pad_to(start, 44).add("{}\n", count.dump());
  }
}

void append_result(SafeText& out, const Json& session) {
  const std::string result = member_text(session, "result");
  out.add("{}: {}; {}, next in {}, next out {}\n", member_text(session, "name"),
          result == "nothing_to_do" ? "nothing to do" : result, state_of(session), member_text(session, "next_in"),
          member_text(session, "next_out"));
}

std::string body_of(const Options& options) {
  Json body = Json::object();
  const auto put = [](Json& into, const char* name, const std::optional<std::uint64_t>& number) {
    if (number) into[name] = *number;
  };
  put(body, "next_in", options.next_in);
  put(body, "next_out", options.next_out);
  put(body, "from", options.from);
  Json expected = Json::object();
  put(expected, "next_in", options.expect_in);
  put(expected, "next_out", options.expect_out);
  if (!expected.empty()) body["expected"] = std::move(expected);
  if (!options.text.empty()) body["text"] = options.text;
  return body.empty() ? std::string{} : body.dump(-1, ' ', true, Json::error_handler_t::replace);
}

int run_command(const SessionCommandRow& row, const Options& options) {
  if (row.only_reads) return ask_and_show(options.control, {.target = control_path(options.session)}, append_session);
  if (row.takes(CommandArguments::numbers) && !options.next_in && !options.next_out)
    throw cli::UsageError("give --next-in, --next-out or both");
  if (row.takes(CommandArguments::expected) && !options.force && !options.expect_in && !options.expect_out)
    throw cli::UsageError(
        "give the sequence numbers that 'nfx session show' prints as --expect-in, --expect-out or both: nothing is "
        "changed if they differ; --force skips the check");
  return ask_and_show(options.control,
                      {.method = "POST",
                       .target = control_path(options.session, row.name),
                       .body = body_of(options),
                       .if_match = options.force ? "*" : ""},
                      append_result);
}

template <std::size_t Row>
int run_row() {
  return run_command(session_command_rows[Row], options_of_rows[Row]);
}

std::vector<cli::Option> options_for(const SessionCommandRow& row, Options& options) {
  std::vector<cli::Option> all{{.names = "SESSION",
                                .target = &options.session,
                                .help = "Name or number, as 'nfx session list' shows them",
                                .required = true}};
  const auto number = [&all](std::string_view names, auto& target, std::string_view help, bool required = false) {
    all.push_back({.names = names, .target = &target, .help = help, .value = "NUMBER", .required = required});
  };
  if (row.takes(CommandArguments::numbers)) {
    number("--next-in", options.next_in, "Sequence number to expect next from the peer");
    number("--next-out", options.next_out, "Sequence number of the next message sent");
  }
  if (row.takes(CommandArguments::from))
    number("--from", options.from, "Sequence number of the first message to be resent", true);
  if (row.takes(CommandArguments::expected)) {
    number("--expect-in", options.expect_in, "Refuse unless the session's next in is this number");
    number("--expect-out", options.expect_out, "Refuse unless the session's next out is this number");
    all.push_back({.names = "--force",
                   .target = &options.force,
                   .help = "Set the numbers without --expect-in and --expect-out",
                   .excludes = {"--expect-in", "--expect-out"}});
  }
  if (row.takes(CommandArguments::text))
    all.push_back({.names = "--text", .target = &options.text, .help = "Text(58) of the Logout"});
  for (cli::Option& each : control_options(options.control)) all.push_back(std::move(each));
  if (row.only_reads) all.push_back(watch_option(options.control));
  return all;
}

// A summary of nfx, which has no full stop at its end.
constexpr std::string_view without_stop(std::string_view text) {
  return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

// The storage for cli::Example, which borrows its texts.
const std::string& example_of(const SessionCommandRow& row) {
  static std::array<std::string, session_command_rows.size()> lines;
  std::string& line = lines[static_cast<std::size_t>(row.kind)];
  line = "nfx session " + std::string{row.name} + " 'FIX.4.4:DESK->VENUE'";
  if (row.takes(CommandArguments::numbers)) line += " --next-out 120";
  if (row.takes(CommandArguments::from)) line += " --from 12";
  if (row.takes(CommandArguments::expected)) line += " --expect-out 97";
  if (row.takes(CommandArguments::text)) line += " --text 'back at noon'";
  return line;
}

template <std::size_t... Rows>
std::vector<cli::Command> commands_of(std::index_sequence<Rows...>) {
  return {cli::Command{.name = session_command_rows[Rows].name,
                       .summary = without_stop(session_command_rows[Rows].help),
                       .run = run_row<Rows>,
                       .options = options_for(session_command_rows[Rows], options_of_rows[Rows]),
                       .exit_codes = control_exit_codes,
                       .examples = {{.line = example_of(session_command_rows[Rows])}}}...};
}

std::string config_body(const std::string& file) {
  return Json{{"config", file_text(file)}}.dump(-1, ' ', true, Json::error_handler_t::replace);
}

int add() {
  return ask_and_show(add_options, {.method = "POST", .target = "/v1/sessions", .body = config_body(add_file)},
                      append_result);
}

int change() {
  return ask_and_show(
      change_options,
      {.method = "POST", .target = control_path(change_session, "change"), .body = config_body(change_file)},
      append_changes);
}

int list() { return ask_and_show(list_options, {.target = "/v1/sessions"}, append_table); }

}  // namespace

cli::Command session_command() {
  std::vector<cli::Option> of_list = control_options(list_options);
  of_list.push_back(watch_option(list_options));
  std::vector<cli::Option> of_add{{.names = "FILE",
                                   .target = &add_file,
                                   .help = "File with one [[session]] and, if needed, [defaults]",
                                   .required = true,
                                   .kind = cli::Kind::file}};
  for (cli::Option& each : control_options(add_options)) of_add.push_back(std::move(each));
  std::vector<cli::Option> of_change{{.names = "SESSION",
                                      .target = &change_session,
                                      .help = "Name or number, as 'nfx session list' shows them",
                                      .required = true},
                                     {.names = "FILE",
                                      .target = &change_file,
                                      .help = "File with one [[session]] and, if needed, [defaults]",
                                      .required = true,
                                      .kind = cli::Kind::file}};
  for (cli::Option& each : control_options(change_options)) of_change.push_back(std::move(each));
  cli::Command session{
      .name = "session",
      .summary = "Show and control the sessions of a running engine",
      .commands =
          {{.name = "list",
            .summary = "List all sessions with their state and sequence numbers",
            .run = list,
            .options = std::move(of_list),
            .exit_codes = control_exit_codes,
            .examples = {{.line = "nfx session list", .about = "all sessions of the engine on this host"}}},
           {.name = "add",
            .summary = "Add a session until the next start, from a part of a configuration file",
            .run = add,
            .options = std::move(of_add),
            .details = "The session is checked as at a start; errors name the line in FILE, as config:LINE:COLUMN. "
                       "Relative paths are relative to the engine's configuration. Also add the session to that file, "
                       "for the next start.",
            .exit_codes = control_exit_codes,
            .examples = {{.line = "nfx session add new-desk.toml"}}},
           {.name = "change",
            .summary = "Change a session's settings until the next start, from a part of a configuration file",
            .run = change,
            .options = std::move(of_change),
            .details =
                "Prints each key that differs, old and new. If all of them can change while the session is logged on "
                "(docs/control.md lists such keys), they change now; otherwise none changes while the session has a "
                "connection. Also write the change into the configuration file, for the next start.",
            .exit_codes = control_exit_codes,
            .examples = {{.line = "nfx session change 'FIX.4.4:DESK->VENUE' desk.toml"}}}},
      .details =
          "The engine needs [control] in its configuration, and you need a role there: docs/control.md. Each command "
          "is carried out by the session's poll thread between two messages, is recorded in the audit log, and prints "
          "the session's state after it.",
      .exit_codes = control_exit_codes,
      .examples = {{.line = "nfx session set 'FIX.4.4:DESK->VENUE' --next-out 120 --expect-out 97"}},
  };
  for (cli::Command& each : commands_of(std::make_index_sequence<session_command_rows.size()>{}))
    session.commands.push_back(std::move(each));
  session.commands.push_back(session_store_command());
  return session;
}

}  // namespace nfx::app
