// The routes of the control plane: one row for each method and path, with its role, parameters, action and answers. The
// API, its OpenAPI description, the tests of roles and the documentation are made from these rows; rows of session
// commands come from the engine's table of commands. The rows are in routes_monitoring.cpp, routes_engine.cpp and
// routes_sessions.cpp. To add a route, add a row with its function there, and the members of any new document.
// Thread: values; handlers run on the control plane's thread, and Work on another.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "control/access.hpp"
#include "engine/session_command.hpp"

namespace nfx::control {

struct Request {
  std::string_view method;
  std::string_view target;
  std::string_view if_match{};
  std::string_view content_type{};
  std::string_view accept{};
  std::string_view body{};
  Caller caller{};
};

struct Answer {
  unsigned status = 200;
  std::string type = "application/json";
  std::string body{};
  std::string etag{};
  std::string allow{};        // for 405
  bool try_again = false;     // in a second
  bool authenticate = false;  // for 401
};

// A problem document. `kind` ends its type: "urn:nexusfix:problem:no-such-session".
[[nodiscard]] Answer problem(unsigned status, std::string_view kind, std::string_view detail);

// The result of a change: its answer, and a line for the audit log.
struct Outcome {
  Answer answer;
  std::string_view event = "done";  // or "refused", "incomplete"
  std::string detail{};
};

// Work of a request for another thread. It owns its data, and works of an Api never run at the same time.
struct Work {
  std::function<Answer()> run{};
  bool changes = false;
};
using AnswerOrWork = std::variant<Answer, Work>;

// A parameter of a request after '?'.
struct QueryParameter {
  std::string_view name;
  std::string_view help;
  std::uint64_t number_max = 0;  // maximum of a number; 0: it is a text
  std::span<const std::string_view> one_of = {};
};
// The parameters of a query by name.
using Query = std::map<std::string, std::string, std::less<>>;

// Creates a schema, and adds the schemas that it refers to if they are missing.
using MakeSchema = std::function<nlohmann::ordered_json(nlohmann::ordered_json& schemas)>;

// An answer with 200: its document, and other content types that it may have instead.
struct Success {
  std::string_view help;
  MakeSchema schema{};  // empty: never JSON
  bool has_etag = false;
  std::vector<std::string_view> texts{};
};

class Api;
struct Call;
using Handler = AnswerOrWork (*)(Api& api, const Call& call);

// Further columns, which most routes do not need.
struct RouteOptions {
  std::span<const QueryParameter> query = {};
  MakeSchema body{};  // empty: it takes none
  std::string body_example{};
  std::vector<std::string_view> refusals{};  // in addition to the refusals of all such routes; names as in openapi.cpp
  // Runs on the worker's thread, because it reads files of any size, or must be ordered with adding and replacing
  // sessions.
  bool on_worker = false;
  std::string_view reads{};                    // "messages": the audit log records who starts to read messages
  const SessionCommandRow* command = nullptr;  // the command, for a route of one
};

struct Route : RouteOptions {
  std::string_view method;
  std::string path;       // "/v1/sessions/{session}/set"
  std::string operation;  // its name in the description, from which clients are generated
  Role role{};
  std::string_view summary;
  Success success;
  Handler handler{};

  [[nodiscard]] bool changes() const noexcept { return method != "GET"; }
  // Whether requests are written to the audit log: they change something, show messages, or read much.
  [[nodiscard]] bool audited() const noexcept { return role == Role::operator_; }
  [[nodiscard]] bool of_session() const noexcept { return path.contains("{session}"); }
  // Whether it changes a session, so that If-Match with the session's ETag takes effect.
  [[nodiscard]] bool takes_etag() const noexcept { return changes() && of_session(); }
};

[[nodiscard]] Route route(std::string_view method, std::string path, std::string operation, Role role,
                          std::string_view summary, Success success, Handler handler, RouteOptions options = {});

[[nodiscard]] std::vector<Route> monitoring_routes();
[[nodiscard]] std::vector<Route> engine_routes();
[[nodiscard]] std::vector<Route> session_routes();
[[nodiscard]] const std::vector<Route>& routes();  // all routes

// The argument of a handler: a permitted request with a query that the route takes.
struct Call {
  const Route& route;
  const Request& request;
  const std::string& session;  // the decoded value of {session}
  const Query& query;

  [[nodiscard]] std::uint64_t number(std::string_view name, std::uint64_t otherwise) const;
};

struct Match {
  const Route* route = nullptr;  // null: none
  std::string other_methods{};   // ... but the path has these methods: "GET, POST"
  std::string session{};         // the decoded value of {session}
  std::string_view query{};      // from the target, not decoded
};

// `target` is a request's target: a path, and a query if the route takes one.
[[nodiscard]] Match find_route(std::string_view method, std::string_view target);

// An error names the parameter, or value, that the route does not take.
[[nodiscard]] std::expected<Query, std::string> query_of(const Route& route, std::string_view query);

// A number that consists of digits only.
[[nodiscard]] std::optional<std::uint64_t> number_in(std::string_view text) noexcept;

// Empty for a '%' without two digits, or a zero byte.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);
[[nodiscard]] std::string percent_encoded(std::string_view text);

// The routes as an OpenAPI 3.1 document.
[[nodiscard]] std::string openapi();

}  // namespace nfx::control
