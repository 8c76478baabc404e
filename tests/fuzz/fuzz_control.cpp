// Fuzz target for requests to the control plane, after HTTP: role, method, path, If-Match and body; also for the files
// of tokens and of clients. Requires that nothing changes without the required role, that each change has a line in the
// audit log, and that every answer is a document.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "control/api.hpp"
#include "control/fake_target.hpp"
#include "fuzz_target.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/config/engine_config.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 2000};

namespace nfx::control {
namespace {

std::string_view take_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

void request(std::string_view bytes, Role role) {
  FakeTarget target;
  FakeAudit audit;
  Api api{target, audit, [] { return Instant{UtcTime{}, MonotonicTime{std::chrono::hours{1}}}; }};
  const std::string_view method = take_line(bytes);
  const std::string_view path = take_line(bytes);
  const std::string_view if_match = take_line(bytes);
  const Answer answer = api.answer({.method = method,
                                    .target = path,
                                    .if_match = if_match,
                                    .content_type = "application/json",
                                    .body = bytes,
                                    .caller = caller_of(role)});
  NFX_REQUIRE(answer.status >= 200 && answer.status <= 599 && answer.body.ends_with('\n'));
  NFX_REQUIRE(target.changes == 0 || (role == Role::operator_ && audit.lines.size() == 2));
  NFX_REQUIRE(answer.status < 400 || target.changes == 0);
  NFX_REQUIRE(role != Role::none || target.commands.empty());
}

void read_tokens(std::string_view text) {
  try {
    const Tokens tokens = Tokens::parse(text, "tokens");
    NFX_REQUIRE(tokens.caller("Bearer ").role == Role::none);
  } catch (const ConfigError&) {
  }
}

void read_clients(std::string_view text) {
  try {
    const ClientCertificates clients = ClientCertificates::parse(text, "clients");
    NFX_REQUIRE(clients.caller({}).role == Role::none);
  } catch (const ConfigError&) {
  }
}

}  // namespace
}  // namespace nfx::control

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = nfx::fuzz::text_of(data, size);
  for (const auto role : {nfx::control::Role::none, nfx::control::Role::viewer, nfx::control::Role::operator_})
    nfx::control::request(bytes, role);
  nfx::control::read_tokens(bytes);
  nfx::control::read_clients(bytes);
  static_cast<void>(nfx::control::host_is_ours(bytes, 9090));
  static_cast<void>(nfx::control::origin_is_ours(bytes, 9090));
  return 0;
}
