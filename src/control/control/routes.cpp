// Finds the route of a request, and its parameters.
#include "control/routes.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace nfx::control {
namespace {

constexpr std::size_t longest_target = 2048;

int digit_of(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Whether `path` belongs to this route; `session` receives the value of {session}.
bool is_path_of(const Route& route, std::string_view path, std::string_view& session) noexcept {
  constexpr std::string_view part = "{session}";
  const std::string_view own = route.path;
  const std::size_t at = own.find(part);
  if (at == std::string_view::npos) return own == path;
  if (!path.starts_with(own.substr(0, at))) return false;
  path.remove_prefix(at);
  session = path.substr(0, path.find('/'));
  return !session.empty() && path.substr(session.size()) == own.substr(at + part.size());
}

}  // namespace

Route route(std::string_view method, std::string path, std::string operation, Role role, std::string_view summary,
            Success success, Handler handler, RouteOptions options) {
  return {std::move(options), method, std::move(path), std::move(operation), role, summary,
          std::move(success), handler};
}

const std::vector<Route>& routes() {
  static const std::vector<Route> table = [] {
    std::vector<Route> all = monitoring_routes();
    std::ranges::move(engine_routes(), std::back_inserter(all));
    std::ranges::move(session_routes(), std::back_inserter(all));
    return all;
  }();
  return table;
}

std::uint64_t Call::number(std::string_view name, std::uint64_t otherwise) const {
  const auto given = query.find(name);
  return given == query.end() ? otherwise : number_in(given->second).value_or(otherwise);
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
    if (parameter == route.query.end()) return std::unexpected("unknown parameter \"" + name + '"');
    const auto text = percent_decoded(equals == std::string_view::npos ? std::string_view{} : part.substr(equals + 1));
    if (!text) return std::unexpected(name + ": expected two hexadecimal digits after each %, and no zero byte");
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
    if (!all.try_emplace(name, *text).second) return std::unexpected("duplicate parameter \"" + name + '"');
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
