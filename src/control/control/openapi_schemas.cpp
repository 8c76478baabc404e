// A row for each member of each document. tests/apps/openapi_test.py compares them with what a server answers.
#include "control/openapi_schemas.hpp"

#include <nlohmann/json.hpp>

#include "control/documents.hpp"
#include "engine/engine_counter_rows.hpp"
#include "nexusfix/base/enum_values.hpp"
#include "nexusfix/session/session.hpp"

namespace nfx::control {
namespace {

using Json = nlohmann::ordered_json;

Json text() { return {{"type", "string"}}; }
Json flag() { return {{"type", "boolean"}}; }
Json count(std::uint64_t least = 0) { return {{"type", "integer"}, {"minimum", least}}; }
Json count_or_null() { return {{"type", {"integer", "null"}}, {"minimum", 0}}; }
Json time_of_day() { return {{"type", "string"}, {"pattern", "^[0-9]{8}-[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}$"}}; }
Json time_or_null() {
  Json schema = time_of_day();
  schema["type"] = {"string", "null"};
  return schema;
}
Json null() { return {{"type", "null"}}; }
Json always(const Json& value) { return {{"const", value}}; }
Json one_of(const std::vector<std::string_view>& values) { return {{"type", "string"}, {"enum", values}}; }
Json refer(std::string_view schema) { return {{"$ref", "#/components/schemas/" + std::string{schema}}}; }
Json list_of(Json each) { return {{"type", "array"}, {"items", std::move(each)}}; }
Json empty_list(Json each) { return {{"type", "array"}, {"maxItems", 0}, {"items", std::move(each)}}; }
Json filled_list(Json each) { return {{"type", "array"}, {"minItems", 1}, {"items", std::move(each)}}; }
Json either(std::vector<Json> schemas) { return {{"oneOf", std::move(schemas)}}; }

template <class Enum>
Json names_of(Enum first = Enum{}) {
  std::vector<std::string_view> names;
  for (const Enum each : enum_values(first)) names.push_back(to_string(each));
  return one_of(names);
}

struct Member {
  std::string name;
  Json schema;
  std::string_view help{};
  bool optional = false;
};
using Members = std::vector<Member>;

// An object with these members and no other.
Json object_of(const Members& members, std::string_view help = {}) {
  Json schema{{"type", "object"}};
  if (!help.empty()) schema["description"] = help;
  Json required = Json::array(), properties = Json::object();
  for (const Member& each : members) {
    properties[each.name] = each.schema;
    if (!each.help.empty()) properties[each.name]["description"] = each.help;
    if (!each.optional) required.push_back(each.name);
  }
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  schema["properties"] = std::move(properties);
  return schema;
}

template <class Counters>
Json counters_of() {
  Members members;
  for (const auto& row : counter_rows<Counters>) {
    members.push_back({counter_name(row.metric, row.label_value), count(), row.help});
  }
  return object_of(members);
}

// With the member "result" in what a command answers.
Json session_schema(std::string_view help, bool with_result) {
  std::vector<std::string_view> phases, stores{"memory"};
  for (const Phase each : enum_values<Phase>()) phases.push_back(phase_name(each));
  for (const StoreCondition each : enum_values<StoreCondition>()) stores.push_back(to_string(each));
  Members members{
      {"name", text(), "Such as FIX.4.4:DESK->VENUE."},
      {"number", count(), "Stands for the name in paths."},
      {"role", names_of<nfx::Role>()},
      {"state", one_of(phases)},
      {"enabled", flag(), "Takes connections."},
      {"held", flag(), "Messages of the program are not sent."},
      {"connected", flag(), "A TCP connection is open, logged on or not."},
      {"peer", text(), "Address of the peer. Empty: not known, or no connection."},
      {"next_in", count(), "The next sequence number expected from the peer."},
      {"next_out", count(), "The sequence number of the next message sent."},
      {"gap_open", flag(), "A ResendRequest of this side is not answered completely."},
      {"queued", count(), "Messages received ahead of the gap."},
      {"resending", flag(), "Answers a ResendRequest of the peer."},
      {"pending_bytes", count(), "Encoded, and not taken by the network yet."},
      {"heartbeat_s", count(), "HeartBtInt(108)."},
      {"from_template", flag(), "Made at a Logon, from a template of the configuration."},
      {"store", one_of(stores), "Condition of the journal. memory: there is none."},
      {"in_hours", flag(), "The schedule allows a Logon now, or there is none."},
      {"logged_on_since", time_or_null(), "null: it is not logged on."},
      {"last_in", time_or_null(), "When the peer's last message was received. null: none since the start."},
      {"last_out", time_or_null(), "When the last message was sent. null: none since the start."},
      {"unhandled_since", time_or_null(),
       "When the message that the application does not handle yet was delivered first. null: there is none."},
      {"last_end", either({refer("SessionEnd"), null()}), "null: it has not ended since the start."},
      {"counters", refer("SessionCounters")},
  };
  if (with_result)
    members.push_back({"result", one_of({"done", "nothing_to_do"}), "nothing_to_do: it was so already."});
  return object_of(members, help);
}

void add_sessions(Json& to) {
  std::vector<std::string_view> reasons;
  for (const EndReasonRow& row : end_reason_rows) {
    if (row.reason != EndReason::none) reasons.push_back(row.name);
  }
  to["SessionEnd"] = object_of({{"time", time_of_day(), "In UTC."},
                                {"reason", one_of(reasons), "docs/metrics.md explains each."},
                                {"reason_text", text(), "The same in words."},
                                {"text", text(), "What the peer, the network or the program said. Empty: nothing."}},
                               "How a session, or an attempt to log on, ended last.");
  to["SessionCounters"] = counters_of<SessionCounters>();
  to["Session"] = session_schema("A session at one moment.", false);
  to["SessionResult"] = session_schema("A session after a command.", true);
  to["SessionList"] = object_of({{"complete", flag(), "False: a poll thread did not answer, and its sessions lack."},
                                 {"sessions", list_of(refer("Session"))}});
}

void add_engine(Json& to) {
  to["Health"] = object_of({{"result", always("ok")}});
  to["Done"] = object_of({{"result", always("done")}});
  to["ReloadedTls"] = either({object_of({{"result", always("done")}}),
                              object_of({{"result", always("incomplete")}, {"problems", filled_list(text())}})});
  to["Engine"] =
      object_of({{"version", text()},
                 {"pid", count(1)},
                 {"control_since", time_of_day(), "When the control plane began, in UTC."},
                 {"poll_threads", count(1)},
                 {"idle", text(), "What a poll thread does without work."},
                 {"transport", text()},
                 {"log_level", names_of(LogLevel::error), "Least level of the lines that the program prints."},
                 {"state", one_of({"serving", "draining", "stopping"})}});
}

void add_threads(Json& to) {
  to["PlacedThread"] = object_of({{"name", text()},
                                  {"planned_cpus", text(), "A list such as 2-3,6."},
                                  {"cpus", text(), "Those of its mask."},
                                  {"as_planned", flag()},
                                  {"migrations", count_or_null(), "null: the kernel does not report them."},
                                  {"voluntary_switches", count_or_null()},
                                  {"involuntary_switches", count_or_null()},
                                  {"worst_idle_gap_ns", count()}},
                                 "A thread of the plan of [placement].");
  to["RunningThread"] =
      object_of({{"name", text()},
                 {"tid", count(1)},
                 {"poll_thread", count_or_null(), "Its number. null: another thread."},
                 {"cpu", count(), "Where it runs, or ran last."},
                 {"state", {{"type", "string"}, {"minLength", 1}, {"maxLength", 1}}, "As /proc has it: R, S, D, ..."},
                 {"run_ns", count_or_null(), "Time on a CPU. null: the kernel does not report it."},
                 {"wait_ns", count_or_null(), "Time in which it could have run and another task did."},
                 {"migrations", count_or_null()},
                 {"voluntary_switches", count()},
                 {"involuntary_switches", count()},
                 {"cpu_stolen_ns", count_or_null(), "Taken by the hypervisor from that CPU, since the host's start."}},
                "A thread of the process, as the kernel has run it since it began.");
  to["Threads"] = object_of({{"threads", list_of(refer("PlacedThread")), "Empty without [placement]."},
                             {"warnings", list_of(text())},
                             {"running", list_of(refer("RunningThread"))}});
  to["Placement"] = either({object_of({{"result", always("no_plan")}, {"problems", empty_list(text())}}),
                            object_of({{"result", always("as_planned")},
                                       {"plan", text(), "Its hash."},
                                       {"problems", empty_list(text())},
                                       {"threads", list_of(refer("PlacedThread"))}}),
                            object_of({{"result", always("differs")},
                                       {"plan", text(), "Its hash."},
                                       {"problems", filled_list(text())},
                                       {"threads", list_of(refer("PlacedThread"))}})});
}

void add_latencies(Json& to) {
  to["Percentiles"] = object_of(
      {{"count", count(1)}, {"p50_ns", count()}, {"p99_ns", count()}, {"p999_ns", count()}, {"max_ns", count()}});
  Members stages;
  for (std::size_t i = 0; i < session_stage_count; ++i)
    stages.push_back({std::string{latency_stages[i].name}, refer("Percentiles"), latency_stages[i].help, true});
  to["Stages"] = object_of(stages, "Those in which anything was measured.");
  const Json perhaps = either({refer("Percentiles"), object_of({{"count", always(0)}})});
  to["SessionLatency"] = object_of({{"name", text()}, {"poll_thread", count()}, {"stages", refer("Stages")}});
  to["ThreadLatency"] = object_of({{"poll_thread", count()},
                                   {"handling", perhaps, "Time that a busy-polling thread handles messages."},
                                   {"poll_gap", perhaps, "Time between two polls of the network."},
                                   {"stages", refer("Stages"), "Of all sessions of this thread."}});
  const Json window = names_of<LatencyWindow>();
  to["Latency"] = either({object_of({{"window", window},
                                     {"measured", always(true)},
                                     {"from", time_of_day()},
                                     {"to", time_of_day()},
                                     {"sessions", list_of(refer("SessionLatency"))},
                                     {"threads", list_of(refer("ThreadLatency"))}}),
                          object_of({{"window", window},
                                     {"measured", always(false), "[engine] latency is off."},
                                     {"sessions", empty_list(refer("SessionLatency"))},
                                     {"threads", empty_list(refer("ThreadLatency"))}})});
  to["SlowMoment"] = object_of({{"ended", time_of_day()},
                                {"took_ns", count()},
                                {"stage", names_of<LatencyStage>()},
                                {"session", text(), "Empty: of no one session."},
                                {"poll_thread", count()},
                                {"cause", names_of<SlowCause>()},
                                {"ran_ns", count(), "CPU time of the thread within it, at most."},
                                {"waited_ns", count()},
                                {"stolen_ns", count()},
                                {"interrupts", count()},
                                {"involuntary_switches", count()},
                                {"migrations", count()},
                                {"minor_faults", count()},
                                {"major_faults", count()}});
  to["Slowest"] = object_of({{"window", window}, {"moments", list_of(refer("SlowMoment")), "Slowest first."}});
}

void add_messages(Json& to) {
  const Json field{{"type", "array"},
                   {"prefixItems", {count(1), text()}},
                   {"minItems", 2},
                   {"maxItems", 2},
                   {"description", "Tag and value; a secret is ***."}};
  to["Message"] = object_of({{"number", count(), "Grows over all sessions of an engine."},
                             {"time", time_of_day(), "When it was read or encoded, in UTC."},
                             {"direction", one_of({"in", "out"})},
                             {"size", count(), "In bytes."},
                             {"cut", flag(), "Only its beginning was copied."},
                             {"fields", list_of(field)}});
  to["Messages"] = object_of({{"began", flag(), "Copying began with this request: there are no earlier messages."},
                              {"dropped", count(), "Messages that did not fit, since copying began."},
                              {"messages", list_of(refer("Message"))}});
}

void add_store(Json& to) {
  to["Files"] = object_of({{"files", count()}, {"bytes", count()}});
  to["Store"] = object_of({{"session", text()},
                           {"folder", text()},
                           {"durability", names_of<Durability>()},
                           {"condition", names_of<StoreCondition>()},
                           {"condition_text", text()},
                           {"oldest", count(), "Of the messages that can be sent again."},
                           {"last", count(), "0: there are none."},
                           {"stored_bytes", count()},
                           {"position", count(), "After the last record."},
                           {"durable", count(), "What is before this position is synced."},
                           {"segments", refer("Files")},
                           {"archived", refer("Files"), "By resets of the sequence numbers."},
                           {"counters", counters_of<JournalCounters>()}});
  to["Finding"] = object_of({{"file", text()}, {"offset", count()}, {"what", text()}});
  to["StoreVerification"] =
      object_of({{"result", one_of({"ok", "torn", "damaged"}), "torn: only what was written after the last commit."},
                 {"complete", flag(), "There is nothing after to."},
                 {"from", count()},
                 {"to", count(), "from of the next request."},
                 {"segments", count()},
                 {"records", count()},
                 {"messages", count()},
                 {"found", count(), "Records that are wrong although their checksums are right."},
                 {"findings", list_of(refer("Finding"))}});
  to["StoreTail"] = object_of({{"messages", list_of(refer("Message")), "Oldest first."}});
}

void add_reloads(Json& to) {
  const Json needs = names_of<ChangeNeeds>();
  to["KeyChange"] = object_of({{"section", text()},
                               {"key", text()},
                               {"before", text()},
                               {"after", text()},
                               {"place", text(), "Of the new value; of the old one where it is not given any more."},
                               {"when", needs}});
  to["SessionChange"] = object_of({{"name", text()},
                                   {"change", names_of<SessionChange::Kind>()},
                                   {"when", needs},
                                   {"why", text(), "Where the keys do not show it.", true},
                                   {"keys", list_of(refer("KeyChange"))}});
  const auto report = [](Json result) {
    return Members{{"result", std::move(result)},
                   {"sessions", list_of(refer("SessionChange"))},
                   {"engine", list_of(refer("KeyChange")), "Of other sections."}};
  };
  Members carried_out = report(one_of({"done", "nothing_to_do", "incomplete"}));
  carried_out.push_back({"problems", filled_list(text()), "What failed while it was carried out.", true});
  to["ReloadPlan"] = object_of(report(always("planned")));
  to["ReloadReport"] = object_of(carried_out);
}

}  // namespace

Json document_schemas() {
  Json all = Json::object();
  add_engine(all);
  add_sessions(all);
  add_threads(all);
  add_latencies(all);
  add_messages(all);
  add_store(all);
  add_reloads(all);
  all["Problem"] = object_of({{"type", {{"type", "string"}, {"pattern", "^urn:nexusfix:problem:[a-z-]+$"}}},
                              {"title", text()},
                              {"status", {{"type", "integer"}, {"minimum", 400}, {"maximum", 599}}},
                              {"detail", text(), "What is wrong, and what to do."},
                              {"session", refer("Session"), "At that moment.", true}},
                             "RFC 9457.");
  return all;
}

}  // namespace nfx::control
