// Routes of sessions: the list, the commands of each, their messages and journals.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "control/api.hpp"
#include "control/documents.hpp"
#include "control/request_body.hpp"
#include "control/store_view.hpp"
#include "engine/recent_messages.hpp"

namespace nfx::control {
namespace {

struct StoreTail {
  std::vector<RecentMessage> messages;
};

constexpr std::uint64_t usual_messages = 64;
constexpr std::uint64_t usual_tail = 10;

const std::array verify_query{
    QueryParameter{"from", "Position to begin at: \"to\" of the answer before (default 0).", UINT64_MAX}};
const std::array tail_query{QueryParameter{"limit", "Maximum number of messages (default 10).", most_tail_messages}};
const std::array messages_query{
    QueryParameter{"after", "Only messages after the one of this number.", UINT64_MAX},
    QueryParameter{"limit", "Maximum number of messages, the latest (default 64).", RecentMessages::most_messages}};

std::string_view result_of_check(const StoreVerification& of) {
  const bool damaged = (of.damage && !of.torn) || of.found != 0;
  return damaged ? "damaged" : of.damage ? "torn" : "ok";
}

std::vector<JournalCheck::Finding> findings_of_check(const StoreVerification& of) {
  std::vector<JournalCheck::Finding> all = of.findings;
  if (of.damage) all.push_back({.file = of.damage->file, .offset = of.damage->offset, .what = of.damage->reason});
  return all;
}

Json fields_of(const RecentMessage& message) {
  Json fields = Json::array();
  for (const ShownField& field : message.fields) fields.push_back(Json::array({value(field.tag), field.value}));
  return fields;
}

Json field_schema() {
  return {{"type", "array"},
          {"prefixItems", {count_schema(1), text_schema()}},
          {"minItems", 2},
          {"maxItems", 2},
          {"description", "Tag and value; a secret is ***."}};
}

}  // namespace

template <>
const Document<SessionList> Document<SessionList>::self{
    "SessionList",
    {{"complete", &SessionList::complete, "False: a poll thread did not answer, and its sessions are missing."},
     {"sessions", &SessionList::sessions}}};

template <>
const Document<RecentMessage> Document<RecentMessage>::self{
    "Message",
    {{"number", &RecentMessage::number, "Grows over all sessions of an engine."},
     {"time", &RecentMessage::time, "When it was read or encoded, in UTC."},
     {"direction", [](auto& of) { return of.direction == Direction::in ? "in" : "out"; }, "", one_of({"in", "out"})},
     {"size", &RecentMessage::size, "In bytes."},
     {"cut", &RecentMessage::cut, "Only its beginning was copied."},
     {"fields", fields_of, "", list_schema(field_schema())}}};

template <>
const Document<RecentMessages> Document<RecentMessages>::self{
    "Messages",
    {{"began", &RecentMessages::began, "Copying began with this request: there are no earlier messages."},
     {"dropped", &RecentMessages::dropped, "Messages that did not fit, since copying began."},
     {"messages", &RecentMessages::messages}}};

template <>
const Document<StoreTail> Document<StoreTail>::self{"StoreTail", {{"messages", &StoreTail::messages, "Oldest first."}}};

template <>
const Document<FileSum> Document<FileSum>::self{"Files", {{"files", &FileSum::files}, {"bytes", &FileSum::bytes}}};

template <>
const Document<JournalCounters> Document<JournalCounters>::self = document_of_counters<JournalCounters>();

template <>
const Document<StoreView> Document<StoreView>::self{
    "Store",
    {{"session", [](auto& of) { return of.journal.session; }},
     {"folder", [](auto& of) { return of.journal.folder.string(); }},
     {"durability", [](auto& of) { return of.journal.durability; }},
     {"condition", [](auto& of) { return of.journal.condition; }},
     {"condition_text", [](auto& of) { return of.journal.condition_text; }},
     {"oldest", [](auto& of) { return of.journal.oldest; }, "Of the messages that can be sent again."},
     {"last", [](auto& of) { return of.journal.last; }, "0: there are none."},
     {"stored_bytes", [](auto& of) { return of.journal.stored_bytes; }},
     {"position", [](auto& of) { return of.journal.position; }, "After the last record."},
     {"durable", [](auto& of) { return of.journal.durable; }, "What is before this position is synced."},
     {"segments", &StoreView::segments},
     {"archived", &StoreView::archived, "By resets of the sequence numbers."},
     {"counters", [](auto& of) { return of.journal.counters; }}}};

template <>
const Document<JournalCheck::Finding> Document<JournalCheck::Finding>::self{"Finding",
                                                                            {{"file", &JournalCheck::Finding::file},
                                                                             {"offset", &JournalCheck::Finding::offset},
                                                                             {"what", &JournalCheck::Finding::what}}};

template <>
const Document<StoreVerification> Document<StoreVerification>::self{
    "StoreVerification",
    {{"result", result_of_check, "torn: only what was written after the last commit.",
      one_of({"ok", "torn", "damaged"})},
     {"complete", &StoreVerification::complete, "Nothing follows \"to\"."},
     {"from", &StoreVerification::from},
     {"to", &StoreVerification::to, "from of the next request."},
     {"segments", &StoreVerification::segments},
     {"records", &StoreVerification::records},
     {"messages", &StoreVerification::messages},
     {"found", &StoreVerification::found, "Records that are wrong although their checksums are right."},
     {"findings", findings_of_check}}};

namespace {

std::string_view to_string(AddStatus status) noexcept {
  switch (status) {
    case AddStatus::added: return "added";
    case AddStatus::invalid: return "the configuration is invalid";
    case AddStatus::exists: return "the session exists already";
    case AddStatus::being_removed: return "the session is being removed";
    case AddStatus::stopping: return "the engine stops or drains";
  }
  return "?";
}

Answer answer_of_added(const AddOutcome& outcome) {
  switch (outcome.status) {
    case AddStatus::added: break;
    case AddStatus::invalid: return problem(422, "bad-configuration", outcome.problem);
    case AddStatus::exists: return problem(409, "session-exists", outcome.problem);
    case AddStatus::being_removed: return problem(409, "being-removed", outcome.problem);
    case AddStatus::stopping: return problem(409, "stopping", outcome.problem);
  }
  return session_answer(outcome.session, "done");
}

// The contents of an ETag: see etag_of().
struct Seen {
  NextNumbers numbers;
  std::uint32_t revision;
};

// Empty if it is not an ETag of this session.
std::optional<Seen> seen_in(std::string_view etag, std::size_t session) noexcept {
  if (etag.size() < 2 || etag.front() != '"' || etag.back() != '"') return std::nullopt;
  etag = etag.substr(1, etag.size() - 2);
  std::array<std::uint64_t, 4> parts{};
  for (std::uint64_t& part : parts) {
    const bool is_last = &part == &parts.back();
    const std::size_t end = is_last ? etag.size() : etag.find('.');
    if (end == std::string_view::npos) return std::nullopt;
    const auto number = number_in(etag.substr(0, end));
    if (!number) return std::nullopt;
    part = *number;
    etag.remove_prefix(is_last ? end : end + 1);
  }
  if (parts[0] != session || parts[3] > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return Seen{.numbers = {.in = SeqNum{parts[1]}, .out = SeqNum{parts[2]}},
              .revision = static_cast<std::uint32_t>(parts[3])};
}

// Adds the conditions of an If-Match to a command. False if no session can meet both.
bool add_expected(std::string_view if_match, std::size_t session, SessionCommand& command) noexcept {
  if (if_match.empty() || if_match == "*") return true;
  const auto seen = seen_in(if_match, session);
  const NextNumbers& expected = command.expected;
  if (!seen || (expected.in && expected.in != seen->numbers.in) || (expected.out && expected.out != seen->numbers.out))
    return false;
  command.expected = seen->numbers;
  command.expected_revision = seen->revision;
  return true;
}

// The request, for the audit log.
std::string detail_of(const Request& request) {
  std::string detail = compact(request.body);
  if (!request.if_match.empty())
    detail += (detail.empty() ? "If-Match: " : " If-Match: ") + std::string{request.if_match};
  return detail;
}

AnswerOrWork give_command(Api& api, const Call& call) {
  const SessionCommandRow& row = *call.route.command;
  auto command = command_of(call.request.body, row);
  if (!command) return problem(400, "bad-request", command.error());
  const auto number = api.session_of(call);
  if (!number) return number.error();
  if (row.takes(CommandArguments::expected) && call.request.if_match.empty() && command->expected == NextNumbers{}) {
    return problem(428, "expected-needed",
                   "give the expected sequence numbers in \"expected\", or the session's ETag as If-Match; "
                   "If-Match: * skips the check");
  }
  if (!add_expected(call.request.if_match, *number, *command))
    return refused({.status = CommandStatus::refused, .refusal = OperatorResult::numbers_differ});
  if (row.only_reads) {
    const CommandOutcome outcome = api.target().command(*number, *command);
    return outcome ? session_answer(outcome.session) : refused(outcome);
  }
  command->who = call.request.caller.name;
  return api.change(call, detail_of(call.request), [&target = api.target(), number = *number, command = *command] {
    const CommandOutcome outcome = target.command(number, command);
    const std::string_view result = outcome.status == CommandStatus::done ? "done" : "nothing_to_do";
    return Outcome{.answer = outcome ? session_answer(outcome.session, result) : refused(outcome),
                   .event = outcome ? "done" : "refused",
                   .detail = std::string{explain(outcome)}};
  });
}

// The audit log contains the session's name but not the text, which may contain a password.
AnswerOrWork add(Api& api, const Call& call) {
  const auto config = config_of(call.request.body);
  if (!config) return problem(400, "bad-request", config.error());
  return api.change(call, {}, [&target = api.target(), config = *config] {
    const AddOutcome outcome = target.add(config);
    const bool added = outcome.status == AddStatus::added;
    return Outcome{.answer = answer_of_added(outcome),
                   .event = added ? "done" : "refused",
                   .detail = added ? outcome.session.name : std::string{to_string(outcome.status)}};
  });
}

// Like add(): the audit log contains the changed keys but not the text.
AnswerOrWork change_settings(Api& api, const Call& call) {
  const auto config = config_of(call.request.body);
  if (!config) return problem(400, "bad-request", config.error());
  const auto number = api.session_of(call);
  if (!number) return number.error();
  SessionCommand show;
  if (!call.request.if_match.empty()) {
    const bool is_one = add_expected(call.request.if_match, *number, show);
    const CommandOutcome there = api.target().command(*number, show);
    if (!there) return refused(there);
    if (!is_one) return refused({.status = CommandStatus::refused, .refusal = OperatorResult::numbers_differ});
  }
  return api.change(
      call, {}, [&target = api.target(), who = call.request.caller.name, number = *number, config = *config, show] {
        // Another change may have been made since the request arrived.
        const CommandOutcome there = show.expected_revision ? target.command(number, show) : CommandOutcome{};
        if (there.status != CommandStatus::refused) return outcome_of(target.change(number, config, who));
        return Outcome{.answer = refused(there), .event = "refused", .detail = std::string{explain(there)}};
      });
}

AnswerOrWork show_messages(Api& api, const Call& call) {
  const auto session = api.session_read_by(call);
  if (!session) return session.error();
  const RecentMessages recent =
      api.target().messages(*session, call.number("after", 0), call.number("limit", usual_messages));
  if (recent.status == CommandStatus::busy)
    return problem(503, "busy", "the messages of at most eight sessions can be shown at a time: try again later");
  if (recent.status != CommandStatus::done) return refused({.status = recent.status});
  return answer_of(recent);
}

// The worker calls `read(target, session)`.
template <class Read>
AnswerOrWork read_journal(Api& api, const Call& call, Read read) {
  const auto session = api.session_read_by(call);
  if (!session) return session.error();
  return api.read(call, [&target = api.target(), session = *session, read]() -> Answer {
    const auto outcome = read(target, session);
    if (outcome.status != CommandStatus::done) return refused({.status = outcome.status});
    if (!outcome.exists) return problem(409, "no-journal", "the session has no journal: its store is memory");
    if (!outcome.unreadable.empty()) return problem(503, "store-unreadable", outcome.unreadable);
    return answer_of(outcome.answer);
  });
}

AnswerOrWork show_store(Api& api, const Call& call) {
  return read_journal(api, call, [](Target& target, std::size_t session) { return target.store(session); });
}

AnswerOrWork check_store(Api& api, const Call& call) {
  return read_journal(api, call, [from = call.number("from", 0)](Target& target, std::size_t session) {
    return target.verify_store(session, from);
  });
}

AnswerOrWork show_store_tail(Api& api, const Call& call) {
  return read_journal(api, call, [most = call.number("limit", usual_tail)](Target& target, std::size_t session) {
    auto tail = target.store_tail(session, most);
    return StoreOutcome<StoreTail>{tail.status, tail.exists, std::move(tail.unreadable), {std::move(tail.answer)}};
  });
}

Route route_of(const SessionCommandRow& row) {
  using enum SessionCommandKind;
  std::string operation{row.name};  // "test_request_session"
  std::ranges::replace(operation, '-', '_');
  operation += "_session";
  // Whether the command may not fit the state of its session or of the engine.
  constexpr std::array may_not_fit{set, reset, logon, enable, test_request, resend};
  std::vector<std::string_view> refusals{
      std::ranges::find(may_not_fit, row.kind) != may_not_fit.end() ? "NotNow" : "BeingRemoved"};
  if (row.takes(CommandArguments::from)) refusals.push_back("BadNumber");
  if (row.takes(CommandArguments::expected)) refusals.push_back("ExpectedNeeded");
  RouteOptions options{.body = command_schema(row),
                       .body_example = command_example(row),
                       .refusals = std::move(refusals),
                       .command = &row};
  constexpr const char* path = "/v1/sessions/{session}";
  if (row.only_reads) {
    return route("GET", path, std::move(operation), Role::viewer, row.help,
                 answers<SessionStatus>("The session.", true), give_command, std::move(options));
  }
  return route("POST", std::string{path} + '/' + std::string{row.name}, std::move(operation), Role::operator_, row.help,
               answers<SessionResult>("Done, or already in that state.", true), give_command, std::move(options));
}

}  // namespace

std::vector<Route> session_routes() {
  const auto list = [](Api& api, const Call&) -> AnswerOrWork { return answer_of(api.target().sessions()); };
  constexpr const char* config_example =
      R"({"config": "[[session]]\nsender_comp_id = \"DESK\"\ntarget_comp_id = \"VENUE\"\nlisten = \"127.0.0.1:0\"\n"})";
  std::vector<Route> all{
      route("GET", "/v1/sessions", "list_sessions", Role::viewer, "All sessions.",
            answers<SessionList>("The sessions."), list),
      route("POST", "/v1/sessions", "add_session", Role::operator_,
            "Add a session until the next start: one [[session]] as in the configuration file, checked as there.",
            answers<SessionResult>("The session that was added.", true), add,
            {.body = config_schema,
             .body_example = config_example,
             .refusals = {"NotAdded", "BadConfiguration"},
             .on_worker = true}),
      route("POST", "/v1/sessions/{session}/change", "change_session", Role::operator_,
            "Change a session until the next start to the settings of one [[session]] as in the configuration file, "
            "checked as there.",
            answers<ReloadReport>("What has changed, and what is left."), change_settings,
            {.body = config_schema,
             .body_example = config_example,
             .refusals = {"NotChanged", "BadConfiguration"},
             .on_worker = true}),
      route("GET", "/v1/sessions/{session}/messages", "get_messages", Role::operator_,
            "The session's last messages in both directions, copied from the first request on until 10 seconds after "
            "the last one. Secrets are masked.",
            answers<RecentMessages>("The messages."), show_messages,
            {.query = messages_query, .refusals = {"BeingRemoved"}, .reads = "messages"}),
      route("GET", "/v1/sessions/{session}/store", "get_store", Role::viewer,
            "The session's journal: folder, durability, messages, files, counters.", answers<StoreView>("The journal."),
            show_store, {.refusals = {"NoJournal"}, .on_worker = true}),
      route("GET", "/v1/sessions/{session}/store/verify", "verify_store", Role::operator_,
            "Read a part of the journal's files and check every checksum, message and sequence number: one segment, "
            "and further ones up to 16 MiB. Repeat with from until it is complete.",
            answers<StoreVerification>("What this part of the journal is like."), check_store,
            {.query = verify_query, .refusals = {"NoJournal"}, .on_worker = true, .reads = "store"}),
      route("GET", "/v1/sessions/{session}/store/tail", "get_store_tail", Role::operator_,
            "The last sent messages in the last 4 MiB of the journal's files. Secrets are masked.",
            answers<StoreTail>("The messages."), show_store_tail,
            {.query = tail_query, .refusals = {"NoJournal"}, .on_worker = true, .reads = "store"}),
  };
  for (const SessionCommandRow& row : session_command_rows) all.push_back(route_of(row));
  return all;
}

}  // namespace nfx::control
