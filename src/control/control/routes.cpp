// The table of routes, and the route of a request.
#include "control/routes.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "control/store_view.hpp"
#include "engine/recent_messages.hpp"
#include "nexusfix/engine/latency.hpp"

namespace nfx::control {
namespace {

constexpr std::string_view session_prefix = "/v1/sessions/";
constexpr std::string_view session_part = "{session}";
constexpr std::size_t longest_target = 2048;

const auto windows = [] {
  std::array<std::string_view, timed_window_count + 1> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = to_string(static_cast<LatencyWindow>(i));
  return names;
}();
constexpr std::array<std::string_view, 2> formats{"json", "hdr"};
const std::array latency_query{
    QueryParameter{"window", "The last complete window of this length; 10s where it is not given.", 0, windows},
    QueryParameter{"session", "Only the session of this name."},
    QueryParameter{"format", "hdr: all counts, in HdrHistogram's log format.", 0, formats}};
const std::array verify_query{QueryParameter{
    "from", "The position to begin at: 0, or \"to\" of the answer before. 0 where it is not given.", UINT64_MAX}};
const std::array tail_query{QueryParameter{"limit", "At most so many; 10 where it is not given.", most_tail_messages}};
const std::array messages_query{
    QueryParameter{"after", "Only messages after the one of this number.", UINT64_MAX},
    QueryParameter{"limit", "At most so many, the latest; 64 where it is not given.", RecentMessages::most_messages}};

int digit_of(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// "test_request_session"
std::string operation_of(const SessionCommandRow& row) {
  std::string name{row.name};
  std::ranges::replace(name, '-', '_');
  return name + "_session";
}

std::vector<Route> all_routes() {
  const auto own = [](std::string_view method, std::string path, Role role, Resource resource,
                      std::string_view operation, std::string_view summary) {
    return Route{.method = method,
                 .path = std::move(path),
                 .role = role,
                 .resource = resource,
                 .operation = std::string{operation},
                 .summary = summary};
  };
  std::vector<Route> all{
      own("GET", "/healthz", Role::none, Resource::health, "is_alive", "Whether all poll threads answer."),
      own("GET", "/readyz", Role::none, Resource::readiness, "is_ready",
          "Whether the engine takes Logons: not while it drains or stops."),
      own("GET", "/metrics", Role::viewer, Resource::metrics, "get_metrics",
          "All metrics, in the OpenMetrics text format."),
      own("GET", "/v1/engine", Role::viewer, Resource::engine, "get_engine",
          "The engine: version, process, threads, state."),
      own("GET", "/v1/threads", Role::viewer, Resource::threads, "get_threads",
          "Where the threads run and, with [placement], should run, and how the kernel has run each thread of the "
          "process."),
      own("GET", "/v1/placement", Role::viewer, Resource::placement, "get_placement",
          "Whether the threads of the process run as planned by [placement]; what differs, a sentence each."),
      own("GET", "/v1/latency", Role::viewer, Resource::latency, "get_latency",
          "Percentiles of the latencies of sessions and poll threads, by stage."),
      own("GET", "/v1/slowest", Role::viewer, Resource::slowest, "get_slowest",
          "The slowest hundred moments of a window, slowest first, each with its cause."),
      own("GET", "/v1/openapi.json", Role::viewer, Resource::description, "get_description",
          "This description of the API, in OpenAPI 3.1: what clients are generated from."),
      own("POST", "/v1/engine/stop", Role::operator_, Resource::stop, "stop_engine",
          "Logs all sessions out and ends the engine, as SIGTERM does."),
      own("POST", "/v1/engine/drain", Role::operator_, Resource::drain, "drain_engine",
          "Logs all sessions out and takes no Logon until end-drain. The process continues."),
      own("POST", "/v1/engine/end-drain", Role::operator_, Resource::end_drain, "end_drain",
          "Takes Logons again, and enables the sessions that drain has disabled."),
      own("POST", "/v1/engine/reload-tls", Role::operator_, Resource::reload_tls, "reload_tls",
          "Reloads certificates, keys, revocation lists and who may use HTTP, as SIGHUP does."),
      own("GET", "/v1/engine/reload", Role::operator_, Resource::plan_reload, "plan_reload",
          "What a reload of the configuration would change: sessions and keys, with lines and old and new values, and "
          "what each needs."),
      own("POST", "/v1/engine/reload", Role::operator_, Resource::reload, "reload",
          "Reloads the configuration: adds, removes and changes sessions. What needs a disconnect or a restart is "
          "listed, and stays as it is."),
      own("POST", "/v1/engine/log-level", Role::operator_, Resource::log_level, "set_log_level",
          "Sets the least level of the lines that the program prints, until the next start."),
      own("GET", "/v1/sessions", Role::viewer, Resource::sessions, "list_sessions", "All sessions."),
      own("POST", "/v1/sessions", Role::operator_, Resource::add_session, "add_session",
          "Adds a session: one [[session]] as in the configuration file, checked as there. Until the next start."),
  };
  for (const SessionCommandRow& row : session_command_rows) {
    std::string path = std::string{session_prefix} + "{session}";
    if (!row.only_reads) path.append("/").append(row.name);
    all.push_back({.method = row.only_reads ? "GET" : "POST",
                   .path = std::move(path),
                   .role = row.only_reads ? Role::viewer : Role::operator_,
                   .resource = Resource::session,
                   .command = row.kind,
                   .operation = operation_of(row),
                   .summary = row.help});
  }
  const auto of_session = [&](std::string_view method, std::string_view rest, Role role, Resource resource,
                              std::string_view operation, std::string_view summary) {
    all.push_back(
        own(method, std::string{session_prefix}.append(session_part).append(rest), role, resource, operation, summary));
  };
  of_session("POST", "/change", Role::operator_, Resource::change_session, "change_session",
             "Gives the session the settings of one [[session]] as in the configuration file, checked as there. Until "
             "the next start.");
  of_session("GET", "/messages", Role::operator_, Resource::messages, "get_messages",
             "The session's last messages in both directions, copied from the first request on until 10 seconds after "
             "the last one. Secrets are masked.");
  of_session("GET", "/store", Role::viewer, Resource::store, "get_store",
             "The session's journal: folder, durability, messages, files, counters.");
  of_session("GET", "/store/verify", Role::operator_, Resource::store_verify, "verify_store",
             "Reads a part of the journal's files and checks every checksum, message and sequence number: one segment, "
             "and further ones up to 16 MiB. Repeat with from until it is complete.");
  of_session("GET", "/store/tail", Role::operator_, Resource::store_tail, "get_store_tail",
             "The last messages in the journal's files, of the last 4 MiB: those that were sent. Secrets are masked.");
  for (Route& each : all) {
    if (each.resource == Resource::latency) each.query = latency_query;
    if (each.resource == Resource::slowest) each.query = std::span{latency_query}.first(2);
    if (each.resource == Resource::messages) each.query = messages_query;
    if (each.resource == Resource::store_verify) each.query = verify_query;
    if (each.resource == Resource::store_tail) each.query = tail_query;
  }
  return all;
}

// Whether `path` is this route's; `session` is what stands for {session}.
bool is_path_of(const Route& route, std::string_view path, std::string_view& session) noexcept {
  if (!route.of_session()) return route.path == path;
  if (!path.starts_with(session_prefix)) return false;
  path.remove_prefix(session_prefix.size());
  const std::size_t slash = path.find('/');
  session = path.substr(0, slash);
  const std::string_view rest = slash == std::string_view::npos ? std::string_view{} : path.substr(slash);
  const std::string_view wanted = std::string_view{route.path}.substr(session_prefix.size() + session_part.size());
  return !session.empty() && rest == wanted;
}

}  // namespace

bool Route::for_worker() const noexcept {
  switch (resource) {
    case Resource::drain:
    case Resource::end_drain:
    case Resource::reload_tls:
    case Resource::plan_reload:
    case Resource::reload:
    case Resource::add_session:
    case Resource::change_session:
    case Resource::store:
    case Resource::store_verify:
    case Resource::store_tail: return true;
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
    case Resource::log_level:
    case Resource::sessions:
    case Resource::session:
    case Resource::messages: break;
  }
  return false;
}

const std::vector<Route>& routes() {
  static const std::vector<Route> table = all_routes();
  return table;
}

Match find_route(std::string_view method, std::string_view target) {
  Match match;
  if (target.size() > longest_target) return match;
  const std::size_t mark = target.find('?');
  const std::string_view path = target.substr(0, mark);
  for (const Route& route : routes()) {
    std::string_view session;
    if (!is_path_of(route, route.query.empty() ? target : path, session)) continue;
    if (route.method != method) {
      match.other_methods.append(match.other_methods.empty() ? "" : ", ").append(route.method);
      continue;
    }
    const auto decoded = percent_decoded(session);
    if (!decoded) return {};
    Match found{.route = &route, .session = *decoded};
    if (!route.query.empty() && mark != std::string_view::npos) found.query = target.substr(mark + 1);
    return found;
  }
  return match;
}

std::expected<Query, std::string> query_of(const Route& route, std::string_view query) {
  Query all;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    const std::string name{part.substr(0, equals)};
    const auto parameter = std::ranges::find(route.query, name, &QueryParameter::name);
    if (parameter == route.query.end()) return std::unexpected("there is no parameter \"" + name + '"');
    const auto text = percent_decoded(equals == std::string_view::npos ? std::string_view{} : part.substr(equals + 1));
    if (!text) return std::unexpected(name + ": expected two hexadecimal digits after each %");
    if (parameter->number_max != 0) {
      const auto number = number_in(*text);
      if (!number || *number > parameter->number_max)
        return std::unexpected(name + ": expected a number, at most " + std::to_string(parameter->number_max));
    }
    if (!parameter->one_of.empty() && std::ranges::find(parameter->one_of, *text) == parameter->one_of.end()) {
      std::string expected;
      for (const std::string_view each : parameter->one_of) expected.append(expected.empty() ? "" : ", ").append(each);
      return std::unexpected(name + ": expected one of " + expected);
    }
    if (!all.try_emplace(name, *text).second) return std::unexpected(name + " is given twice");
  }
  return all;
}

std::optional<std::uint64_t> number_in(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
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
