// Writes the routes as an OpenAPI 3.1 document, with parameters, body and answers of each, and a row for each refusal.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ranges>

#include "control/documents.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx::control {
namespace {

struct Refusal {
  std::string_view name;
  unsigned status;
  std::string_view help;
  std::string_view kinds;  // the ends of its type URNs
  bool perhaps_etag = false;
};

constexpr auto refusals = std::to_array<Refusal>({
    {"BadRequest", 400, "This is not an HTTP request, or a parameter or a member of the body is unknown or wrong.",
     "bad-request"},
    {"TokenNeeded", 401, "No token, or an unknown one. Over HTTP.", "token-needed"},
    {"Forbidden", 403, "The caller's role may not do this; or, over HTTP, the Origin is another site.",
     "forbidden wrong-origin"},
    {"WrongOrigin", 403, "The Origin is another site. Over HTTP.", "wrong-origin"},
    {"NoSuchPath", 404, "There is no such path, for example as it has a query and takes none.", "no-such-path"},
    {"NoSuchSession", 404, "There is no such session, or no such path.", "no-such-session no-such-path"},
    {"WrongMethod", 405, "The path has other methods.", "method-not-allowed"},
    {"NotNow", 409, "Not in the present state of the session or the engine.",
     "would-end-session not-logged-on not-now not-possible being-removed stopping", true},
    {"BeingRemoved", 409, "The session is being removed: it logs out, and then there is no such session.",
     "being-removed", true},
    {"NotAdded", 409, "There is such a session, also one that is being removed; or the engine stops or drains.",
     "session-exists being-removed stopping"},
    {"NotChanged", 409, "The session is being removed, or the engine stops or drains.", "being-removed stopping", true},
    {"NotReloaded", 409, "The configuration has no file, or the engine stops or drains.", "no-file stopping"},
    {"NoJournal", 409, "The session's store is memory, or the session is being removed.", "no-journal being-removed"},
    {"NumbersDiffer", 412,
     "The sequence numbers are not the expected ones, or the settings have changed; nothing was changed.",
     "numbers-differ settings-differ", true},
    {"TooLarge", 413, "The body is larger than 16 KiB.", "too-large"},
    {"NotJson", 415, "There is a body, and Content-Type is not application/json.", "not-json"},
    {"WrongHost", 421, "The Host is not this address. Over HTTP.", "wrong-host"},
    {"BadNumber", 422, "There is no such message to be resent.", "bad-number", true},
    {"BadConfiguration", 422, "The configuration is invalid: detail has its line, the key and what to write instead.",
     "bad-configuration"},
    {"ExpectedNeeded", 428, "Neither expected nor If-Match was given.", "expected-needed"},
    {"TooManyRequests", 429, "More than 200 requests per second of this user; or, of a plan of a reload, one of all.",
     "too-many-requests"},
    {"HeaderTooLarge", 431, "Request line and headers are larger than 8 KiB, or more than 64.", "header-too-large"},
    {"NotReady", 503, "A poll thread does not answer, or the engine drains or stops.", "not-answering not-ready"},
    {"Unavailable", 503, "Too many requests wait, or the audit log or a journal cannot be written or read.",
     "busy no-audit store-refuses store-unreadable", true},
    {"TimedOut", 504, "A poll thread did not answer in time; requests that it had not begun are not carried out.",
     "timed-out", true},
});

// The names of a route's refusals.
std::vector<std::string_view> refusals_of(const Route& route) {
  std::vector<std::string_view> names{"BadRequest", "WrongMethod", "TooLarge", "WrongHost", "HeaderTooLarge"};
  const auto add = [&names](bool when, std::initializer_list<std::string_view> more) {
    if (when) names.insert(names.end(), more);
  };
  add(route.role == Role::none, {"WrongOrigin"});
  add(route.role != Role::none, {"TokenNeeded", "Forbidden", "TooManyRequests"});
  add(route.of_session(), {"NoSuchSession", "TimedOut"});
  add(!route.of_session() && route.query.empty(), {"NoSuchPath"});
  add(route.takes_etag(), {"NumbersDiffer"});
  add(route.changes(), {"NotJson"});
  add(route.changes() || route.on_worker || route.of_session(), {"Unavailable"});
  names.insert(names.end(), route.refusals.begin(), route.refusals.end());
  return names;
}

// Everything except the paths, their schemas and their refusals. The first server is the one used in a document served
// by an engine.
constexpr const char* frame = R"({
  "openapi": "3.1.0",
  "info": {"title": "NexusFIX control plane", "version": "1", "description":
    "See docs/control.md. Made from the table of routes; tests compare it with what a server answers. On the UNIX socket the caller is the user of the kernel. Every answer has Cache-Control: no-store."},
  "servers": [
    {"url": "/", "description": "The engine that this document is read from."},
    {"url": "{scheme}://{address}", "description": "As configured in [control] http; https if it has a certificate.",
     "variables": {"scheme": {"enum": ["http", "https"], "default": "http"},
                   "address": {"default": "127.0.0.1:9890", "description": "[control] http"}}}],
  "paths": {},
  "components": {
    "securitySchemes": {
      "token": {"type": "http", "scheme": "bearer", "description": "Over HTTP without TLS."},
      "certificate": {"type": "mutualTLS", "description": "Over HTTP with TLS, also for /healthz and /readyz."}},
    "headers": {
      "ETag": {"description":
        "Of the session: its number, next_in, next_out, and how often its settings have changed. For If-Match.",
        "schema": {"type": "string", "pattern": "^\"[0-9]+\\.[0-9]+\\.[0-9]+\\.[0-9]+\"$"}, "required": true},
      "Allow": {"description": "The methods of this path.",
        "schema": {"type": "string", "pattern": "^[A-Z]+(, [A-Z]+)*$"}, "required": true},
      "Retry-After": {"description": "In seconds.", "schema": {"type": "string", "pattern": "^[0-9]+$"}, "required": true},
      "WWW-Authenticate": {"description": "What to send.",
        "schema": {"type": "string", "pattern": "^Bearer realm="}, "required": true}}},
  "security": [{"token": []}, {"certificate": []}]})";

Json ref(std::string_view kind, std::string_view name) {
  return {{"$ref", "#/components/" + std::string{kind} + '/' + std::string{name}}};
}

// Adds the response, and the schema of its document.
void add(const Refusal& row, Json& components) {
  Json types = Json::array();
  for (const auto kind : std::views::split(row.kinds, ' '))
    types.push_back("urn:nexusfix:problem:" + std::string{std::string_view{kind}});
  // Without "const" for the status, because client generators cannot narrow a type by it.
  const Json status{{"type", "integer"}, {"enum", {row.status}}};
  const Json type{{"type", "string"}, {"enum", std::move(types)}};
  const std::string name{row.name}, schema = name + "Problem";
  Json problem = schema_of<Problem>(components["schemas"]);
  components["schemas"][schema] = {
      {"allOf", {std::move(problem), Json{{"properties", {{"type", type}, {"status", status}}}}}}};
  Json response{{"description", row.help}};
  const auto add_header = [&](bool when, const char* header) {
    if (when) response["headers"][header] = ref("headers", header);
  };
  add_header(row.status == 401, "WWW-Authenticate");
  add_header(row.status == 405, "Allow");
  add_header(passes(row.status), "Retry-After");
  if (row.perhaps_etag) {
    response["headers"]["ETag"] = components["headers"]["ETag"];
    response["headers"]["ETag"].erase("required");
  }
  response["content"]["application/problem+json"]["schema"] = ref("schemas", schema);
  components["responses"][name] = std::move(response);
}

Json parameters_of(const Route& route) {
  Json all = Json::array();
  const auto add = [&all](std::string_view name, std::string_view in, std::string_view help, Json schema) {
    all.push_back(
        {{"name", name}, {"in", in}, {"required", in == "path"}, {"description", help}, {"schema", std::move(schema)}});
  };
  if (route.of_session())
    add("session", "path", "A name such as FIX.4.4:DESK->VENUE, percent-encoded, or a number.", text_schema());
  if (route.takes_etag())
    add("If-Match", "header", "The ETag of the session as the caller has seen it, or * for any.", text_schema());
  for (const QueryParameter& each : route.query) {
    Json schema = each.number_max == 0 ? text_schema() : count_schema();
    if (!each.one_of.empty()) schema["enum"] = each.one_of;
    if (each.one_of.empty() && each.number_max == 0) schema["pattern"] = "^[^\\u0000]*$";
    if (each.number_max != 0 && each.number_max != UINT64_MAX) schema["maximum"] = each.number_max;
    add(each.name, "query", each.help, std::move(schema));
  }
  return all;
}

// The group of an operation in a generated client.
std::string_view tag_of(const Route& route) {
  if (route.path.starts_with("/v1/sessions")) return "sessions";
  return route.path.starts_with("/v1/engine") ? "engine" : "monitoring";
}

Json operation_of(const Route& route, Json& schemas) {
  Json operation{{"operationId", route.operation},
                 {"tags", {tag_of(route)}},
                 {"summary", route.summary},
                 {"x-role", to_string(route.role)}};
  if (route.role == Role::none) operation["security"] = Json::array();
  if (Json parameters = parameters_of(route); !parameters.empty()) operation["parameters"] = std::move(parameters);
  if (route.body) {
    Json body = route.body(schemas);
    operation["requestBody"]["required"] = body.contains("required") || body.contains("minProperties");
    Json& content = operation["requestBody"]["content"]["application/json"];
    content["schema"] = std::move(body);
    if (!route.body_example.empty()) content["example"] = Json::parse(route.body_example);
  }
  Json& success = operation["responses"]["200"];
  success["description"] = route.success.help;
  if (route.success.has_etag) success["headers"]["ETag"] = ref("headers", "ETag");
  if (route.success.schema) success["content"]["application/json"]["schema"] = route.success.schema(schemas);
  for (const std::string_view type : route.success.texts) success["content"][type]["schema"] = text_schema();
  for (const std::string_view name : refusals_of(route)) {
    const auto row = std::ranges::find(refusals, name, &Refusal::name);
    NFX_ASSERT(row != refusals.end());
    operation["responses"][std::to_string(row->status)] = ref("responses", name);
  }
  return operation;
}

}  // namespace

std::string openapi() {
  Json all = Json::parse(frame);
  Json& components = all["components"];
  for (const Route& route : routes())
    all["paths"][route.path][route.changes() ? "post" : "get"] = operation_of(route, components["schemas"]);
  for (const Refusal& each : refusals) add(each, components);
  return all.dump(2) + '\n';
}

}  // namespace nfx::control
