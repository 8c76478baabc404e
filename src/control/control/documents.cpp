// JSON, and documents that several routes share.
#include "control/documents.hpp"

#include <algorithm>

#include "base/enumerator_name.hpp"
#include "engine/engine_counter_rows.hpp"
#include "nexusfix/session/actions.hpp"

namespace nfx::control {
namespace {

std::string_view phase_name(Phase phase) noexcept { return enumerator_name(phase); }

std::vector<std::string_view> phase_names() {
  std::vector<std::string_view> names;
  for (const Phase each : enum_values<Phase>()) names.push_back(phase_name(each));
  return names;
}

std::vector<std::string_view> end_reasons() {
  std::vector<std::string_view> names;
  for (const EndReasonRow& row : end_reason_rows) {
    if (row.reason != EndReason::none) names.push_back(row.name);
  }
  return names;
}

std::vector<std::string_view> store_conditions() {
  std::vector<std::string_view> names{"memory"};
  for (const StoreCondition each : enum_values<StoreCondition>()) names.push_back(to_string(each));
  return names;
}

const SessionStatus& session_of(const SessionResult& of) { return of.session; }
const ReloadReport& report_of(const ReloadPlan& of) { return of.report; }

std::string_view result_of_reload(const ReloadReport& report) noexcept {
  switch (report.status) {
    case ReloadStatus::planned: return "planned";
    case ReloadStatus::nothing_to_do: return "nothing_to_do";
    case ReloadStatus::done: return "done";
    case ReloadStatus::incomplete:
    case ReloadStatus::invalid:
    case ReloadStatus::no_file:
    case ReloadStatus::stopping:
    case ReloadStatus::not_answering:
    case ReloadStatus::no_such_session:
    case ReloadStatus::being_removed: break;
  }
  return "incomplete";
}

// The outcome for the audit log: each session with its keys, without their values.
std::string detail_of(const ReloadReport& report) {
  if (!report.problem.empty()) return report.problem;
  std::string detail;
  for (const SessionChange& each : report.sessions) {
    detail.append(detail.empty() ? "" : "; ").append(to_string(each.kind)).append(" ").append(each.name);
    for (const KeyChange& key : each.keys) detail.append(" ").append(key.key);
    if (each.needs != ChangeNeeds::nothing) detail.append(" (").append(to_string(each.needs)).append(")");
  }
  for (const std::string& each : report.problems) detail.append("; failed: ").append(each);
  return detail;
}

std::string title_of(const Problem& problem) {
  std::string title{problem.kind};
  std::ranges::replace(title, '-', ' ');
  return title;
}

Omitted<SessionStatus> known_session_of(const Problem& problem) {
  const bool is_known = problem.session != nullptr && !problem.session->name.empty();
  return is_known ? Omitted<SessionStatus>{*problem.session} : Omitted<SessionStatus>{};
}

struct Kind {
  unsigned status;
  std::string_view name;
};

// The HTTP status of a command's refusal.
Kind kind_of(const CommandOutcome& outcome) noexcept {
  switch (outcome.status) {
    case CommandStatus::done:
    case CommandStatus::nothing_to_do: return {200, ""};
    case CommandStatus::store_refuses: return {503, "store-refuses"};
    case CommandStatus::stopping: return {409, "stopping"};
    case CommandStatus::no_such_session: return {404, "no-such-session"};
    case CommandStatus::busy: return {503, "busy"};
    case CommandStatus::timed_out: return {504, "timed-out"};
    case CommandStatus::being_removed: return {409, "being-removed"};
    case CommandStatus::refused: break;
  }
  switch (outcome.refusal) {
    case OperatorResult::numbers_differ: return {412, "numbers-differ"};
    case OperatorResult::settings_differ: return {412, "settings-differ"};
    case OperatorResult::bad_number: return {422, "bad-number"};
    case OperatorResult::would_end_session: return {409, "would-end-session"};
    case OperatorResult::not_logged_on: return {409, "not-logged-on"};
    case OperatorResult::not_now: return {409, "not-now"};
    case OperatorResult::not_possible: return {409, "not-possible"};
    case OperatorResult::done:
    case OperatorResult::nothing_to_do: break;
  }
  return {409, "refused"};
}

Answer answer_of(const Problem& problem) {
  return {.status = problem.status,
          .type = "application/problem+json",
          .body = text_of(json_of(problem)),
          .try_again = passes(problem.status)};
}

}  // namespace

Json text_schema() { return {{"type", "string"}}; }
Json count_schema(std::uint64_t least) { return {{"type", "integer"}, {"minimum", least}}; }
Json time_schema() { return {{"type", "string"}, {"pattern", "^[0-9]{8}-[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}$"}}; }
Json always(const Json& value) { return {{"const", value}}; }
Json one_of(const std::vector<std::string_view>& values) { return {{"type", "string"}, {"enum", values}}; }
Json either(std::vector<Json> schemas) { return {{"oneOf", std::move(schemas)}}; }
Json list_schema(Json each) { return {{"type", "array"}, {"items", std::move(each)}}; }
Json empty_list(Json each) { return {{"type", "array"}, {"maxItems", 0}, {"items", std::move(each)}}; }
Json filled_list(Json each) { return {{"type", "array"}, {"minItems", 1}, {"items", std::move(each)}}; }

Json object_schema(const std::vector<std::pair<std::string_view, Json>>& members) {
  Json required = Json::array(), properties = Json::object();
  for (const auto& [name, schema] : members) {
    required.push_back(name);
    properties[std::string{name}] = schema;
  }
  return {{"type", "object"},
          {"required", std::move(required)},
          {"additionalProperties", false},
          {"properties", std::move(properties)}};
}

Json with_help(Json schema, std::string_view help) {
  if (!help.empty()) schema["description"] = help;
  return schema;
}

Json refer(Json& schemas, std::string_view name, const std::function<Json()>& make) {
  const std::string key{name};
  if (!schemas.contains(key)) {
    Json made = make();  // which may add others
    schemas[key] = std::move(made);
  }
  return {{"$ref", "#/components/schemas/" + key}};
}

std::string time_text(UtcTime time) {
  std::array<char, max_utc_timestamp_size> text;
  return {text.data(), write_utc_timestamp(text.data(), time, 3)};
}

std::string text_of(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace) + '\n'; }

std::string counter_name(std::string_view metric, std::string_view label_value) {
  constexpr std::string_view prefix = "nfx_", suffix = "_total";
  metric.remove_prefix(prefix.size());
  metric.remove_suffix(suffix.size());
  std::string name{metric};
  if (!label_value.empty()) name.append("_").append(label_value);
  return name.append(suffix);
}

template <>
const Document<Done> Document<Done>::self{"Done", {{"result", [](auto&) { return "done"; }, "", always("done")}}};

template <>
const Document<SessionEnd> Document<SessionEnd>::self{
    "SessionEnd",
    {{"time", &SessionEnd::at, "In UTC."},
     {"reason", [](auto& of) { return row_of(of.reason()).name; }, "docs/metrics.md explains each.",
      one_of(end_reasons())},
     {"reason_text", [](auto& of) { return row_of(of.reason()).text; }, "The same in words."},
     {"text", &SessionEnd::text, "What the peer, the network or the program said. Empty: nothing."}},
    "How a session, or an attempt to log on, ended last."};

template <>
const Document<SessionCounters> Document<SessionCounters>::self =
    document_of_counters<SessionCounters>("SessionCounters");

template <>
const Document<SessionStatus> Document<SessionStatus>::self{
    "Session",
    {{"name", &SessionStatus::name, "Such as FIX.4.4:DESK->VENUE."},
     {"number", &SessionStatus::number, "Stands for the name in paths."},
     {"role", &SessionStatus::role},
     {"state", [](auto& of) { return phase_name(of.phase); }, "", one_of(phase_names())},
     {"enabled", &SessionStatus::enabled, "Takes connections."},
     {"held", &SessionStatus::sending_held, "Messages of the program are not sent."},
     {"connected", &SessionStatus::connected, "A TCP connection is open, logged on or not."},
     {"peer", &SessionStatus::peer, "Address of the peer. Empty: not known, or no connection."},
     {"next_in", &SessionStatus::next_in, "The next sequence number expected from the peer."},
     {"next_out", &SessionStatus::next_out, "The sequence number of the next message sent."},
     {"gap_open", &SessionStatus::gap_open, "A ResendRequest of this side is not answered completely."},
     {"queued", &SessionStatus::queued, "Messages received ahead of the gap."},
     {"resending", &SessionStatus::resending, "Answers a ResendRequest of the peer."},
     {"pending_bytes", &SessionStatus::pending_bytes, "Encoded, and not taken by the network yet."},
     {"heartbeat_s", &SessionStatus::heartbeat_s, "HeartBtInt(108)."},
     {"from_template", &SessionStatus::from_template, "Made at a Logon, from a template of the configuration."},
     {"store", [](auto& of) { return of.has_journal ? to_string(of.store) : "memory"; },
      "Condition of the journal. memory: there is none.", one_of(store_conditions())},
     {"in_hours", [](auto& of) { return of.times.in_hours; }, "The schedule allows a Logon now, or there is none."},
     {"logged_on_since", [](auto& of) { return of.times.logged_on_since; }, "null: it is not logged on."},
     {"last_in", [](auto& of) { return of.times.last_in; },
      "When the peer's last message was received. null: none since the start."},
     {"last_out", [](auto& of) { return of.times.last_out; },
      "When the last message was sent. null: none since the start."},
     {"unhandled_since", [](auto& of) { return of.times.unhandled_since; },
      "When the message that the application does not handle yet was delivered first. null: there is none."},
     {"last_end", [](auto& of) { return of.last_end.exists() ? std::optional{of.last_end} : std::nullopt; },
      "null: it has not ended since the start."},
     {"counters", &SessionStatus::counters}},
    "A session at one moment."};

template <>
const Document<SessionResult> Document<SessionResult>::self = [] {
  Document<SessionResult> all{"SessionResult", {}, "A session after a command."};
  for (const auto& each : Document<SessionStatus>::self.members) all.members.emplace_back(each, session_of);
  all.members.emplace_back("result", &SessionResult::result, "nothing_to_do: it was already in that state.",
                           one_of({"done", "nothing_to_do"}));
  return all;
}();

template <>
const Document<KeyChange> Document<KeyChange>::self{
    "KeyChange",
    {{"section", &KeyChange::section},
     {"key", &KeyChange::key},
     {"before", &KeyChange::before},
     {"after", &KeyChange::after},
     {"place", &KeyChange::place, "Of the new value; of the old value if the key was removed."},
     {"when", &KeyChange::needs}}};

template <>
const Document<SessionChange> Document<SessionChange>::self{
    "SessionChange",
    {{"name", &SessionChange::name},
     {"change", &SessionChange::kind},
     {"when", &SessionChange::needs},
     {"why", [](auto& of) { return unless_empty(of.why); }, "If the keys do not show it."},
     {"keys", &SessionChange::keys}}};

template <>
const Document<ReloadReport> Document<ReloadReport>::self{
    "ReloadReport",
    {{"result", result_of_reload, "", one_of({"done", "nothing_to_do", "incomplete"})},
     {"sessions", &ReloadReport::sessions},
     {"engine", &ReloadReport::engine, "Of other sections."},
     {"problems", [](auto& of) { return unless_empty(of.problems); }, "What failed while it was carried out.",
      filled_list(text_schema())}}};

// Like a report, but the result is always the same.
template <>
const Document<ReloadPlan> Document<ReloadPlan>::self = [] {
  Document<ReloadPlan> all{"ReloadPlan", {}};
  all.members.emplace_back("result", [](auto&) { return "planned"; }, "", always("planned"));
  for (const auto& each : Document<ReloadReport>::self.members) {
    if (each.name != "result" && !each.is_omitted) all.members.emplace_back(each, report_of);
  }
  return all;
}();

template <>
const Document<Problem> Document<Problem>::self{
    "Problem",
    {{"type",
      [](auto& of) { return "urn:nexusfix:problem:" + std::string{of.kind}; },
      "",
      {{"type", "string"}, {"pattern", "^urn:nexusfix:problem:[a-z-]+$"}}},
     {"title", title_of},
     {"status", &Problem::status, "", {{"type", "integer"}, {"minimum", 400}, {"maximum", 599}}},
     {"detail", &Problem::detail, "What is wrong, and what to do."},
     {"session", known_session_of, "At that moment."}},
    "RFC 9457."};

bool passes(unsigned status) noexcept { return status == 429 || status == 503 || status == 504; }

Answer problem(unsigned status, std::string_view kind, std::string_view detail) {
  return answer_of(Problem{.status = status, .kind = kind, .detail = detail});
}

Answer refused(const CommandOutcome& outcome) {
  const Kind kind = kind_of(outcome);
  Answer answer = answer_of(
      Problem{.status = kind.status, .kind = kind.name, .detail = explain(outcome), .session = &outcome.session});
  if (!outcome.session.name.empty()) answer.etag = etag_of(outcome.session);
  return answer;
}

std::string etag_of(const SessionStatus& session) {
  return '"' + std::to_string(session.number) + '.' + std::to_string(value(session.next_in)) + '.' +
         std::to_string(value(session.next_out)) + '.' + std::to_string(session.revision) + '"';
}

Answer session_answer(const SessionStatus& session, std::string_view result) {
  Answer answer = result.empty() ? answer_of(session) : answer_of(SessionResult{session, result});
  answer.etag = etag_of(session);
  return answer;
}

Answer answer_of(const ReloadReport& report) {
  switch (report.status) {
    case ReloadStatus::planned:
    case ReloadStatus::nothing_to_do:
    case ReloadStatus::done:
    case ReloadStatus::incomplete: return {.body = text_of(json_of(report))};
    case ReloadStatus::invalid: return problem(422, "bad-configuration", report.problem);
    case ReloadStatus::no_file: return problem(409, "no-file", report.problem);
    case ReloadStatus::stopping: return problem(409, "stopping", report.problem);
    case ReloadStatus::no_such_session: return refused({.status = CommandStatus::no_such_session});
    case ReloadStatus::being_removed: return refused({.status = CommandStatus::being_removed});
    case ReloadStatus::not_answering: break;
  }
  return problem(504, "timed-out", report.problem);
}

Outcome outcome_of(const ReloadReport& report) {
  Answer answer = answer_of(report);
  const std::string_view event = answer.status != 200 || report.status == ReloadStatus::planned ? "refused"
                                 : report.status == ReloadStatus::incomplete                    ? "incomplete"
                                                                                                : "done";
  return {.answer = std::move(answer), .event = event, .detail = detail_of(report)};
}

}  // namespace nfx::control
