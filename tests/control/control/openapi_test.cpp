// Rare answers of an engine, made by a substitute, are described: status, reason and headers.
// tests/apps/openapi_test.py compares whole documents of a running engine.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "control/fake_target.hpp"

namespace nfx::control {
namespace {

using Json = nlohmann::json;

class OpenApiDescription : public ::testing::Test {
 protected:
  Answer ask(std::string_view method, std::string_view path, std::string_view body = {}) {
    return api.answer({.method = method,
                       .target = path,
                       .if_match = "*",
                       .content_type = "application/json",
                       .body = body,
                       .caller = caller_of(Role::operator_)});
  }
  const Json& referred(const Json& part) const {
    const auto at = part.find("$ref");
    return at == part.end() ? part : described.at(Json::json_pointer{at->get<std::string>().substr(1)});
  }
  // Empty if it is described.
  std::string not_described(std::string_view method, const std::string& path, const Answer& answer) const {
    const Json& responses = described["paths"][path][method == "GET" ? "get" : "post"]["responses"];
    const std::string status = std::to_string(answer.status);
    if (!responses.contains(status)) return "the status " + status;
    const Json& response = referred(responses[status]);
    if (!response["content"].contains(answer.type)) return "the type " + answer.type;
    const Json headers = response.value("headers", Json::object());
    if (!answer.etag.empty() && !headers.contains("ETag")) return "ETag of " + status;
    if (answer.try_again && !headers.contains("Retry-After")) return "Retry-After of " + status;
    if (answer.status == 200) return {};
    const Json problem = Json::parse(answer.body);
    if (problem["status"] != answer.status || problem["detail"] == "") return "status or detail of " + answer.body;
    const Json& types = referred(response["content"][answer.type]["schema"])["allOf"][1]["properties"]["type"]["enum"];
    const Json& type = problem["type"];
    return std::ranges::find(types, type) == types.end() ? status + " of the type " + type.dump() : "";
  }
  void expect_described(std::string_view method, const std::string& path, unsigned status, std::string_view body = {}) {
    SCOPED_TRACE(std::string{method} + ' ' + path);
    now.monotonic += std::chrono::seconds{10};
    const Answer answer = ask(method, path_of(*find_route(method, path).route), body);
    EXPECT_EQ(answer.status, status) << answer.body;
    EXPECT_EQ(not_described(method, path, answer), "");
  }
  void expect_described(const SessionCommandRow& row, unsigned status) {
    const auto route = std::ranges::find(routes(), &row, &Route::command);
    expect_described(route->method, route->path, status, route->body_example);
  }

  const Json described = Json::parse(openapi());
  FakeTarget target;
  FakeAudit audit;
  Instant now{};
  Api api{target, audit, [this] { return now; }};
};

TEST_F(OpenApiDescription, has_commands_whose_poll_thread_hangs_or_whose_session_goes) {
  for (const SessionCommandRow& row : session_command_rows) {
    target.next = {.status = CommandStatus::busy};
    expect_described(row, 503);
    target.next = {.status = CommandStatus::timed_out};
    expect_described(row, 504);
    target.next = {.status = CommandStatus::being_removed};
    expect_described(row, 409);
    target.next = {.status = CommandStatus::nothing_to_do};
    expect_described(row, 200);
  }
}

TEST_F(OpenApiDescription, has_commands_that_do_not_fit_the_present_state) {
  using enum SessionCommandKind;
  const auto expect = [&](std::initializer_list<SessionCommandKind> commands, const CommandOutcome& outcome,
                          unsigned status) {
    target.next = outcome;
    for (const SessionCommandKind each : commands) expect_described(row_of(each), status);
  };
  const auto refused = [](OperatorResult why) {
    return CommandOutcome{.status = CommandStatus::refused, .refusal = why};
  };
  expect({logon, enable}, {.status = CommandStatus::stopping}, 409);
  expect({set, reset, resend}, {.status = CommandStatus::store_refuses}, 503);
  expect({set, reset, resend}, refused(OperatorResult::numbers_differ), 412);
  expect({set, reset, resend}, refused(OperatorResult::settings_differ), 412);
  expect({set, reset, resend}, refused(OperatorResult::not_now), 409);
  expect({set}, refused(OperatorResult::would_end_session), 409);
  expect({reset}, refused(OperatorResult::not_possible), 409);
  expect({resend, test_request}, refused(OperatorResult::not_logged_on), 409);
  expect({resend}, refused(OperatorResult::bad_number), 422);
}

TEST_F(OpenApiDescription, has_engines_that_do_not_answer) {
  target.all_answer = false;
  expect_described("GET", "/healthz", 503);
  expect_described("GET", "/readyz", 503);
  expect_described("GET", "/metrics", 504);
  expect_described("GET", "/v1/sessions", 200);
  expect_described("POST", "/v1/engine/drain", 504);
  expect_described("POST", "/v1/engine/end-drain", 504);
}

TEST_F(OpenApiDescription, has_every_end_of_a_reload) {
  const auto expect = [&](ReloadStatus end, unsigned status, unsigned of_plan) {
    target.next_reload.status = end;
    target.next_reload.problem = "why";
    expect_described("POST", "/v1/engine/reload", status);
    if (end != ReloadStatus::no_file)
      expect_described("POST", "/v1/sessions/{session}/change", status, R"({"config": ""})");
    expect_described("GET", "/v1/engine/reload", of_plan);
  };
  expect(ReloadStatus::planned, 200, 200);
  expect(ReloadStatus::invalid, 422, 422);
  expect(ReloadStatus::no_file, 409, 409);
  expect(ReloadStatus::stopping, 409, 409);
  expect(ReloadStatus::not_answering, 504, 504);
  target.next_reload.status = ReloadStatus::being_removed;
  expect_described("POST", "/v1/sessions/{session}/change", 409, R"({"config": ""})");
}

TEST_F(OpenApiDescription, has_every_end_of_an_addition) {
  const auto expect = [&](AddStatus end, unsigned status) {
    target.next_add.status = end;
    target.next_add.problem = "why";
    expect_described("POST", "/v1/sessions", status, R"({"config": ""})");
  };
  expect(AddStatus::added, 200);
  expect(AddStatus::invalid, 422);
  expect(AddStatus::exists, 409);
  expect(AddStatus::being_removed, 409);
  expect(AddStatus::stopping, 409);
}

TEST_F(OpenApiDescription, has_journals_that_cannot_be_read) {
  const std::string path = "/v1/sessions/{session}/store/verify";
  for (const auto& [status, end] : {std::pair{404U, CommandStatus::no_such_session},
                                    {409U, CommandStatus::being_removed},
                                    {503U, CommandStatus::busy},
                                    {504U, CommandStatus::timed_out}}) {
    target.next_verified = {.status = end};
    expect_described("GET", path, status);
  }
  target.next_verified = {.exists = false};
  expect_described("GET", path, 409);
  target.next_verified = {.unreadable = "no permission"};
  expect_described("GET", path, 503);
  target.recent_status = CommandStatus::busy;
  expect_described("GET", "/v1/sessions/{session}/messages", 503);
  target.recent_status = CommandStatus::being_removed;
  expect_described("GET", "/v1/sessions/{session}/messages", 409);
  target.recent_status = CommandStatus::timed_out;
  expect_described("GET", "/v1/sessions/{session}/messages", 504);
}

TEST_F(OpenApiDescription, has_requests_beyond_those_that_wait_for_the_worker) {
  std::vector<Work> waiting;
  for (std::size_t i = 0; i < Api::most_work; ++i) {
    waiting.push_back(std::get<Work>(
        api.begin({.method = "POST", .target = "/v1/engine/drain", .caller = caller_of(Role::operator_)})));
  }
  for (const Route& route : routes()) {
    if (route.on_worker) expect_described(route.method, route.path, 503);
  }
}

TEST_F(OpenApiDescription, has_users_with_more_requests_than_they_may_send) {
  for (std::uint64_t i = 0; i < Api::burst; ++i) EXPECT_NE(ask("GET", "/v1/engine").status, 429U);
  for (const Route& route : routes()) {
    if (route.role == Role::none) continue;
    SCOPED_TRACE(route.path);
    const Answer answer = ask(route.method, path_of(route));
    EXPECT_EQ(answer.status, 429U) << answer.body;
    EXPECT_EQ(not_described(route.method, route.path, answer), "");
  }
  now.monotonic += std::chrono::seconds{1};
  EXPECT_NE(ask("GET", "/v1/engine").status, 429U);
}

TEST_F(OpenApiDescription, says_that_only_the_health_of_the_engine_needs_no_token) {
  EXPECT_EQ(described["security"], Json::parse(R"([{"token": []}, {"certificate": []}])"));
  for (const Route& route : routes()) {
    const Json& operation = described["paths"][route.path][route.method == "GET" ? "get" : "post"];
    EXPECT_EQ(operation.contains("security"), route.role == Role::none) << route.path;
    EXPECT_EQ(operation["responses"].contains("401"), route.role != Role::none) << route.path;
  }
}

// The name of a function in a generated client must not change without a reason.
TEST_F(OpenApiDescription, names_every_operation_once_and_an_address_to_send_it_to) {
  std::set<std::string> names;
  for (const Route& route : routes()) {
    EXPECT_TRUE(names.insert(route.operation).second) << route.operation;
    EXPECT_EQ(route.operation.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos) << route.operation;
    const Json& operation = described["paths"][route.path][route.method == "GET" ? "get" : "post"];
    EXPECT_EQ(operation["operationId"], route.operation);
  }
  ASSERT_FALSE(described["servers"].empty());
  EXPECT_EQ(described["servers"][0]["url"], "/");
}

TEST_F(OpenApiDescription, has_only_schemas_that_are_objects_as_generators_of_clients_require) {
  const std::string text = described.dump();
  EXPECT_EQ(text.find("\"items\":false"), std::string::npos);
  EXPECT_EQ(text.find("\"items\":true"), std::string::npos);
}

TEST_F(OpenApiDescription, is_what_an_engine_answers_to_those_who_may_read_it) {
  const Answer answer = ask("GET", "/v1/openapi.json");
  EXPECT_EQ(answer.status, 200U);
  EXPECT_EQ(answer.type, "application/json");
  EXPECT_EQ(answer.body, openapi());
}

// Unused parts of the description would become outdated.
TEST_F(OpenApiDescription, has_no_schema_and_no_response_that_nothing_refers_to) {
  const std::string text = openapi();
  for (const char* kind : {"schemas", "responses", "headers"}) {
    for (const auto& [name, part] : described["components"][kind].items()) {
      EXPECT_NE(text.find(std::string{"\"#/components/"} + kind + '/' + name + '"'), std::string::npos) << name;
    }
  }
}

}  // namespace
}  // namespace nfx::control
