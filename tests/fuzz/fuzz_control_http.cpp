// Fuzz target for the bytes of a connection to the control plane: the reader of requests, then roles, routes and
// bodies. Requires that a request is the same however its bytes arrive, that it is incomplete before its last byte and
// refused with one byte more, that a refused request does nothing, and that an accepted one makes at most one change.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "control/api.hpp"
#include "control/fake_target.hpp"
#include "control/http_request.hpp"
#include "fuzz_target.hpp"
#include "nexusfix/base/assert.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 4000};

namespace nfx::control {
namespace {

constexpr HttpSizes sizes{.head_bytes = 512, .body_bytes = 128, .fields = 8};

std::string text_of(const HttpRequest& request) {
  std::string text;
  const auto add = [&text](std::string_view part) {
    text.append(std::to_string(part.size())).append(":").append(part);
  };
  add(request.method);
  add(request.target);
  add(request.body);
  for (std::size_t i = 0; i < http_field_count; ++i)
    add(request.present[i] ? request.values[i] : std::string_view{"-"});
  text += request.keep_alive ? '1' : '0';
  return text;
}

// The result for the bytes, `step` at a time, and the number of bytes taken until then.
std::string run(HttpRequestReader& reader, std::string_view bytes, std::size_t step, std::size_t& taken) {
  reader.begin();
  HttpProgress progress = HttpProgress::incomplete;
  for (taken = 0; taken < bytes.size() && progress != HttpProgress::refused;) {
    const std::string_view part = bytes.substr(taken, step);
    progress = reader.take(part);
    taken += part.size();
  }
  if (progress == HttpProgress::incomplete) return "incomplete";
  if (progress == HttpProgress::complete) return "complete " + text_of(reader.request());
  NFX_REQUIRE(reader.refusal().status >= 400 && reader.refusal().status <= 431 && !reader.refusal().detail.empty());
  return "refused " + std::to_string(reader.refusal().status);
}

// Whether the head has a part at which some readers end a request differently.
bool is_ambiguous(std::string_view head) {
  for (std::size_t i = 0; i < head.size(); ++i) {
    if ((head[i] == '\n') != (i != 0 && head[i - 1] == '\r')) return true;
    if (head[i] == '\n' && i + 1 < head.size() && (head[i + 1] == ' ' || head[i + 1] == '\t')) return true;
  }
  return false;
}

void carry_out(const HttpRequest& request, Role role) {
  FakeTarget target;
  FakeAudit audit;
  Api api{target, audit, [] { return Instant{UtcTime{}, MonotonicTime{std::chrono::hours{1}}}; }};
  const Answer answer = api.answer({.method = request.method,
                                    .target = request.target,
                                    .if_match = request[HttpField::if_match],
                                    .content_type = request[HttpField::content_type],
                                    .body = request.body,
                                    .caller = caller_of(role)});
  NFX_REQUIRE(answer.status >= 200 && answer.status <= 599);
  NFX_REQUIRE(target.changes <= (role == Role::operator_ && request.method == "POST" ? 1 : 0));
}

void connection(std::string_view bytes) {
  static HttpRequestReader reader{sizes};
  std::size_t taken = 0;
  const std::string at_once = run(reader, bytes, bytes.size() + 1, taken);
  if (at_once.starts_with("complete")) {
    const HttpRequest& request = reader.request();
    NFX_REQUIRE(!is_ambiguous(bytes.substr(0, bytes.size() - request.body.size())));
    NFX_REQUIRE(!request.has(HttpField::transfer_encoding) && request.body.size() <= sizes.body_bytes);
    NFX_REQUIRE(request.body.empty() || request[HttpField::content_length] == std::to_string(request.body.size()));
    for (const Role role : {Role::none, Role::viewer, Role::operator_}) carry_out(request, role);
    NFX_REQUIRE(run(reader, bytes.substr(0, bytes.size() - 1), bytes.size(), taken) == "incomplete");
    NFX_REQUIRE(run(reader, std::string{bytes} + '\n', 1, taken) == "refused 400");
  }
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}})
    NFX_REQUIRE(run(reader, bytes, step, taken) == at_once);
}

}  // namespace
}  // namespace nfx::control

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nfx::control::connection(nfx::fuzz::text_of(data, size));
  return 0;
}
