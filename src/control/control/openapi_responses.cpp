// A row for each refusal, and which of them a route can answer.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "control/openapi_schemas.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx::control {
namespace {

using Json = nlohmann::ordered_json;

Json header_of(std::string_view help, std::string_view pattern) {
  return {{"description", help}, {"schema", {{"type", "string"}, {"pattern", pattern}}}};
}

// By name.
Json all_headers() {
  return {
      {"ETag", header_of("Of the session: its number, next_in, next_out, and how often its settings have changed. For "
                         "If-Match.",
                         "^\"[0-9]+\\.[0-9]+\\.[0-9]+\\.[0-9]+\"$")},
      {"Allow", header_of("The methods of this path.", "^[A-Z]+(, [A-Z]+)*$")},
      {"Retry-After", header_of("In seconds.", "^[0-9]+$")},
      {"WWW-Authenticate", header_of("What to send.", "^Bearer realm=")}};
}

struct Refusal {
  std::string_view name;
  unsigned status;
  std::string_view help;
  std::vector<std::string_view> kinds;        // the ends of its types
  std::vector<std::string_view> always{};     // headers that it has
  std::vector<std::string_view> sometimes{};  // ... and may have
};

const std::vector<Refusal>& refusals() {
  static const std::vector<Refusal> rows{
      {"BadRequest",
       400,
       "This is not an HTTP request, or a parameter or a member of the body is unknown or wrong.",
       {"bad-request"}},
      {"TokenNeeded", 401, "No token, or an unknown one. Over HTTP.", {"token-needed"}, {"WWW-Authenticate"}},
      {"Forbidden",
       403,
       "The caller's role may not do this; or, over HTTP, the Origin is that of another site.",
       {"forbidden", "wrong-origin"}},
      {"WrongOrigin", 403, "The Origin is that of another site. Over HTTP.", {"wrong-origin"}},
      {"NoSuchPath", 404, "There is no such path, for example as it has a query and takes none.", {"no-such-path"}},
      {"NoSuchSession", 404, "There is no such session, or no such path.", {"no-such-session", "no-such-path"}},
      {"WrongMethod", 405, "The path has other methods.", {"method-not-allowed"}, {"Allow"}},
      {"NotNow",
       409,
       "Not in the present state of the session or the engine.",
       {"would-end-session", "not-logged-on", "not-now", "not-possible", "being-removed", "stopping"},
       {},
       {"ETag"}},
      {"BeingRemoved",
       409,
       "The session is being removed: it logs out, and then there is no such session.",
       {"being-removed"},
       {},
       {"ETag"}},
      {"NotAdded",
       409,
       "There is such a session, also one that is being removed; or the engine stops or drains.",
       {"session-exists", "being-removed", "stopping"}},
      {"NotChanged",
       409,
       "The session is being removed, or the engine stops or drains.",
       {"being-removed", "stopping"},
       {},
       {"ETag"}},
      {"NotReloaded", 409, "The configuration has no file, or the engine stops or drains.", {"no-file", "stopping"}},
      {"NoJournal",
       409,
       "The session's store is memory, or the session is being removed.",
       {"no-journal", "being-removed"}},
      {"NumbersDiffer",
       412,
       "The sequence numbers are not the expected ones, or the settings have changed; nothing was changed.",
       {"numbers-differ", "settings-differ"},
       {},
       {"ETag"}},
      {"TooLarge", 413, "The body is larger than 16 KiB.", {"too-large"}},
      {"NotJson", 415, "A body is there, and Content-Type is not application/json.", {"not-json"}},
      {"WrongHost", 421, "The Host is not this address. Over HTTP.", {"wrong-host"}},
      {"BadNumber", 422, "There is no such message to be resent.", {"bad-number"}, {}, {"ETag"}},
      {"BadConfiguration",
       422,
       "The configuration is invalid: detail has its line, the key and what to write instead.",
       {"bad-configuration"}},
      {"ExpectedNeeded", 428, "Neither expected nor If-Match was given.", {"expected-needed"}},
      {"TooManyRequests",
       429,
       "More than 200 requests per second of this user; or, of a plan of a reload, one of all.",
       {"too-many-requests"},
       {"Retry-After"}},
      {"HeaderTooLarge", 431, "Request line and headers are larger than 8 KiB, or more than 64.", {"header-too-large"}},
      {"NotReady",
       503,
       "A poll thread does not answer, or the engine drains or stops.",
       {"not-answering", "not-ready"},
       {"Retry-After"}},
      {"Unavailable",
       503,
       "Too many requests wait, or the audit log or a journal cannot be written or read.",
       {"busy", "no-audit", "store-refuses", "store-unreadable"},
       {"Retry-After"},
       {"ETag"}},
      {"TimedOut",
       504,
       "A poll thread did not answer in time; what it had not begun is not carried out.",
       {"timed-out"},
       {"Retry-After"},
       {"ETag"}},
  };
  return rows;
}

Json refer(std::string_view kind, std::string_view name) {
  return {{"$ref", "#/components/" + std::string{kind} + '/' + std::string{name}}};
}

std::string schema_name(const Refusal& row) { return std::string{row.name} + "Problem"; }

Json response_of(const Refusal& row) {
  Json response{{"description", row.help}};
  for (const std::string_view name : row.always) response["headers"][name] = refer("headers", name);
  for (const std::string_view name : row.sometimes) response["headers"][name] = all_headers()[name];
  response["content"]["application/problem+json"]["schema"] = refer("schemas", schema_name(row));
  return response;
}

// Without "const" for the status: generators of clients cannot narrow a type by it.
Json schema_of(const Refusal& row) {
  Json types = Json::array();
  for (const std::string_view kind : row.kinds) types.push_back("urn:nexusfix:problem:" + std::string{kind});
  const Json status{{"type", "integer"}, {"enum", {row.status}}};
  const Json type{{"type", "string"}, {"enum", std::move(types)}};
  return {{"allOf", {refer("schemas", "Problem"), Json{{"properties", {{"type", type}, {"status", status}}}}}}};
}

// What a route's document is, with 200.
struct Success {
  std::string_view schema;
  std::string_view help;
  bool has_etag = false;
};

Success success_of(const Route& route) {
  switch (route.resource) {
    case Resource::health: return {"Health", "All poll threads answer."};
    case Resource::readiness: return {"Health", "The engine takes Logons."};
    case Resource::metrics: return {"", "The metrics at this moment."};
    case Resource::engine: return {"Engine", "The engine."};
    case Resource::threads: return {"Threads", "The threads."};
    case Resource::placement: return {"Placement", "What differs."};
    case Resource::latency: return {"Latency", "The percentiles."};
    case Resource::slowest: return {"Slowest", "The moments."};
    case Resource::description: return {"", "This document."};
    case Resource::stop:
    case Resource::drain:
    case Resource::end_drain:
    case Resource::log_level: return {"Done", "Done, or so already."};
    case Resource::reload_tls: return {"ReloadedTls", "Reloaded, or what could not be reloaded."};
    case Resource::plan_reload: return {"ReloadPlan", "What would change."};
    case Resource::reload:
    case Resource::change_session: return {"ReloadReport", "What has changed, and what is left."};
    case Resource::sessions: return {"SessionList", "The sessions."};
    case Resource::add_session: return {"SessionResult", "The session that was added.", true};
    case Resource::session:
      if (row_of(route.command).only_reads) return {"Session", "The session.", true};
      return {"SessionResult", "Done, or so already.", true};
    case Resource::messages: return {"Messages", "The messages."};
    case Resource::store: return {"Store", "The journal."};
    case Resource::store_verify: return {"StoreVerification", "What this part of the journal is like."};
    case Resource::store_tail: return {"StoreTail", "The messages."};
  }
  return {};
}

Json response_of(Resource resource, const Success& success) {
  Json response{{"description", success.help}};
  if (success.has_etag) response["headers"]["ETag"] = refer("headers", "ETag");
  if (resource == Resource::description) {
    response["content"]["application/json"]["schema"] = {{"type", "object"}};
  } else if (success.schema.empty()) {
    response["content"]["application/openmetrics-text; version=1.0.0; charset=utf-8"]["schema"] = {{"type", "string"}};
    response["content"]["text/plain; version=0.0.4; charset=utf-8"]["schema"] = {{"type", "string"}};
  } else {
    response["content"]["application/json"]["schema"] = refer("schemas", success.schema);
  }
  if (success.schema == "Latency") response["content"]["text/plain; charset=utf-8"]["schema"] = {{"type", "string"}};
  return response;
}

bool is_one_of(Resource resource, std::initializer_list<Resource> others) {
  return std::ranges::find(others, resource) != others.end();
}

// Whether a command may not fit the state of its session or of the engine.
bool may_not_fit(SessionCommandKind command) {
  switch (command) {
    case SessionCommandKind::set:
    case SessionCommandKind::reset:
    case SessionCommandKind::logon:
    case SessionCommandKind::enable:
    case SessionCommandKind::test_request:
    case SessionCommandKind::resend: return true;
    case SessionCommandKind::show:
    case SessionCommandKind::logout:
    case SessionCommandKind::disable:
    case SessionCommandKind::drop:
    case SessionCommandKind::hold:
    case SessionCommandKind::release:
    case SessionCommandKind::remove: break;
  }
  return false;
}

// By name.
std::vector<std::string_view> refusals_of(const Route& route) {
  using enum Resource;
  const bool has_role = route.role != Role::none;
  const bool is_command = route.resource == session;
  const bool sets_numbers = is_command && row_of(route.command).takes(CommandArguments::expected);
  const bool reads_journal = is_one_of(route.resource, {store, store_verify, store_tail});
  const bool reloads = is_one_of(route.resource, {plan_reload, reload, change_session});
  std::vector<std::string_view> names{"BadRequest"};
  const auto add = [&](bool when, std::string_view name) {
    if (when) names.push_back(name);
  };
  add(has_role, "TokenNeeded");
  add(true, has_role ? "Forbidden" : "WrongOrigin");
  add(route.of_session(), "NoSuchSession");
  add(!route.of_session() && route.query.empty(), "NoSuchPath");
  add(true, "WrongMethod");
  add(is_command && may_not_fit(route.command), "NotNow");
  add((is_command && !may_not_fit(route.command)) || route.resource == messages, "BeingRemoved");
  add(route.resource == add_session, "NotAdded");
  add(route.resource == change_session, "NotChanged");
  add(reloads && route.resource != change_session, "NotReloaded");
  add(reads_journal, "NoJournal");
  add(route.takes_etag(), "NumbersDiffer");
  add(true, "TooLarge");
  add(route.changes(), "NotJson");
  add(true, "WrongHost");
  add(is_command && row_of(route.command).takes(CommandArguments::from), "BadNumber");
  add(reloads || route.resource == add_session, "BadConfiguration");
  add(sets_numbers, "ExpectedNeeded");
  add(has_role, "TooManyRequests");
  add(true, "HeaderTooLarge");
  add(is_one_of(route.resource, {health, readiness}), "NotReady");
  add(route.changes() || route.for_worker() || is_command || route.resource == messages, "Unavailable");
  add(reloads || reads_journal || is_command || is_one_of(route.resource, {metrics, drain, end_drain, messages}),
      "TimedOut");
  return names;
}

}  // namespace

Json answer_headers() {
  Json all = all_headers();
  for (Json& each : all) each["required"] = true;
  return all;
}

Json refusal_responses() {
  Json all = Json::object();
  for (const Refusal& each : refusals()) all[each.name] = response_of(each);
  return all;
}

Json refusal_schemas() {
  Json all = Json::object();
  for (const Refusal& each : refusals()) all[schema_name(each)] = schema_of(each);
  return all;
}

Json responses_of(const Route& route) {
  Json all{{"200", response_of(route.resource, success_of(route))}};
  for (const std::string_view name : refusals_of(route)) {
    const auto row = std::ranges::find(refusals(), name, &Refusal::name);
    NFX_ASSERT(row != refusals().end());
    all[std::to_string(row->status)] = refer("responses", name);
  }
  return all;
}

}  // namespace nfx::control
