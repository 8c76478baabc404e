// What the control plane answers: one row for each method and path, with the role it needs and what it does. The API,
// its description in OpenAPI, the tests of roles and the documentation are made from these rows; those of sessions come
// from the engine's table of commands. Thread: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/access.hpp"
#include "nexusfix/engine/session_command.hpp"

namespace nfx::control {

enum class Resource : std::uint8_t {
  health,
  readiness,
  metrics,
  engine,
  threads,
  stop,
  drain,
  end_drain,
  reload_tls,
  sessions,
  session,  // a command of `command`
};

struct Route {
  std::string_view method;
  std::string path;  // "/v1/sessions/{session}/set"
  Role role{};
  Resource resource{};
  SessionCommandKind command{};  // of Resource::session
  std::string_view summary;
  [[nodiscard]] bool changes() const noexcept { return method != "GET"; }
};

[[nodiscard]] const std::vector<Route>& routes();

struct Match {
  const Route* route = nullptr;  // null: there is none
  bool other_method = false;     // ... but one with another method
  std::string session;           // what stands for {session}, decoded
};

// `target` is a request's: a path, and perhaps a query, which no route has.
[[nodiscard]] Match find_route(std::string_view method, std::string_view target);

// Empty: a '%' without two digits, or a zero byte.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace nfx::control
