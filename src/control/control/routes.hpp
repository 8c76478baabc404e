// What the control plane answers: one row for each method and path, with the role it needs, its parameters, what it
// does and what it answers. The API, its description in OpenAPI, the tests of roles and the documentation are made from
// these rows; those of sessions come from the engine's table of commands. routes_monitoring.cpp, routes_engine.cpp and
// routes_sessions.cpp have them: there a row with its function, and the members of a document that is new, are a route.
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
  std::string allow{};        // of 405
  bool try_again = false;     // in a second
  bool authenticate = false;  // of 401
};

// A problem document. `kind` ends its type: "urn:nexusfix:problem:no-such-session".
[[nodiscard]] Answer problem(unsigned status, std::string_view kind, std::string_view detail);

// What became of a change: its answer, and a line of the audit log.
struct Outcome {
  Answer answer;
  std::string_view event = "done";  // or "refused", "incomplete"
  std::string detail{};
};

// What a request leaves to another thread. It owns what it needs, and no two of an Api run at the same time.
struct Work {
  std::function<Answer()> run{};
  bool changes = false;
};
using AnswerOrWork = std::variant<Answer, Work>;

// What a request may state after '?'.
struct QueryParameter {
  std::string_view name;
  std::string_view help;
  std::uint64_t number_max = 0;  // it is a number up to this; 0: a text
  std::span<const std::string_view> one_of = {};
};
// The parameters of a query by name.
using Query = std::map<std::string, std::string, std::less<>>;

// Adds the schemas that it refers to where they lack.
using MakeSchema = std::function<nlohmann::ordered_json(nlohmann::ordered_json& schemas)>;

// An answer with 200: its document, and other types of content that it may have instead.
struct Success {
  std::string_view help;
  MakeSchema schema{};  // empty: it is never JSON
  bool has_etag = false;
  std::vector<std::string_view> texts{};
};

class Api;
struct Call;
using Handler = AnswerOrWork (*)(Api& api, const Call& call);

// Further columns, which most routes do not have.
struct RouteOptions {
  std::span<const QueryParameter> query = {};
  MakeSchema body{};  // empty: it takes none
  std::string body_example{};
  std::vector<std::string_view> refusals{};  // beyond those of all routes of its kind: names in openapi.cpp
  // Left to the worker's thread: it reads files of any size, or is in order with what adds and replaces sessions.
  bool on_worker = false;
  std::string_view reads{};                    // "messages": the audit log has who begins to read them of a session
  const SessionCommandRow* command = nullptr;  // it is this command
};

struct Route : RouteOptions {
  std::string_view method;
  std::string path;       // "/v1/sessions/{session}/set"
  std::string operation;  // its name in the description, which clients are generated from
  Role role{};
  std::string_view summary;
  Success success;
  Handler handler{};

  [[nodiscard]] bool changes() const noexcept { return method != "GET"; }
  // Who requests it is written to the audit log: what changes something, shows messages, or reads much.
  [[nodiscard]] bool audited() const noexcept { return role == Role::operator_; }
  [[nodiscard]] bool of_session() const noexcept { return path.contains("{session}"); }
  // It changes a session, and an If-Match with the session's ETag has an effect.
  [[nodiscard]] bool takes_etag() const noexcept { return changes() && of_session(); }
};

[[nodiscard]] Route route(std::string_view method, std::string path, std::string operation, Role role,
                          std::string_view summary, Success success, Handler handler, RouteOptions options = {});

[[nodiscard]] std::vector<Route> monitoring_routes();
[[nodiscard]] std::vector<Route> engine_routes();
[[nodiscard]] std::vector<Route> session_routes();
[[nodiscard]] const std::vector<Route>& routes();  // all of them

// What a handler gets: a request of a caller who may send it, with a query that the route takes.
struct Call {
  const Route& route;
  const Request& request;
  const std::string& session;  // what stands for {session}, decoded
  const Query& query;

  [[nodiscard]] std::uint64_t number(std::string_view name, std::uint64_t otherwise) const;
};

struct Match {
  const Route* route = nullptr;  // null: there is none
  std::string other_methods{};   // ... but with these: "GET, POST"
  std::string session{};         // what stands for {session}, decoded
  std::string_view query{};      // of the target, as it is
};

// `target` is a request's: a path, and a query where the route takes one.
[[nodiscard]] Match find_route(std::string_view method, std::string_view target);

// An error names the parameter that the route does not take, or its value.
[[nodiscard]] std::expected<Query, std::string> query_of(const Route& route, std::string_view query);

// A number of digits alone.
[[nodiscard]] std::optional<std::uint64_t> number_in(std::string_view text) noexcept;

// Empty: a '%' without two digits, or a zero byte.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);
[[nodiscard]] std::string percent_encoded(std::string_view text);

// The routes as an OpenAPI 3.1 document.
[[nodiscard]] std::string openapi();

}  // namespace nfx::control
