// The routes as an OpenAPI 3.1 document.
#include <nlohmann/json.hpp>

#include "control/api.hpp"

namespace nfx::control {
namespace {

using Json = nlohmann::ordered_json;

Json text_of(std::string_view description) {
  return Json{{"type", "string"}, {"maxLength", 256}, {"description", description}};
}

Json number_of(std::string_view description) {
  return Json{{"type", "integer"}, {"minimum", 1}, {"description", description}};
}

Json numbers_of(std::string_view of) {
  return Json{{"next_in", number_of("The next sequence number expected from the peer" + std::string{of})},
              {"next_out", number_of("The sequence number of the next message sent" + std::string{of})}};
}

// What the body of a command may have.
Json body_of(const SessionCommandRow& row) {
  Json properties = Json::object();
  if (row.takes(CommandArguments::numbers)) properties = numbers_of(".");
  if (row.takes(CommandArguments::from)) properties["from"] = number_of("The first message to be resent.");
  if (row.takes(CommandArguments::expected)) {
    properties["expected"] = Json{{"type", "object"},
                                  {"description", "Refused with 412 where they are others."},
                                  {"additionalProperties", false},
                                  {"properties", numbers_of(", as the caller has seen it.")}};
  }
  if (row.takes(CommandArguments::text)) properties["text"] = text_of("Text(58) of the Logout.");
  return properties;
}

Json schema_body(Json properties) {
  return Json{
      {"required", false},
      {"content",
       {{"application/json",
         {{"schema", {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}}}}}}}};
}

Json answers_of(const Route& route) {
  Json answers{{"200", {{"description", "Done, or so already."}}}};
  const auto add = [&](const char* status, const char* description) {
    answers[status] = {
        {"description", description},
        {"content", {{"application/problem+json", {{"schema", {{"$ref", "#/components/schemas/Problem"}}}}}}}};
  };
  if (route.changes()) add("400", "A member of the body is unknown or has another type.");
  if (!route.query.empty()) add("400", "A parameter is unknown or has a value that it does not take.");
  if (route.role != Role::none) add("401", "No token, or an unknown one (HTTP).");
  if (route.role != Role::none) add("403", "The caller's role may not do this.");
  const bool configures = route.resource == Resource::add_session || route.resource == Resource::change_session ||
                          route.resource == Resource::plan_reload || route.resource == Resource::reload;
  if (configures) add("422", "The configuration is invalid: detail has its line, the key and what to write instead.");
  if (route.of_session()) add("404", "There is no such session.");
  const bool of_store = route.resource >= Resource::store;
  if (route.changes() || configures || of_store) add("409", "Not possible in the present state.");
  const bool conditional =
      route.resource == Resource::session && row_of(route.command).takes(CommandArguments::expected);
  if (conditional) add("412", "The sequence numbers are not the expected ones; nothing was changed.");
  if (conditional) add("422", "No such sequence number.");
  if (conditional) add("428", "Neither expected nor If-Match was given.");
  if (route.role != Role::none) add("429", "Too many requests of this caller.");
  add("503", "Busy, not ready, or the audit log or the message store cannot be written.");
  add("504", "A poll thread did not answer in time; what it had not begun is not carried out.");
  return answers;
}

Json parameter_of(const QueryParameter& parameter) {
  Json schema{{"type", parameter.number_max == 0 ? "string" : "integer"}};
  if (!parameter.one_of.empty()) schema["enum"] = parameter.one_of;
  if (parameter.number_max != 0) schema["minimum"] = 0;
  if (parameter.number_max != 0 && parameter.number_max != UINT64_MAX) schema["maximum"] = parameter.number_max;
  return Json{
      {"name", parameter.name}, {"in", "query"}, {"description", parameter.help}, {"schema", std::move(schema)}};
}

Json operation_of(const Route& route) {
  Json operation{{"summary", route.summary}, {"x-role", to_string(route.role)}};
  Json parameters = Json::array();
  if (route.of_session()) {
    parameters.push_back({{"name", "session"},
                          {"in", "path"},
                          {"required", true},
                          {"description", "A name such as FIX.4.4:DESK->VENUE, percent-encoded, or a number."},
                          {"schema", {{"type", "string"}}}});
  }
  if (route.resource == Resource::session) {
    const SessionCommandRow& row = row_of(route.command);
    if (row.takes(CommandArguments::expected)) {
      parameters.push_back({{"name", "If-Match"},
                            {"in", "header"},
                            {"description", "The ETag of the session as the caller has seen it, or * for any."},
                            {"schema", {{"type", "string"}}}});
    }
    if (row.arguments != 0) operation["requestBody"] = schema_body(body_of(row));
  }
  if (route.resource == Resource::drain)
    operation["requestBody"] = schema_body({{"text", text_of("Text(58) of the Logouts.")}});
  if (route.resource == Resource::log_level) {
    Json body = schema_body({{"level", {{"type", "string"}, {"enum", {"error", "warning", "notice", "info"}}}}});
    body["required"] = true;
    body["content"]["application/json"]["schema"]["required"] = Json::array({"level"});
    operation["requestBody"] = std::move(body);
  }
  if (route.resource == Resource::add_session || route.resource == Resource::change_session) {
    Json body = schema_body(
        {{"config",
          {{"type", "string"},
           {"description", "One [[session]] in TOML, as in the configuration file; perhaps with [defaults]."}}}});
    body["required"] = true;
    body["content"]["application/json"]["schema"]["required"] = Json::array({"config"});
    operation["requestBody"] = std::move(body);
  }
  for (const QueryParameter& each : route.query) parameters.push_back(parameter_of(each));
  if (!parameters.empty()) operation["parameters"] = std::move(parameters);
  operation["responses"] = answers_of(route);
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
  const Json problem{{"type", "object"},
                     {"required", {"type", "title", "status", "detail"}},
                     {"properties",
                      {{"type", {{"type", "string"}}},
                       {"title", {{"type", "string"}}},
                       {"status", {{"type", "integer"}}},
                       {"detail", {{"type", "string"}}},
                       {"session", {{"type", "object"}}}}}};
  const Json all{{"openapi", "3.1.0"},
                 {"info",
                  {{"title", "NexusFIX control plane"},
                   {"version", "1"},
                   {"description", "See docs/control.md. Made from the table of routes; a test compares them."}}},
                 {"paths", std::move(paths)},
                 {"components",
                  {{"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}},
                   {"schemas", {{"Problem", problem}}}}},
                 {"security", Json::array({Json{{"token", Json::array()}}})}};
  return all.dump(2) + '\n';
}

}  // namespace nfx::control
