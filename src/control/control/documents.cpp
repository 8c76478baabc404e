// JSON in and out.
#include "control/documents.hpp"

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>

#include "control/routes.hpp"
#include "engine/engine_counter_rows.hpp"
#include "nexusfix/base/enum_values.hpp"
#include "nexusfix/session/session.hpp"

namespace nfx::control {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace) + '\n'; }

std::string utc(UtcTime time) {
  std::array<char, max_utc_timestamp_size> text;
  return {text.data(), write_utc_timestamp(text.data(), time, 3)};
}

Json optional_time(const std::optional<UtcTime>& time) { return time ? Json(utc(*time)) : Json(nullptr); }

Json json_of(const SessionEnd& end) {
  if (!end.exists()) return nullptr;
  const EndReasonRow& row = row_of(end.reason());
  return Json{{"time", utc(end.at())}, {"reason", row.name}, {"reason_text", row.text}, {"text", end.text()}};
}

Json json_of(const SessionStatus& of) {
  Json json{{"name", of.name},
            {"number", of.number},
            {"role", to_string(of.role)},
            {"state", phase_name(of.phase)},
            {"enabled", of.enabled},
            {"held", of.sending_held},
            {"connected", of.connected},
            {"peer", of.peer},
            {"next_in", value(of.next_in)},
            {"next_out", value(of.next_out)},
            {"gap_open", of.gap_open},
            {"queued", of.queued},
            {"resending", of.resending},
            {"pending_bytes", of.pending_bytes},
            {"heartbeat_s", of.heartbeat_s},
            {"from_template", of.from_template},
            {"store", of.has_journal ? to_string(of.store) : "memory"}};
  json["in_hours"] = of.times.in_hours;
  json["logged_on_since"] = optional_time(of.times.logged_on_since);
  json["last_in"] = optional_time(of.times.last_in);
  json["last_out"] = optional_time(of.times.last_out);
  json["unhandled_since"] = optional_time(of.times.unhandled_since);
  json["last_end"] = json_of(of.last_end);
  Json counters;
  for (const auto& row : counter_rows<SessionCounters>) {
    counters[counter_name(row.metric, row.label_value)] = of.counters.*row.member;
  }
  json["counters"] = std::move(counters);
  return json;
}

Json optional_count(const std::optional<std::uint64_t>& count) { return count ? Json(*count) : Json(nullptr); }

Json json_of(const LatencyCounts& counts) {
  const std::uint64_t count = counts.count();
  Json json{{"count", count}};
  if (count == 0) return json;
  json["p50_ns"] = counts.percentile_ns(50);
  json["p99_ns"] = counts.percentile_ns(99);
  json["p999_ns"] = counts.percentile_ns(99.9);
  json["max_ns"] = counts.percentile_ns(100);
  return json;
}

Json json_of(const LatencySet& set) {
  Json json = Json::object();
  for (std::size_t i = 0; i < session_stage_count; ++i) {
    if (set.of[i].count() != 0) json[std::string{latency_stages[i].name}] = json_of(set.of[i]);
  }
  return json;
}

Json json_of(const std::vector<KeyChange>& keys) {
  Json all = Json::array();
  for (const KeyChange& each : keys) {
    all.push_back(Json{{"section", each.section},
                       {"key", each.key},
                       {"before", each.before},
                       {"after", each.after},
                       {"place", each.place},
                       {"when", to_string(each.needs)}});
  }
  return all;
}

Json json_of(const std::vector<ThreadReport>& threads) {
  Json all = Json::array();
  for (const ThreadReport& each : threads) {
    all.push_back(Json{{"name", each.name},
                       {"planned_cpus", each.planned.to_list()},
                       {"cpus", each.cpus.to_list()},
                       {"as_planned", each.cpus == each.planned},
                       {"migrations", optional_count(each.migrations)},
                       {"voluntary_switches", optional_count(each.voluntary_switches)},
                       {"involuntary_switches", optional_count(each.involuntary_switches)},
                       {"worst_idle_gap_ns", each.worst_idle_gap.count()}});
  }
  return all;
}

Json json_of(const std::vector<RecentMessage>& messages) {
  Json all = Json::array();
  for (const RecentMessage& each : messages) {
    Json fields = Json::array();
    for (const ShownField& field : each.fields) fields.push_back(Json::array({value(field.tag), field.value}));
    all.push_back(Json{{"number", each.number},
                       {"time", utc(each.time)},
                       {"direction", each.direction == Direction::in ? "in" : "out"},
                       {"size", each.size},
                       {"cut", each.cut},
                       {"fields", std::move(fields)}});
  }
  return all;
}

Json json_of(const FileSum& sum) { return Json{{"files", sum.files}, {"bytes", sum.bytes}}; }

std::string_view result_of(ReloadStatus status) noexcept {
  switch (status) {
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

// The members of an object, each at most once and of those that are allowed. Throws std::string.
Json members_of(std::string_view body) {
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) return Json::object();
  constexpr std::size_t deepest = 4;
  bool too_deep = false;
  std::string twice;
  std::array<std::set<std::string>, deepest + 2> names;  // of the objects that are open
  const Json::parser_callback_t look = [&](int depth, Json::parse_event_t event, Json& parsed) {
    const auto at = static_cast<std::size_t>(depth);
    too_deep = too_deep || at > deepest;
    if (too_deep) return false;
    if (event == Json::parse_event_t::object_start) names[at + 1].clear();
    if (event == Json::parse_event_t::key && !names[at].insert(parsed.get<std::string>()).second)
      twice = parsed.get<std::string>();
    return true;
  };
  Json json = Json::parse(body, look, false);
  if (too_deep || json.is_discarded() || !json.is_object())
    throw std::string{"the body is not a JSON object: expected such as {\"next_out\": 120}"};
  if (!twice.empty()) throw "the member \"" + twice + "\" is there twice";
  return json;
}

SeqNum number_of(const Json& json, const std::string& name) {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() == 0 ||
      json.get<std::uint64_t>() >= value(Session::seq_num_limit))
    throw name + ": expected a sequence number, 1 or more";
  return SeqNum{json.get<std::uint64_t>()};
}

void read_numbers(const Json& json, const std::string& prefix, NextNumbers& into) {
  if (!json.is_object()) throw prefix + ": expected an object with next_in, next_out or both";
  for (const auto& [name, member] : json.items()) {
    if (name == "next_in") {
      into.in = number_of(member, prefix + name);
    } else if (name == "next_out") {
      into.out = number_of(member, prefix + name);
    } else {
      throw prefix + name + ": there is no such member; expected next_in or next_out";
    }
  }
}

std::string text_member(const Json& json, const std::string& name) {
  constexpr std::size_t longest = 256;
  if (!json.is_string()) throw name + ": expected a text";
  std::string text = json.get<std::string>();
  const bool printable = std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x20; });
  if (text.size() > longest || !printable) throw name + ": expected at most 256 bytes without control characters";
  return text;
}

void read_member(const std::string& name, const Json& member, const SessionCommandRow& row, SessionCommand& into) {
  const auto is = [&](std::string_view wanted, unsigned argument) { return name == wanted && row.takes(argument); };
  if (is("next_in", CommandArguments::numbers)) {
    into.numbers.in = number_of(member, name);
  } else if (is("next_out", CommandArguments::numbers)) {
    into.numbers.out = number_of(member, name);
  } else if (is("expected", CommandArguments::expected)) {
    read_numbers(member, "expected.", into.expected);
  } else if (is("from", CommandArguments::from)) {
    into.from = number_of(member, name);
  } else if (is("text", CommandArguments::text)) {
    into.text = text_member(member, name);
  } else {
    throw std::string{row.name} + " takes no \"" + name + '"';
  }
}

}  // namespace

std::string_view phase_name(Phase phase) noexcept {
  switch (phase) {
    case Phase::disconnected: return "disconnected";
    case Phase::awaiting_logon: return "awaiting_logon";
    case Phase::logged_on: return "logged_on";
    case Phase::logout_sent: return "logout_sent";
  }
  return "?";
}

std::string counter_name(std::string_view metric, std::string_view label_value) {
  constexpr std::string_view prefix = "nfx_", suffix = "_total";
  metric.remove_prefix(prefix.size());
  metric.remove_suffix(suffix.size());
  std::string name{metric};
  if (!label_value.empty()) name.append("_").append(label_value);
  return name.append(suffix);
}

std::string document_of(const SessionStatus& session, std::string_view result) {
  Json json = json_of(session);
  if (!result.empty()) json["result"] = result;
  return text_of(json);
}

std::string document_of(const SessionList& list) {
  Json sessions = Json::array();
  for (const SessionStatus& each : list.sessions) sessions.push_back(json_of(each));
  return text_of(Json{{"complete", list.complete}, {"sessions", std::move(sessions)}});
}

std::string document_of(const EngineView& engine) {
  return text_of(Json{{"version", engine.version},
                      {"pid", engine.pid},
                      {"control_since", utc(engine.started)},
                      {"poll_threads", engine.poll_threads},
                      {"idle", engine.idle},
                      {"transport", engine.transport},
                      {"log_level", to_string(engine.log_level)},
                      {"state", engine.stopping   ? "stopping"
                                : engine.draining ? "draining"
                                                  : "serving"}});
}

std::string document_of(const std::vector<ThreadReport>& threads, const std::vector<std::string>& warnings,
                        const std::vector<RunningThread>& running) {
  Json of_process = Json::array();
  for (const RunningThread& each : running) {
    const ThreadSample& sample = each.sample;
    of_process.push_back(Json{{"name", sample.name},
                              {"tid", sample.tid},
                              {"poll_thread", each.poll_thread ? Json(*each.poll_thread) : Json(nullptr)},
                              {"cpu", sample.cpu},
                              {"state", std::string(1, sample.state)},
                              {"run_ns", optional_count(sample.run_ns)},
                              {"wait_ns", optional_count(sample.wait_ns)},
                              {"migrations", optional_count(sample.migrations)},
                              {"voluntary_switches", sample.voluntary_switches},
                              {"involuntary_switches", sample.involuntary_switches},
                              {"cpu_stolen_ns", each.cpu_stolen ? Json(each.cpu_stolen->count()) : Json(nullptr)}});
  }
  return text_of(Json{{"threads", json_of(threads)}, {"warnings", warnings}, {"running", std::move(of_process)}});
}

std::string document_of(LatencyWindow window, const std::optional<LatencyReport>& report) {
  Json json{{"window", to_string(window)}, {"measured", report.has_value()}};
  Json sessions = Json::array(), threads = Json::array();
  if (report) {
    json["from"] = utc(report->from);
    json["to"] = utc(report->to);
    for (const SessionLatency& each : report->sessions) {
      sessions.push_back(
          Json{{"name", each.session}, {"poll_thread", each.poll_thread}, {"stages", json_of(each.stages)}});
    }
    for (const ThreadLatency& each : report->threads) {
      threads.push_back(Json{{"poll_thread", each.poll_thread},
                             {"handling", json_of(each.loop.handling)},
                             {"poll_gap", json_of(each.loop.poll_gap)},
                             {"stages", json_of(each.stages)}});
    }
  }
  json["sessions"] = std::move(sessions);
  json["threads"] = std::move(threads);
  return text_of(json);
}

std::string document_of(LatencyWindow window, const std::vector<SlowMoment>& moments) {
  Json all = Json::array();
  for (const SlowMoment& each : moments) {
    all.push_back(Json{{"ended", utc(each.ended)},
                       {"took_ns", each.took.count()},
                       {"stage", to_string(each.stage)},
                       {"session", each.session},
                       {"poll_thread", each.poll_thread},
                       {"cause", to_string(each.cause)},
                       {"ran_ns", each.host.ran.count()},
                       {"waited_ns", each.host.waited.count()},
                       {"stolen_ns", each.host.stolen.count()},
                       {"interrupts", each.host.interrupts},
                       {"involuntary_switches", each.host.involuntary_switches},
                       {"migrations", each.host.migrations},
                       {"minor_faults", each.host.minor_faults},
                       {"major_faults", each.host.major_faults}});
  }
  return text_of(Json{{"window", to_string(window)}, {"moments", std::move(all)}});
}

std::string document_of(const RecentMessages& recent) {
  return text_of(Json{{"began", recent.began}, {"dropped", recent.dropped}, {"messages", json_of(recent.messages)}});
}

std::string document_of(const std::vector<RecentMessage>& messages) {
  return text_of(Json{{"messages", json_of(messages)}});
}

std::string document_of(const std::optional<PlacementReport>& placement, const std::vector<ThreadReport>& threads) {
  if (!placement) return text_of(Json{{"result", "no_plan"}, {"problems", Json::array()}});
  return text_of(Json{{"result", placement->problems.empty() ? "as_planned" : "differs"},
                      {"plan", placement->plan},
                      {"problems", placement->problems},
                      {"threads", json_of(threads)}});
}

std::string document_of(const StoreView& store) {
  const JournalStatus& journal = store.journal;
  Json counters;
  for (const auto& row : counter_rows<JournalCounters>)
    counters[counter_name(row.metric, row.label_value)] = journal.counters.*row.member;
  return text_of(Json{{"session", journal.session},
                      {"folder", journal.folder.string()},
                      {"durability", to_string(journal.durability)},
                      {"condition", to_string(journal.condition)},
                      {"condition_text", journal.condition_text},
                      {"oldest", value(journal.oldest)},
                      {"last", value(journal.last)},
                      {"stored_bytes", journal.stored_bytes},
                      {"position", journal.position},
                      {"durable", journal.durable},
                      {"segments", json_of(store.segments)},
                      {"archived", json_of(store.archived)},
                      {"counters", std::move(counters)}});
}

std::string document_of(const StoreVerification& verified) {
  const bool damaged = (verified.damage && !verified.torn) || verified.found != 0;
  Json findings = Json::array();
  for (const JournalCheck::Finding& each : verified.findings)
    findings.push_back(Json{{"file", each.file}, {"offset", each.offset}, {"what", each.what}});
  if (verified.damage) {
    findings.push_back(
        Json{{"file", verified.damage->file}, {"offset", verified.damage->offset}, {"what", verified.damage->reason}});
  }
  return text_of(Json{{"result", damaged           ? "damaged"
                                 : verified.damage ? "torn"
                                                   : "ok"},
                      {"complete", verified.complete},
                      {"from", verified.from},
                      {"to", verified.to},
                      {"segments", verified.segments},
                      {"records", verified.records},
                      {"messages", verified.messages},
                      {"found", verified.found},
                      {"findings", std::move(findings)}});
}

std::string result_document(std::string_view result, const std::vector<std::string>& problems) {
  Json json{{"result", result}};
  if (!problems.empty()) json["problems"] = problems;
  return text_of(json);
}

std::string document_of(const ReloadReport& report) {
  Json sessions = Json::array();
  for (const SessionChange& each : report.sessions) {
    Json json{{"name", each.name}, {"change", to_string(each.kind)}, {"when", to_string(each.needs)}};
    if (!each.why.empty()) json["why"] = each.why;
    json["keys"] = json_of(each.keys);
    sessions.push_back(std::move(json));
  }
  Json json{
      {"result", result_of(report.status)}, {"sessions", std::move(sessions)}, {"engine", json_of(report.engine)}};
  if (!report.problems.empty()) json["problems"] = report.problems;
  return text_of(json);
}

std::string problem_document(unsigned status, std::string_view kind, std::string_view detail,
                             const SessionStatus* session) {
  std::string title{kind};
  std::ranges::replace(title, '-', ' ');
  Json json{
      {"type", "urn:nexusfix:problem:" + std::string{kind}}, {"title", title}, {"status", status}, {"detail", detail}};
  if (session != nullptr && !session->name.empty()) json["session"] = json_of(*session);
  return text_of(json);
}

std::expected<SessionCommand, std::string> command_of(std::string_view body, const SessionCommandRow& row) {
  SessionCommand command{.kind = row.kind};
  try {
    const Json json = members_of(body);
    for (const auto& [name, member] : json.items()) read_member(name, member, row, command);
    if (row.takes(CommandArguments::numbers) && command.numbers == NextNumbers{})
      throw std::string{"set: expected next_in, next_out or both"};
    if (row.takes(CommandArguments::from) && command.from == SeqNum{})
      throw std::string{"resend: expected from, the first sequence number"};
  } catch (const std::string& text) {
    return std::unexpected(text);
  }
  return command;
}

std::string compact(std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  return json.is_discarded() ? std::string{} : json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::expected<std::string, std::string> text_of(std::string_view body) {
  std::string text;
  try {
    const Json json = members_of(body);
    for (const auto& [name, member] : json.items()) {
      if (name != "text") throw "there is no member \"" + name + "\"; expected text";
      text = text_member(member, name);
    }
  } catch (const std::string& what) {
    return std::unexpected(what);
  }
  return text;
}

std::expected<LogLevel, std::string> level_of(std::string_view body) {
  const std::string expected = "expected \"level\": " + enum_names(LogLevel::error) + ", and no other member";
  try {
    const Json json = members_of(body);
    if (json.size() != 1 || !json.contains("level") || !json["level"].is_string()) return std::unexpected(expected);
    const auto level = parse_enum(json["level"].get<std::string>(), LogLevel::error);
    if (!level) return std::unexpected(expected);
    return *level;
  } catch (const std::string& what) {
    return std::unexpected(what);
  }
}

std::expected<std::string, std::string> config_of(std::string_view body) {
  try {
    const Json json = members_of(body);
    for (const auto& [name, member] : json.items()) {
      if (name != "config" || !member.is_string())
        throw "\"" + name + "\": expected config, a text, and no other member";
    }
    if (json.empty()) throw std::string{"expected config: a text with one [[session]] as in the configuration file"};
    return json["config"].get<std::string>();
  } catch (const std::string& what) {
    return std::unexpected(what);
  }
}

}  // namespace nfx::control
