// The table of routes, and the route of a request.
#include "control/routes.hpp"

namespace nfx::control {
namespace {

constexpr std::string_view session_prefix = "/v1/sessions/";
constexpr std::size_t longest_target = 2048;

int digit_of(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::vector<Route> all_routes() {
  const auto own = [](std::string_view method, std::string path, Role role, Resource resource,
                      std::string_view summary) {
    return Route{.method = method, .path = std::move(path), .role = role, .resource = resource, .summary = summary};
  };
  std::vector<Route> all{
      own("GET", "/healthz", Role::none, Resource::health, "Whether all poll threads answer."),
      own("GET", "/readyz", Role::none, Resource::readiness,
          "Whether the engine takes Logons: not while it drains or stops."),
      own("GET", "/metrics", Role::viewer, Resource::metrics, "All metrics, in the OpenMetrics text format."),
      own("GET", "/v1/engine", Role::viewer, Resource::engine, "The engine: version, process, threads, state."),
      own("GET", "/v1/threads", Role::viewer, Resource::threads,
          "Where the threads run and should run, and how the kernel has run them. Empty without [placement]."),
      own("POST", "/v1/engine/stop", Role::operator_, Resource::stop,
          "Logs all sessions out and ends the engine, as SIGTERM does."),
      own("POST", "/v1/engine/drain", Role::operator_, Resource::drain,
          "Logs all sessions out and takes no Logon until end-drain. The process continues."),
      own("POST", "/v1/engine/end-drain", Role::operator_, Resource::end_drain,
          "Takes Logons again, and enables the sessions that drain has disabled."),
      own("POST", "/v1/engine/reload-tls", Role::operator_, Resource::reload_tls,
          "Reloads certificates, keys and revocation lists, as SIGHUP does."),
      own("GET", "/v1/sessions", Role::viewer, Resource::sessions, "All sessions."),
  };
  for (const SessionCommandRow& row : session_command_rows) {
    std::string path = std::string{session_prefix} + "{session}";
    if (!row.only_reads) path.append("/").append(row.name);
    all.push_back({.method = row.only_reads ? "GET" : "POST",
                   .path = std::move(path),
                   .role = row.only_reads ? Role::viewer : Role::operator_,
                   .resource = Resource::session,
                   .command = row.kind,
                   .summary = row.help});
  }
  return all;
}

// Whether `path` is this route's; `session` is what stands for {session}.
bool is_path_of(const Route& route, std::string_view path, std::string_view& session) noexcept {
  if (route.resource != Resource::session) return route.path == path;
  if (!path.starts_with(session_prefix)) return false;
  path.remove_prefix(session_prefix.size());
  const std::size_t slash = path.find('/');
  session = path.substr(0, slash);
  const std::string_view rest = slash == std::string_view::npos ? std::string_view{} : path.substr(slash);
  const std::string_view wanted = std::string_view{route.path}.substr(session_prefix.size() + sizeof "{session}" - 1);
  return !session.empty() && rest == wanted;
}

}  // namespace

const std::vector<Route>& routes() {
  static const std::vector<Route> table = all_routes();
  return table;
}

Match find_route(std::string_view method, std::string_view target) {
  Match match;
  if (target.size() > longest_target) return match;
  for (const Route& route : routes()) {
    std::string_view session;
    if (!is_path_of(route, target, session)) continue;
    if (route.method != method) {
      match.other_method = true;
      continue;
    }
    const auto decoded = percent_decoded(session);
    if (!decoded) return {};
    return {.route = &route, .session = *decoded};
  }
  return match;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? digit_of(text[i + 1]) : -1;
    const int low = high < 0 ? -1 : digit_of(text[i + 2]);
    if (low < 0 || (high == 0 && low == 0)) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    const auto byte = static_cast<unsigned char>(c);
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  return out;
}

}  // namespace nfx::control
