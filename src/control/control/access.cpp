// Roles of users, groups and tokens, and the checks of Host and Origin.
#include "control/access.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/error_text.hpp"
#include "base/private_files.hpp"
#include "base/regular_file.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx::control {
namespace {

constexpr std::size_t largest_file = std::size_t{512} * Tokens::most_lines;

std::optional<unsigned> number_of(std::string_view text) noexcept {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string user_name(unsigned uid) {
  std::array<char, 4096> space;
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, space.data(), space.size(), &found) == 0 && found != nullptr) return found->pw_name;
  return "uid " + std::to_string(uid);
}

[[noreturn]] void fail(std::string_view file, std::size_t line, std::string_view what) {
  throw ConfigError(std::string{file} + ':' + std::to_string(line) + ": " + std::string{what});
}

std::string_view take_line(std::string_view& rest) noexcept {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

struct ProtectedFile {
  std::string_view key;  // key of [control]
  const std::string& file;
  std::string_view mode;
  mode_t forbidden;
};

std::string text_of_file(const ProtectedFile& of) {
  const std::string name = "[control] " + std::string{of.key} + ": ";
  auto read = read_regular_file(of.file, largest_file);
  if (!read) {
    throw ConfigError(name + cannot("read", of.file, read.error().why) +
                      (read.error().code == 0 ? "; expected at most 1000 lines of 512 bytes"
                                              : "; create it with mode 0" + std::string{of.mode}));
  }
  if ((read->mode & of.forbidden) != 0) {
    throw ConfigError(name + open_to_others(of.file, read->mode,
                                            (of.forbidden & 044) != 0 ? "read or change it" : "change it", of.mode));
  }
  return std::move(read->text);
}

// Removes and returns the next word of a line.
std::string_view take_word(std::string_view& rest) noexcept {
  const auto begin = rest.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return rest = {};
  const std::string_view word = rest.substr(begin, rest.find_first_of(" \t\r", begin) - begin);
  rest.remove_prefix(begin + word.size());
  return word;
}

bool same_digest(const std::array<std::uint8_t, 32>& one, const std::array<std::uint8_t, 32>& other) noexcept {
  unsigned difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i) difference |= static_cast<unsigned>(one[i] ^ other[i]);
  return difference == 0;
}

}  // namespace

std::string_view to_string(Role role) noexcept {
  switch (role) {
    case Role::none: return "none";
    case Role::viewer: return "viewer";
    case Role::operator_: return "operator";
  }
  return "?";
}

SocketUsers::SocketUsers(const ControlConfig& config)
    : operators_(set_of(config.operators, "operators")), viewers_(set_of(config.viewers, "viewers")) {
  if (config.operators.empty()) operators_.uids = {0, ::geteuid()};
}

SocketUsers::Set SocketUsers::set_of(const std::vector<std::string>& names, std::string_view key) {
  Set set;
  std::array<char, 16384> space;
  for (const std::string& name : names) {
    const bool is_group = name.starts_with('@');
    const std::string plain = name.substr(is_group ? 1 : 0);
    std::optional<unsigned> id = number_of(plain);
    if (is_group && !id) {
      group entry{};
      group* found = nullptr;
      if (::getgrnam_r(plain.c_str(), &entry, space.data(), space.size(), &found) == 0 && found != nullptr)
        id = found->gr_gid;
    } else if (!id) {
      passwd entry{};
      passwd* found = nullptr;
      if (::getpwnam_r(plain.c_str(), &entry, space.data(), space.size(), &found) == 0 && found != nullptr)
        id = found->pw_uid;
    }
    if (!id) {
      throw ConfigError("[control] " + std::string{key} + ": this host has no " +
                        (is_group ? "group \"" + plain + "\": create it, or remove \"" + name + '"'
                                  : "user \"" + plain + "\": create it, or write \"@" + plain + "\" for a group"));
    }
    (is_group ? set.gids : set.uids).push_back(*id);
  }
  return set;
}

bool SocketUsers::Set::has(unsigned uid, std::span<const unsigned> member_of) const noexcept {
  return std::ranges::find(uids, uid) != uids.end() ||
         std::ranges::any_of(member_of, [this](unsigned gid) { return std::ranges::find(gids, gid) != gids.end(); });
}

Caller SocketUsers::caller(unsigned uid, std::span<const unsigned> gids) const {
  const Role role = operators_.has(uid, gids) ? Role::operator_ : viewers_.has(uid, gids) ? Role::viewer : Role::none;
  return {.role = role, .name = user_name(uid), .via = "unix"};
}

Tokens Tokens::parse(std::string_view text, std::string_view file) {
  Tokens tokens;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = take_line(text);
    const std::string_view role = take_word(line);
    if (role.empty() || role.starts_with('#')) continue;
    const std::string_view name = take_word(line);
    const std::string_view token = take_word(line);
    if (role != "operator" && role != "viewer")
      fail(file, number, "expected \"operator NAME TOKEN\" or \"viewer NAME TOKEN\"");
    if (token.empty() || !take_word(line).empty()) fail(file, number, "expected a role, a name and a token");
    if (token.size() < shortest || token.size() > longest) {
      fail(file, number,
           "expected a token of 32 to 256 characters; 'openssl rand -hex 32' prints one");  // never prints the token
    }
    if (name.size() > 64) fail(file, number, "expected a name of at most 64 characters");
    if (tokens.entries_.size() == most_lines) fail(file, number, "expected at most 1000 tokens");
    const auto digest = sha256(token);
    if (std::ranges::find(tokens.entries_, digest, &Entry::digest) != tokens.entries_.end())
      fail(file, number, "duplicate token; each user needs another one");
    tokens.entries_.push_back(
        {.digest = digest, .role = role == "operator" ? Role::operator_ : Role::viewer, .name = std::string{name}});
  }
  if (tokens.entries_.empty()) fail(file, 1, "no token; write a line such as \"operator alice TOKEN\"");
  return tokens;
}

Tokens Tokens::load(const std::string& file) {
  return parse(text_of_file({.key = "tokens", .file = file, .mode = "600", .forbidden = 077}), file);
}

ClientCertificates ClientCertificates::parse(std::string_view text, std::string_view file) {
  ClientCertificates clients;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = take_line(text);
    const std::string_view role = take_word(line);
    if (role.empty() || role.starts_with('#')) continue;
    const std::string_view name = trimmed(line);
    if ((role != "operator" && role != "viewer") || name.empty())
      fail(file, number, "expected \"operator NAME\" or \"viewer NAME\", with a name of a certificate");
    if (name.size() > TlsPeer::max_name_size) fail(file, number, "expected a name of at most 256 characters");
    if (clients.entries_.size() == most_lines) fail(file, number, "expected at most 1000 names");
    if (std::ranges::find(clients.entries_, name, &Entry::name) != clients.entries_.end())
      fail(file, number, "duplicate name; remove one of the lines");
    clients.entries_.push_back(
        {.role = role == "operator" ? Role::operator_ : Role::viewer, .name = std::string{name}});
  }
  if (clients.entries_.empty()) fail(file, 1, "no name; write a line such as \"operator alice\"");
  return clients;
}

ClientCertificates ClientCertificates::load(const std::string& file) {
  return parse(text_of_file({.key = "clients", .file = file, .mode = "644", .forbidden = 022}), file);
}

Caller ClientCertificates::caller(const TlsPeer& certificate) const {
  for (const Entry& entry : entries_) {
    if (is_one_of(certificate, {entry.name}, {})) return {.role = entry.role, .name = entry.name, .via = "https"};
  }
  return {.name = certificate.names.empty() ? "sha256:" + certificate.sha256 : certificate.names.front(),
          .via = "https"};
}

Caller Tokens::caller(std::string_view authorization) const {
  Caller caller{.name = "unknown", .via = "http"};
  constexpr std::string_view scheme = "Bearer ";
  if (!authorization.starts_with(scheme)) return caller;
  const std::string_view token = authorization.substr(scheme.size());
  if (token.size() < shortest || token.size() > longest) return caller;
  const auto digest = sha256(token);
  for (const Entry& entry : entries_) {
    if (!same_digest(entry.digest, digest)) continue;
    caller.role = entry.role;
    caller.name = entry.name;
  }
  return caller;
}

HttpUsers::HttpUsers(const ControlConfig& config) : config_(config), loaded_(load(config)) {}

std::shared_ptr<const HttpUsers::Loaded> HttpUsers::load(const ControlConfig& config) {
  return std::make_shared<const Loaded>(
      Loaded{.tokens = config.tokens.empty() ? Tokens{} : Tokens::load(config.tokens),
             .clients = config.encrypted() ? ClientCertificates::load(config.clients) : ClientCertificates{}});
}

std::shared_ptr<const HttpUsers::Loaded> HttpUsers::loaded() const {
  const std::lock_guard lock{mutex_};
  return loaded_;
}

Caller HttpUsers::caller(std::string_view authorization) const { return loaded()->tokens.caller(authorization); }
Caller HttpUsers::caller(const TlsPeer& certificate) const { return loaded()->clients.caller(certificate); }

std::string HttpUsers::reload() {
  try {
    auto read = load(config_);
    const std::lock_guard lock{mutex_};
    loaded_ = std::move(read);
    return {};
  } catch (const ConfigError& error) {
    return error.what();
  }
}

bool host_is_ours(std::string_view host, std::uint16_t port) noexcept {
  for (const std::string_view name : {"127.0.0.1", "[::1]", "localhost"}) {
    if (!host.starts_with(name)) continue;
    const std::string_view rest = host.substr(name.size());
    return rest.starts_with(':') && number_of(rest.substr(1)) == port;
  }
  return false;
}

bool origin_is_ours(std::string_view origin, std::uint16_t port, bool encrypted) noexcept {
  const std::string_view scheme = encrypted ? "https://" : "http://";
  return origin.starts_with(scheme) && host_is_ours(origin.substr(scheme.size()), port);
}

}  // namespace nfx::control
