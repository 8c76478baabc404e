// The routes as an OpenAPI 3.1 document.
#include <nlohmann/json.hpp>

#include "control/api.hpp"
#include "control/openapi_schemas.hpp"
#include "nexusfix/base/enum_values.hpp"
#include "nexusfix/session/session.hpp"

namespace nfx::control {
namespace {

using Json = nlohmann::ordered_json;

Json text_of(std::string_view description) {
  return Json{{"type", "string"}, {"maxLength", 256}, {"description", description}};
}

Json number_of(std::string_view description) {
  return Json{{"type", "integer"},
              {"minimum", 1},
              {"maximum", value(Session::seq_num_limit) - 1},
              {"description", description}};
}

Json numbers_of(std::string_view of) {
  return Json{{"next_in", number_of("The next sequence number expected from the peer" + std::string{of})},
              {"next_out", number_of("The sequence number of the next message sent" + std::string{of})}};
}

Json object_of(Json properties) {
  return Json{{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}

Json object_with(const char* member, Json schema) {
  Json object = object_of({{member, std::move(schema)}});
  object["required"] = {member};
  return object;
}

// What the body of a command may have.
Json body_of(const SessionCommandRow& row) {
  Json properties = Json::object();
  if (row.takes(CommandArguments::numbers)) properties = numbers_of(".");
  if (row.takes(CommandArguments::from)) properties["from"] = number_of("The first message to be resent.");
  if (row.takes(CommandArguments::expected)) {
    properties["expected"] = object_of(numbers_of(", as the caller has seen it."));
    properties["expected"]["description"] = "Refused with 412 where they are others.";
  }
  if (row.takes(CommandArguments::text)) properties["text"] = text_of("Text(58) of the Logout.");
  Json body = object_of(std::move(properties));
  // Not as "anyOf": generators of clients would make classes of its parts.
  if (row.takes(CommandArguments::numbers)) body["minProperties"] = 1;
  if (row.takes(CommandArguments::from)) body["required"] = {"from"};
  return body;
}

// Null: the route takes no body.
Json body_of(const Route& route) {
  switch (route.resource) {
    case Resource::session: {
      const SessionCommandRow& row = row_of(route.command);
      return row.arguments == 0 ? Json{} : body_of(row);
    }
    case Resource::drain: return object_of({{"text", text_of("Text(58) of the Logouts.")}});
    case Resource::log_level: {
      std::vector<std::string_view> levels;
      for (const LogLevel each : enum_values(LogLevel::error)) levels.push_back(to_string(each));
      return object_with("level", {{"type", "string"}, {"enum", levels}});
    }
    case Resource::add_session:
    case Resource::change_session:
      return object_with(
          "config",
          {{"type", "string"},
           {"description", "One [[session]] in TOML, as in the configuration file; perhaps with [defaults]."}});
    case Resource::health:
    case Resource::readiness:
    case Resource::metrics:
    case Resource::engine:
    case Resource::threads:
    case Resource::placement:
    case Resource::latency:
    case Resource::slowest:
    case Resource::description:
    case Resource::stop:
    case Resource::end_drain:
    case Resource::reload_tls:
    case Resource::plan_reload:
    case Resource::reload:
    case Resource::sessions:
    case Resource::messages:
    case Resource::store:
    case Resource::store_verify:
    case Resource::store_tail: break;
  }
  return {};
}

Json parameter_of(const QueryParameter& parameter) {
  Json schema{{"type", parameter.number_max == 0 ? "string" : "integer"}};
  if (!parameter.one_of.empty()) schema["enum"] = parameter.one_of;
  if (parameter.number_max != 0) schema["minimum"] = 0;
  if (parameter.number_max != 0 && parameter.number_max != UINT64_MAX) schema["maximum"] = parameter.number_max;
  return Json{
      {"name", parameter.name}, {"in", "query"}, {"description", parameter.help}, {"schema", std::move(schema)}};
}

Json parameters_of(const Route& route) {
  Json parameters = Json::array();
  if (route.of_session()) {
    parameters.push_back({{"name", "session"},
                          {"in", "path"},
                          {"required", true},
                          {"description", "A name such as FIX.4.4:DESK->VENUE, percent-encoded, or a number."},
                          {"schema", {{"type", "string"}}}});
  }
  if (route.takes_etag()) {
    parameters.push_back({{"name", "If-Match"},
                          {"in", "header"},
                          {"description", "The ETag of the session as the caller has seen it, or * for any."},
                          {"schema", {{"type", "string"}}}});
  }
  for (const QueryParameter& each : route.query) parameters.push_back(parameter_of(each));
  return parameters;
}

// How a generated client groups what it calls.
std::string_view tag_of(const Route& route) {
  if (route.path.starts_with("/v1/sessions")) return "sessions";
  return route.path.starts_with("/v1/engine") ? "engine" : "monitoring";
}

Json operation_of(const Route& route) {
  Json operation{{"operationId", route.operation},
                 {"tags", {tag_of(route)}},
                 {"summary", route.summary},
                 {"x-role", to_string(route.role)}};
  if (route.role == Role::none) operation["security"] = Json::array();
  if (Json parameters = parameters_of(route); !parameters.empty()) operation["parameters"] = std::move(parameters);
  if (Json body = body_of(route); !body.is_null()) {
    const bool required = body.contains("required") || body.contains("minProperties");
    operation["requestBody"] = {{"required", required},
                                {"content", {{"application/json", {{"schema", std::move(body)}}}}}};
  }
  operation["responses"] = responses_of(route);
  return operation;
}

}  // namespace

std::string openapi() {
  Json paths = Json::object();
  for (const Route& route : routes()) {
    std::string method{route.method};
    for (char& c : method) c = static_cast<char>(c - 'A' + 'a');
    paths[route.path][method] = operation_of(route);
  }
  const Json schemes{
      {"token", {{"type", "http"}, {"scheme", "bearer"}, {"description", "Over HTTP without TLS."}}},
      {"certificate", {{"type", "mutualTLS"}, {"description", "Over HTTP with TLS, also for /healthz and /readyz."}}}};
  // The first is that of a document that an engine has served.
  const Json servers =
      Json::array({Json{{"url", "/"}, {"description", "The engine that this document is read from."}},
                   Json{{"url", "{scheme}://{address}"},
                        {"description", "As [control] http is configured; https where it has a certificate."},
                        {"variables",
                         {{"scheme", {{"enum", {"http", "https"}}, {"default", "http"}}},
                          {"address", {{"default", "127.0.0.1:9890"}, {"description", "[control] http"}}}}}}});
  const Json none = Json::array();
  Json schemas = document_schemas();
  schemas.update(refusal_schemas());
  const Json all{
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "NexusFIX control plane"},
        {"version", "1"},
        {"description",
         "See docs/control.md. Made from the table of routes; tests compare it with what a server answers. On the UNIX "
         "socket the caller is the user of the kernel. Every answer has Cache-Control: no-store."}}},
      {"servers", servers},
      {"paths", std::move(paths)},
      {"components",
       {{"securitySchemes", schemes},
        {"schemas", std::move(schemas)},
        {"headers", answer_headers()},
        {"responses", refusal_responses()}}},
      {"security", Json::array({Json{{"token", none}}, Json{{"certificate", none}}})}};
  return all.dump(2) + '\n';
}

}  // namespace nfx::control
