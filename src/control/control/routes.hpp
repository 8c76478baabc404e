// What the control plane answers: one row for each method and path, with the role it needs and what it does. The API,
// its description in OpenAPI, the tests of roles and the documentation are made from these rows; those of sessions come
// from the engine's table of commands. Thread: values.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/access.hpp"
#include "engine/session_command.hpp"

namespace nfx::control {

enum class Resource : std::uint8_t {
  health,
  readiness,
  metrics,
  engine,
  threads,
  placement,
  latency,
  slowest,
  description,  // of these routes, in OpenAPI
  stop,
  drain,
  end_drain,
  reload_tls,
  plan_reload,
  reload,
  log_level,
  sessions,
  add_session,
  session,         // from here on of one session: a command of `command`
  change_session,  // its settings
  messages,        // of a session
  store,           // its journal, and what is in it
  store_verify,
  store_tail,
};

// What a request may state after '?'.
struct QueryParameter {
  std::string_view name;
  std::string_view help;
  std::uint64_t number_max = 0;  // it is a number up to this; 0: a text
  std::span<const std::string_view> one_of = {};
};

struct Route {
  std::string_view method;
  std::string path;  // "/v1/sessions/{session}/set"
  Role role{};
  Resource resource{};
  SessionCommandKind command{};  // of Resource::session
  std::string operation;         // its name in the description, which clients are generated from
  std::string_view summary;
  std::span<const QueryParameter> query = {};
  [[nodiscard]] bool changes() const noexcept { return method != "GET"; }
  // Who requests it is written to the audit log: what changes something, shows messages, or reads much.
  [[nodiscard]] bool audited() const noexcept { return role == Role::operator_; }
  [[nodiscard]] bool of_session() const noexcept { return resource >= Resource::session; }
  // It changes a session, and an If-Match with the session's ETag has an effect.
  [[nodiscard]] bool takes_etag() const noexcept {
    return changes() && (resource == Resource::session || resource == Resource::change_session);
  }
  // It is left to the worker's thread: it reads files of any size, or is in order with
  // what adds and replaces sessions.
  [[nodiscard]] bool for_worker() const noexcept;
};

[[nodiscard]] const std::vector<Route>& routes();

struct Match {
  const Route* route = nullptr;  // null: there is none
  std::string other_methods{};   // ... but with these: "GET, POST"
  std::string session{};         // what stands for {session}, decoded
  std::string_view query{};      // of the target, as it is
};

// `target` is a request's: a path, and a query where the route takes one.
[[nodiscard]] Match find_route(std::string_view method, std::string_view target);

// The parameters of a query by name. An error names the one that the route does not take, or its value.
using Query = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] std::expected<Query, std::string> query_of(const Route& route, std::string_view query);

// A number of digits alone.
[[nodiscard]] std::optional<std::uint64_t> number_in(std::string_view text) noexcept;

// Empty: a '%' without two digits, or a zero byte.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace nfx::control
