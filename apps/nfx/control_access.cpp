// Finds the control plane, and prints its answers.
#include "control_access.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/error_text.hpp"
#include "base/regular_file.hpp"
#include "command.hpp"
#include "text.hpp"

namespace nfx::app {
namespace {

constexpr const char* default_socket = "/run/nexusfix/control.sock";
constexpr std::size_t largest_token_file = 4096, largest_sent_file = std::size_t{1} << 20;

std::string token_of(const std::string& file) {
  const auto read = read_regular_file(file, largest_token_file);
  if (!read) throw cli::UsageError("--token-file: " + cannot("read", file, read.error().why));
  std::string token = read->text.substr(0, read->text.find('\n'));
  while (!token.empty() && (token.back() == '\r' || token.back() == ' ')) token.pop_back();
  if (token.empty()) throw cli::UsageError("--token-file: " + file + ": expected the token in the first line");
  return token;
}

// An engine listens only on loopback; an engine on another host is reached through a tunnel.
Endpoint http_of(std::string_view text) {
  const std::size_t colon = std::min(text.rfind(':'), text.size());
  const std::string_view digits = text.substr(std::min(colon + 1, text.size()));
  std::string host{text.substr(0, colon)};
  if (host == "localhost") host = "127.0.0.1";
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  std::array<char, sizeof(in6_addr)> bytes;
  const bool is_address =
      ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 || ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
  if (!is_address || error != std::errc{} || end != digits.data() + digits.size() || port == 0)
    throw cli::UsageError("--http: expected an address such as 127.0.0.1:9890");
  return {std::move(host), port};
}

// Whether no other user can have put it there.
bool is_own_socket(const char* path) {
  struct stat facts{};
  return ::lstat(path, &facts) == 0 && S_ISSOCK(facts.st_mode) && (facts.st_uid == ::geteuid() || facts.st_uid == 0);
}

}  // namespace

ControlAddress control_address(const ControlOptions& options) {
  if (!options.http.empty()) {
    ControlAddress address{.http = http_of(options.http)};
    if (options.tls_certificate.empty() == options.token_file.empty())
      throw cli::UsageError("--http: give --token-file, or --tls-certificate if the engine has a certificate too");
    if (options.tls_certificate.empty()) {
      address.token = token_of(options.token_file);
    } else {
      address.tls.emplace();
      address.tls->certificate = options.tls_certificate;
      address.tls->key = options.tls_key;
      address.tls->ca = options.tls_ca;
      address.tls->server_name = options.tls_name;
    }
    return address;
  }
  if (!options.socket.empty()) return {.socket = options.socket};
  const char* from_environment = std::getenv("NFX_CONTROL");
  if (from_environment != nullptr && *from_environment != '\0') return {.socket = from_environment};
  return {.socket = is_own_socket(own_control_socket) ? own_control_socket : default_socket};
}

std::expected<bool, NoAnswer> ask_json(ControlClient& client, const ControlRequest& request,
                                       nlohmann::ordered_json& json) {
  const auto reply = client.ask(request);
  if (!reply) return std::unexpected(NoAnswer{.text = reply.error()});
  json = nlohmann::ordered_json::parse(reply->body, nullptr, false);
  if (json.is_discarded() || !json.is_object()) {
    return std::unexpected(NoAnswer{
        .exit_code = exit_failed, .text = "the answer is not a JSON object; is this the control plane of an engine?"});
  }
  return reply->status >= 200 && reply->status < 300;
}

namespace {

int show_once(ControlClient& client, const ControlOptions& options, const ControlRequest& request,
              const ShowAnswer& show, const JudgeAnswer& judge) {
  nlohmann::ordered_json json;
  const auto asked = ask_json(client, request, json);
  if (!asked) {
    print_error("nfx: {}\n", asked.error().text);
    return asked.error().exit_code;
  }
  const bool good = *asked;
  SafeText out;
  if (options.json) {
    out.add("{}\n", json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace));
  } else if (good) {
    show(out, json);
  } else {
    print_error("nfx: {}\n", member_text(json, "detail"));
    if (const auto session = json.find("session"); session != json.end() && session->is_object()) {
      print_error("nfx: {} is {}, next in {}, next out {}\n", member_text(*session, "name"),
                  member_text(*session, "state"), member_text(*session, "next_in"), member_text(*session, "next_out"));
    }
  }
  print(out);
  if (good && judge) return judge(json);
  return good && member_text(json, "result") != "incomplete" ? exit_done : exit_failed;
}

}  // namespace

std::vector<cli::Option> address_options(ControlOptions& options) {
  return {
      {.names = "--socket",
       .target = &options.socket,
       .help = "UNIX socket of the engine, its [control] socket. Without it: the environment variable NFX_CONTROL, "
               "then control.sock in this folder, then /run/nexusfix/control.sock",
       .kind = cli::Kind::file},
      {.names = "--http",
       .target = &options.http,
       .help = "Use HTTP at this address, the engine's [control] http, instead of the socket",
       .value = "HOST:PORT",
       .excludes = {"--socket"}},
      {.names = "--token-file",
       .target = &options.token_file,
       .help = "File whose first line is the token for --http",
       .kind = cli::Kind::existing_file},
      {.names = "--tls-certificate",
       .target = &options.tls_certificate,
       .help = "For --http with TLS: PEM file with this user's certificate, which has its role in [control] clients",
       .kind = cli::Kind::existing_file,
       .excludes = {"--token-file"},
       .needs = {"--http"}},
      {.names = "--tls-key",
       .target = &options.tls_key,
       .help = "PEM file with the private key of --tls-certificate. Without it, the key is in the same file",
       .kind = cli::Kind::existing_file,
       .needs = {"--tls-certificate"}},
      {.names = "--tls-ca",
       .target = &options.tls_ca,
       .help = "PEM file with the authority of the engine's certificate. Default: the system's authorities",
       .kind = cli::Kind::existing_file,
       .needs = {"--tls-certificate"}},
      {.names = "--tls-name",
       .target = &options.tls_name,
       .help = "Name that the engine's certificate must have (default: the host of --http)",
       .value = "NAME",
       .needs = {"--tls-certificate"}}};
}

std::vector<cli::Option> control_options(ControlOptions& options) {
  std::vector<cli::Option> all = address_options(options);
  all.push_back({.names = "--json", .target = &options.json, .help = "Print the API's answer, in JSON"});
  return all;
}

cli::Option watch_option(ControlOptions& options) {
  return {.names = "--watch",
          .target = &options.watch,
          .help = "Repeat after this number of seconds, until Ctrl-C",
          .value = "SECONDS",
          .range = {{1, 3600}}};
}

cli::Command control_command(std::string_view name, std::string_view summary, int (*run)(), ControlOptions& options,
                             std::string_view example) {
  return {.name = name,
          .summary = summary,
          .run = run,
          .options = control_options(options),
          .exit_codes = control_exit_codes,
          .examples = {{.line = example}}};
}

int ask_and_show(const ControlOptions& options, const ControlRequest& request, const ShowAnswer& show,
                 const JudgeAnswer& judge) {
  ControlClient client{control_address(options)};
  for (;;) {
    const int exit_code = show_once(client, options, request, show, judge);
    if (options.watch == 0 || exit_code != exit_done) return exit_code;
    std::this_thread::sleep_for(std::chrono::seconds{options.watch});
    if (!options.json) print("\n");
  }
}

std::string member_text(const nlohmann::ordered_json& object, const char* name) {
  const auto member = object.find(name);
  if (member == object.end() || member->is_null()) return "-";
  return member->is_string() ? member->get<std::string>() : member->dump();
}

std::optional<std::uint64_t> member_number(const nlohmann::ordered_json& object, const char* name) {
  const auto member = object.find(name);
  if (member == object.end() || !member->is_number_unsigned()) return std::nullopt;
  return member->get<std::uint64_t>();
}

bool member_is_true(const nlohmann::ordered_json& object, const char* name) {
  const auto member = object.find(name);
  return member != object.end() && member->is_boolean() && member->get<bool>();
}

void for_each_object(const nlohmann::ordered_json& object, const char* name,
                     const std::function<void(const nlohmann::ordered_json&)>& visit) {
  const auto member = object.find(name);
  if (member == object.end() || !member->is_array()) return;
  for (const auto& each : *member) {
    if (each.is_object()) visit(each);
  }
}

std::string file_text(const std::string& name) {
  auto read = read_regular_file(name, largest_sent_file);
  if (!read) throw cli::UsageError(cannot("read", name, read.error().why));
  return std::move(read->text);
}

namespace {

void append_keys(SafeText& out, const nlohmann::ordered_json& of, const char* name, std::string_view indent) {
  for_each_object(of, name, [&](const nlohmann::ordered_json& key) {
    const std::string section = member_text(key, "section");
    out.add("{}{}{}: {} -> {}  ({}", indent, section == "session" ? std::string{} : "[" + section + "] ",
            member_text(key, "key"), member_text(key, "before"), member_text(key, "after"), member_text(key, "place"));
    const std::string when = member_text(key, "when");
    if (when == "disconnected") out += ", without a connection";
    if (when == "restart") out += ", at the next start";
    out += ")\n";
  });
}

}  // namespace

void append_changes(SafeText& out, const nlohmann::ordered_json& answer) {
  const std::string result = member_text(answer, "result");
  const bool planned = result == "planned";
  for_each_object(answer, "sessions", [&](const nlohmann::ordered_json& session) {
    const std::string change = member_text(session, "change"), when = member_text(session, "when");
    out.add("{} {}", change, member_text(session, "name"));
    if (when == "disconnected") out += ": when it has no connection; log it out and reload again";
    if (when == "restart") out += ": at the next start";
    if (when == "now") out += planned ? ": now" : ": done";
    if (session.contains("why")) out.add(" ({})", member_text(session, "why"));
    out += '\n';
    append_keys(out, session, "keys", "  ");
  });
  append_keys(out, answer, "engine", {});
  for (const auto& each : answer.value("problems", nlohmann::ordered_json::array())) {
    if (each.is_string()) out.add("failed: {}\n", each.get<std::string>());
  }
  if (planned && member_text(answer, "sessions") == "[]" && member_text(answer, "engine") == "[]")
    out += "nothing differs from the file\n";
  if (!planned) out.add("{}\n", result == "nothing_to_do" ? "nothing to do" : result);
}

const nlohmann::ordered_json* member_object(const nlohmann::ordered_json& object, const char* name) {
  const auto member = object.find(name);
  return member != object.end() && member->is_object() ? &*member : nullptr;
}

}  // namespace nfx::app
