// Converts JSON documents of the control plane to rows.
#include "top/snapshot.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "control_access.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::app::top {
namespace {

using Json = nlohmann::ordered_json;

std::string state_of(const Json& session) {
  const std::string state = member_text(session, "state");
  if (member_is_true(session, "held")) return "held";
  if (state == "logged_on") return member_text(session, "unhandled_since") == "-" ? "logged on" : "unhandled";
  if (state == "awaiting_logon") return "logging on";
  if (state == "logout_sent") return "logging out";
  if (!member_is_true(session, "enabled")) return "disabled";
  const auto in_hours = session.find("in_hours");
  if (state == "disconnected" && in_hours != session.end() && *in_hours == false) return "closed";
  return state == "disconnected" && member_is_true(session, "connected") ? "connected" : state;
}

std::optional<Percentiles> percentiles_of(const Json* counts) {
  if (counts == nullptr) return std::nullopt;
  Percentiles result;
  result.count = member_number(*counts, "count").value_or(0);
  if (result.count == 0) return std::nullopt;
  result.p50_ns = member_number(*counts, "p50_ns").value_or(0);
  result.p99_ns = member_number(*counts, "p99_ns").value_or(0);
  result.max_ns = member_number(*counts, "max_ns").value_or(0);
  return result;
}

// "12:00:00.123" from "20240315-12:00:00.123".
std::string time_of_day(std::string text) {
  const std::size_t hyphen = text.find('-');
  return hyphen == std::string::npos ? text : text.substr(hyphen + 1);
}

// The host's activity between the two samples around the moment, if there was any.
std::string evidence_of(const Json& moment) {
  std::string text;
  const auto add = [&](const char* member, std::uint64_t unit, std::string_view name) {
    const std::uint64_t count = member_number(moment, member).value_or(0) / unit;
    if (count == 0) return;
    text.append(text.empty() ? "" : ", ").append(std::to_string(count)).append(name);
  };
  add("waited_ns", 1000, " us waited");
  add("stolen_ns", 1'000'000, " ms stolen");
  add("involuntary_switches", 1, " switches");
  add("migrations", 1, " migrations");
  add("interrupts", 1, " interrupts");
  add("major_faults", 1, " major faults");
  add("minor_faults", 1, " minor faults");
  const std::uint64_t between_ms = member_number(moment, "between_ns").value_or(0) / 1'000'000;
  return text.empty() || between_ms == 0 ? text : "in " + std::to_string(between_ms) + " ms " + text;
}

struct TaggedValue {
  Tag tag{};
  std::string value;
};

std::vector<TaggedValue> fields_of(const Json& message) {
  std::vector<TaggedValue> fields;
  const auto list = message.find("fields");
  if (list == message.end() || !list->is_array()) return fields;
  for (const Json& each : *list) {
    if (!each.is_array() || each.size() != 2 || !each[0].is_number_integer() || !each[1].is_string()) continue;
    fields.push_back({Tag{each[0].get<std::int32_t>()}, each[1].get<std::string>()});
  }
  return fields;
}

std::string_view value_in(const std::vector<TaggedValue>& fields, Tag tag) {
  const auto found = std::ranges::find(fields, tag, &TaggedValue::tag);
  return found == fields.end() ? std::string_view{} : std::string_view{found->value};
}

std::string text_of(const TaggedValue& field, const Dictionary* dictionary) {
  if (field.tag == Tag{}) return field.value;
  const std::string_view name = dictionary == nullptr ? std::string_view{} : dictionary->field_name(field.tag);
  std::string text = name.empty() ? std::to_string(value(field.tag)) : std::string{name};
  text.append("=").append(field.value);
  const std::string_view meaning =
      dictionary == nullptr ? std::string_view{} : dictionary->value_name(field.tag, field.value);
  if (!meaning.empty()) text.append("(").append(meaning).append(")");
  return text;
}

std::optional<double> rate(Count now, Count before, double seconds) {
  if (!now || !before || *now < *before || seconds <= 0) return std::nullopt;
  return static_cast<double>(*now - *before) / seconds;
}

}  // namespace

void read_engine(const Json& answer, Snapshot& into) {
  into.version = member_text(answer, "version");
  into.state = member_text(answer, "state");
  into.pid = member_number(answer, "pid").value_or(0);
}

void read_sessions(const Json& answer, Snapshot& into) {
  into.complete = member_is_true(answer, "complete");
  for_each_object(answer, "sessions", [&](const Json& each) {
    SessionRow& row = into.sessions.emplace_back();
    row.name = member_text(each, "name");
    row.state = state_of(each);
    row.peer = member_text(each, "peer");
    row.logged_on = member_text(each, "state") == "logged_on";
    row.in_hours = row.state != "closed";
    row.last_in = member_text(each, "last_in");
    row.last_out = member_text(each, "last_out");
    row.since = member_text(each, "logged_on_since");
    if (const Json* end = member_object(each, "last_end")) {
      if (!row.logged_on) row.since = member_text(*end, "time");
      row.last_end = member_text(*end, "reason_text");
      const std::string said = member_text(*end, "text");
      if (!said.empty() && said != row.last_end) row.last_end.append(": ").append(said);
    }
    row.gap_open = member_is_true(each, "gap_open");
    row.resending = member_is_true(each, "resending");
    row.next_in = member_number(each, "next_in");
    row.next_out = member_number(each, "next_out");
    row.queued = member_number(each, "queued");
    row.pending_bytes = member_number(each, "pending_bytes");
    if (const Json* counters = member_object(each, "counters")) {
      row.messages_in = member_number(*counters, "messages_in_total");
      row.messages_out = member_number(*counters, "messages_out_total");
    }
  });
}

void read_threads(const Json& answer, Snapshot& into) {
  for_each_object(answer, "running", [&](const Json& each) {
    ThreadRow& row = into.threads.emplace_back();
    row.tid = member_number(each, "tid").value_or(0);
    row.poll_thread = member_number(each, "poll_thread");
    row.name = row.poll_thread ? "nfx-poll-" + std::to_string(*row.poll_thread) : member_text(each, "name");
    row.state = member_text(each, "state");
    row.cpu = member_number(each, "cpu");
    row.run_ns = member_number(each, "run_ns");
    row.wait_ns = member_number(each, "wait_ns");
    row.migrations = member_number(each, "migrations");
    row.involuntary = member_number(each, "involuntary_switches");
    row.stolen_ns = member_number(each, "cpu_stolen_ns");
  });
}

void read_latency(const Json& answer, Snapshot& into) {
  into.measured = member_is_true(answer, "measured");
  for_each_object(answer, "sessions", [&](const Json& each) {
    const auto row = std::ranges::find(into.sessions, member_text(each, "name"), &SessionRow::name);
    const Json* stages = member_object(each, "stages");
    if (row == into.sessions.end() || stages == nullptr) return;
    for (std::size_t i = 0; i < session_stage_count; ++i)
      row->stages[i] = percentiles_of(member_object(*stages, std::string{latency_stages[i].name}.c_str()));
  });
  for_each_object(answer, "threads", [&](const Json& each) {
    const Count number = member_number(each, "poll_thread");
    const auto gap = percentiles_of(member_object(each, "poll_gap"));
    const auto row = std::ranges::find(into.threads, number, &ThreadRow::poll_thread);
    if (number && gap && row != into.threads.end()) row->worst_gap_ns = gap->max_ns;
  });
}

void read_slowest(const Json& answer, Snapshot& into) {
  for_each_object(answer, "moments", [&](const Json& each) {
    into.moments.push_back({.ended = time_of_day(member_text(each, "ended")),
                            .stage = member_text(each, "stage"),
                            .session = member_text(each, "session"),
                            .cause = member_text(each, "cause"),
                            .evidence = evidence_of(each),
                            .took_ns = member_number(each, "took_ns"),
                            .poll_thread = member_number(each, "poll_thread")});
  });
}

std::vector<MessageRow> read_messages(const Json& answer, const FindDictionary& find) {
  std::vector<MessageRow> rows;
  for_each_object(answer, "messages", [&](const Json& each) {
    const std::vector<TaggedValue> fields = fields_of(each);
    const Dictionary* dictionary = find(value_in(fields, Tag::BeginString), value_in(fields, Tag::ApplVerID));
    MessageRow& row = rows.emplace_back();
    row.number = member_number(each, "number").value_or(0);
    row.time = time_of_day(member_text(each, "time"));
    row.direction = member_text(each, "direction");
    row.type = value_in(fields, Tag::MsgType);
    if (dictionary != nullptr) row.type_name = dictionary->message_name(row.type);
    row.seq = value_in(fields, Tag::MsgSeqNum);
    row.size = member_number(each, "size").value_or(0);
    row.cut = member_is_true(each, "cut");
    for (const TaggedValue& field : fields) {
      const bool possdup = field.tag == Tag::PossDupFlag || field.tag == Tag::PossResend;
      if (field.tag != Tag{} && ((is_header_tag(field.tag) && !possdup) || is_trailer_tag(field.tag))) continue;
      row.fields.push_back(text_of(field, dictionary));
    }
  });
  return rows;
}

void add_rates(Snapshot& now, const Snapshot& before) {
  if (!before.connected || now.pid != before.pid) return;
  const double seconds = std::chrono::duration<double>(now.taken - before.taken).count();
  for (SessionRow& row : now.sessions) {
    const auto old = std::ranges::find(before.sessions, row.name, &SessionRow::name);
    if (old == before.sessions.end()) continue;
    row.in_rate = rate(row.messages_in, old->messages_in, seconds);
    row.out_rate = rate(row.messages_out, old->messages_out, seconds);
  }
  constexpr double second_ns = 1e9;
  for (ThreadRow& row : now.threads) {
    const auto old = std::ranges::find(before.threads, row.tid, &ThreadRow::tid);
    if (old == before.threads.end()) continue;
    row.busy = rate(row.run_ns, old->run_ns, seconds * second_ns);
    row.waited = rate(row.wait_ns, old->wait_ns, seconds * second_ns);
    if (row.cpu == old->cpu) row.stolen = rate(row.stolen_ns, old->stolen_ns, seconds * second_ns);
  }
}

}  // namespace nfx::app::top
