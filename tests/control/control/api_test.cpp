// The rights of each role, the requirements of requests, and their answers.
#include "control/api.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "config/doc_table.hpp"
#include "control/fake_target.hpp"
#include "engine/engine_counter_rows.hpp"

namespace nfx::control {
namespace {

class ControlApi : public ::testing::Test {
 protected:
  Answer ask(std::string_view method, std::string_view path, std::string_view body = {}, std::string_view if_match = {},
             Role role = Role::operator_) {
    return api.answer({.method = method,
                       .target = path,
                       .if_match = if_match,
                       .content_type = body.empty() ? std::string_view{} : "application/json",
                       .body = body,
                       .caller = caller_of(role)});
  }

  FakeTarget target;
  FakeAudit audit;
  Instant now{UtcTime{std::chrono::seconds{1'700'000'000}}, MonotonicTime{std::chrono::hours{1}}};
  Api api{target, audit, [this] { return now; }};
};

TEST_F(ControlApi, no_request_without_the_right_role_changes_or_reads_anything) {
  for (const Route& route : routes()) {
    for (const Role role : {Role::none, Role::viewer, Role::operator_}) {
      SCOPED_TRACE(std::string{route.method} + ' ' + route.path + " as " + std::string{to_string(role)});
      target.changes = 0;
      now.monotonic += std::chrono::seconds{2};
      target.commands.clear();
      target.looks = 0;
      audit.lines.clear();
      const Answer answer = ask(route.method, path_of(route, "FIX.4.4:A-%3EB"), body_of(route), "*", role);
      if (role >= route.role) {
        EXPECT_EQ(answer.status, 200U) << answer.body;
        EXPECT_EQ(target.changes, route.changes() ? 1 : 0);
        EXPECT_EQ(audit.lines.size(), route.changes() ? 2U : route.audited() ? 1U : 0U);
      } else {
        EXPECT_EQ(answer.status, role == Role::none ? 401U : 403U);
        EXPECT_EQ(target.changes, 0);
        EXPECT_TRUE(target.commands.empty());
        EXPECT_EQ(target.looks, 0);
        EXPECT_EQ(audit.lines.size(), route.audited() ? 1U : 0U) << "an attempt to change something is recorded";
      }
    }
  }
}

TEST_F(ControlApi, what_changes_or_shows_messages_needs_an_operator_and_what_reads_is_a_get) {
  std::set<std::string> seen;
  for (const Route& route : routes()) {
    EXPECT_TRUE(seen.insert(std::string{route.method} + route.path).second) << route.path;
    const bool for_operators = route.changes() || route.operation == "plan_reload" || !route.reads.empty();
    EXPECT_EQ(for_operators, route.role == Role::operator_) << route.path;
    EXPECT_TRUE(route.summary.ends_with('.')) << route.summary;
  }
  EXPECT_EQ(seen.size(), routes().size());
}

TEST_F(ControlApi, with_another_method_says_which_there_is) {
  for (const Route& route : routes()) {
    const Answer answer = ask(route.method == "GET" ? "DELETE" : "GET", path_of(route, "FIX.4.4:A-%3EB"));
    EXPECT_TRUE(answer.status == 405 || answer.status == 200) << route.path;
    if (answer.status == 405) {
      EXPECT_FALSE(answer.allow.empty());
    }
  }
  EXPECT_EQ(target.changes, 0);
}

TEST_F(ControlApi, a_path_with_two_methods_names_both) {
  EXPECT_EQ(ask("DELETE", "/v1/sessions").allow, "GET, POST");
  EXPECT_EQ(ask("GET", "/v1/engine/stop").allow, "POST");
}

TEST_F(ControlApi, a_session_is_added_from_a_text_that_the_audit_log_does_not_have) {
  const Answer answer = ask("POST", "/v1/sessions", R"({"config": "[[session]]\npassword = \"secret\""})");
  EXPECT_EQ(answer.status, 200U);
  EXPECT_EQ(answer.etag, "\"3.5.9.0\"");
  EXPECT_EQ(nlohmann::json::parse(answer.body)["result"], "done");
  EXPECT_EQ(target.added, (std::vector<std::string>{"[[session]]\npassword = \"secret\""}));
  EXPECT_EQ(audit.lines, (std::vector<std::string>{"requested alice POST /v1/sessions ",
                                                   "done alice POST /v1/sessions FIX.4.4:A->B"}));
}

TEST_F(ControlApi, a_session_that_is_not_added_has_its_reason) {
  target.next_add = {.status = AddStatus::invalid, .problem = "config:2:1: [session] x: unknown key"};
  const Answer answer = ask("POST", "/v1/sessions", R"({"config": "x"})");
  EXPECT_EQ(answer.status, 422U);
  EXPECT_EQ(nlohmann::json::parse(answer.body)["detail"], "config:2:1: [session] x: unknown key");
  for (const std::string_view body :
       {"", "{}", "[]", "{\"config\": 1}", "{\"config\": \"x\", \"y\": 1}", "{\"text\": \"x\"}"})
    EXPECT_EQ(ask("POST", "/v1/sessions", body).status, 400U) << body;
  EXPECT_EQ(target.added.size(), 1U);
  EXPECT_EQ(target.changes, 0);
}

TEST_F(ControlApi, numbers_are_set_only_by_who_states_those_they_have_seen) {
  EXPECT_EQ(ask("POST", "/v1/sessions/3/set", R"({"next_out": 12})").status, 428U);
  EXPECT_EQ(target.changes, 0);
  EXPECT_EQ(ask("POST", "/v1/sessions/3/set", R"({"next_out": 12})", "\"4.5.9.0\"").status, 412U)
      << "another session's";
  EXPECT_EQ(ask("POST", "/v1/sessions/3/set", R"({"next_out": 12})", "W/x").status, 412U);
  EXPECT_EQ(target.changes, 0);
  EXPECT_EQ(ask("POST", "/v1/sessions/3/set", R"({"next_out": 12})", "\"3.5.9.0\"").status, 200U);
  EXPECT_EQ(target.commands.back().expected, (NextNumbers{.in = SeqNum{5}, .out = SeqNum{9}}));
  EXPECT_EQ(target.commands.back().numbers, (NextNumbers{.out = SeqNum{12}}));
  EXPECT_EQ(target.commands.back().who, "alice");
  EXPECT_EQ(ask("POST", "/v1/sessions/3/set", R"({"next_in": 2, "expected": {"next_in": 5}})").status, 200U);
  EXPECT_EQ(target.commands.back().expected, (NextNumbers{.in = SeqNum{5}}));
  EXPECT_EQ(ask("POST", "/v1/sessions/3/set", R"({"next_out": 12.0})", "*").status, 200U)
      << "an integer in JSON Schema";
  EXPECT_EQ(target.commands.back().numbers, (NextNumbers{.out = SeqNum{12}}));
}

TEST_F(ControlApi, the_etag_of_a_session_is_what_a_change_may_state) {
  const Answer shown = ask("GET", "/v1/sessions/FIX.4.4%3AA-%3EB");
  EXPECT_EQ(shown.etag, "\"3.5.9.0\"");
  EXPECT_EQ(ask("POST", "/v1/sessions/3/reset", {}, shown.etag).status, 200U);
}

TEST_F(ControlApi, a_session_has_each_of_its_counters) {
  const auto counters = nlohmann::json::parse(ask("GET", "/v1/sessions/3").body)["counters"];
  EXPECT_EQ(counters.size(), counter_rows<SessionCounters>.size());
  EXPECT_EQ(counters["messages_in_total"], 11);
  EXPECT_EQ(counters["messages_out_total"], 22);
}

TEST_F(ControlApi, a_body_that_is_not_understood_changes_nothing) {
  const std::string deep(10'000, '[');
  for (const std::string_view body : std::initializer_list<std::string_view>{
           "x", "[]", "12", "{\"next_out\": 0}", "{\"next_out\": -1}", "{\"next_out\": 1.5}", "{\"next_out\": \"12\"}",
           "{\"next_out\": 1000000000000000000}", "{\"next_out\": 1e17}", "{\"next_out\": 0.0}",
           "{\"next_out\": 12, \"other\": 1}", "{\"text\": \"x\"}", "{}", "{\"next_out\": 12, \"next_out\": 13}",
           "{\"next_out\": 12, \"expected\": {\"next_in\": 5, \"next_in\": 6}}", "{\"next_out\": 12, \"expected\": 5}",
           "{\"next_out\": 12, \"expected\": {\"x\": 1}}", "{\"next_out\": 12", deep}) {
    const Answer answer = ask("POST", "/v1/sessions/3/set", body, "*");
    EXPECT_EQ(answer.status, 400U) << body.substr(0, 80);
  }
  EXPECT_EQ(ask("POST", "/v1/sessions/3/logout", R"({"text": "a\nb"})").status, 400U);
  EXPECT_EQ(ask("POST", "/v1/sessions/3/drop", R"({"text": "a"})").status, 400U);
  EXPECT_EQ(ask("POST", "/v1/engine/stop", R"({"text": "a"})").status, 400U);
  EXPECT_EQ(target.changes, 0);
  EXPECT_TRUE(audit.lines.empty());
}

TEST_F(ControlApi, a_body_needs_its_content_type_so_that_a_form_of_a_page_is_none) {
  for (const std::string_view type : {"", "text/plain", "application/x-www-form-urlencoded", "application/jsonp"}) {
    EXPECT_EQ(api.answer({.method = "POST",
                          .target = "/v1/sessions/3/logout",
                          .content_type = type,
                          .body = "{}",
                          .caller = caller_of(Role::operator_)})
                  .status,
              415U);
  }
  EXPECT_EQ(target.changes, 0);
}

TEST_F(ControlApi, nothing_is_changed_while_the_audit_log_cannot_be_written) {
  audit.works = false;
  for (const Route& route : routes()) {
    if (!route.changes()) continue;
    EXPECT_EQ(ask(route.method, path_of(route, "FIX.4.4:A-%3EB"), body_of(route), "*").status, 503U);
  }
  EXPECT_EQ(target.changes, 0);
  EXPECT_EQ(ask("GET", "/v1/sessions").status, 200U);
}

TEST_F(ControlApi, the_audit_log_has_who_what_and_what_became_of_it) {
  target.next = {.status = CommandStatus::refused, .refusal = OperatorResult::numbers_differ};
  ask("POST", "/v1/sessions/3/set", R"({"next_out": 12, "expected": {"next_out": 7}})");
  ASSERT_EQ(audit.lines.size(), 2U);
  EXPECT_EQ(audit.lines[0], R"(requested alice POST /v1/sessions/3/set {"next_out":12,"expected":{"next_out":7}})");
  EXPECT_TRUE(audit.lines[1].starts_with("refused alice POST /v1/sessions/3/set ")) << audit.lines[1];
}

TEST_F(ControlApi, no_body_keeps_what_is_changed_out_of_the_audit_log) {
  ask("POST", "/v1/sessions/3/set", std::string(8192, ' ') + R"({"next_out": 12})", "*");
  ASSERT_EQ(audit.lines.size(), 2U);
  EXPECT_EQ(audit.lines[0], R"(requested alice POST /v1/sessions/3/set {"next_out":12} If-Match: *)");
}

TEST_F(ControlApi, attempts_without_the_right_cannot_fill_the_disk_of_the_audit_log) {
  for (int i = 0; i < 100; ++i) ask("POST", "/v1/engine/stop", {}, {}, Role::none);
  EXPECT_EQ(audit.lines.size(), 10U);
}

TEST_F(ControlApi, a_caller_has_so_many_requests_a_second) {
  unsigned refused = 0;
  for (std::uint64_t i = 0; i < Api::burst + 10; ++i) refused += ask("GET", "/v1/engine").status == 429 ? 1U : 0U;
  EXPECT_EQ(refused, 10U);
  now.monotonic += std::chrono::seconds{1};
  EXPECT_EQ(ask("GET", "/v1/engine").status, 200U);
}

TEST_F(ControlApi, is_ready_while_it_serves_and_healthy_while_it_answers) {
  EXPECT_EQ(ask("GET", "/readyz", {}, {}, Role::none).status, 200U);
  target.draining = true;
  EXPECT_EQ(ask("GET", "/readyz", {}, {}, Role::none).status, 503U);
  EXPECT_EQ(ask("GET", "/healthz", {}, {}, Role::none).status, 200U);
  target.all_answer = false;
  now.monotonic += Api::health_lasts;
  EXPECT_EQ(ask("GET", "/healthz", {}, {}, Role::none).status, 503U);
}

TEST_F(ControlApi, requests_of_health_without_a_token_are_answered_and_bounded) {
  for (std::uint64_t i = 0; i < 3 * Api::burst; ++i)
    ASSERT_EQ(ask("GET", i % 2 == 0 ? "/healthz" : "/readyz", {}, {}, Role::none).status, 200U);
  EXPECT_EQ(target.asked_all, 1);
}

TEST_F(ControlApi, who_has_no_role_does_not_learn_which_paths_there_are) {
  for (const std::string_view path : {"/v1/engine/stop", "/v1/nope", "/healthz", "/v1/sessions/3/set"}) {
    const Answer answer = ask("PUT", path, {}, {}, Role::none);
    EXPECT_EQ(answer.status, 401U) << path;
    EXPECT_EQ(answer.allow, "") << path;
  }
}

TEST_F(ControlApi, what_another_operator_has_changed_refuses_each_command_that_states_an_etag) {
  for (const Route& route : routes()) {
    if (!route.takes_etag()) continue;
    SCOPED_TRACE(route.path);
    for (const std::string_view etag :
         {"\"3.5.8.0\"", "\"3.4.9.0\"", "\"4.5.9.0\"", "\"3.5.9.1\"", "\"3.5.9\"", "\"x\""}) {
      target.changes = 0;
      const Answer answer = ask(route.method, path_of(route, "FIX.4.4:A-%3EB"), body_of(route), etag);
      EXPECT_EQ(answer.status, 412U) << etag;
      EXPECT_EQ(target.changes, 0) << etag;
      now.monotonic += std::chrono::seconds{1};
    }
    EXPECT_EQ(ask(route.method, path_of(route, "FIX.4.4:A-%3EB"), body_of(route), "\"3.5.9.0\"").status, 200U);
  }
}

TEST_F(ControlApi, an_etag_and_expected_numbers_that_contradict_each_other_change_nothing) {
  const std::string_view set = "/v1/sessions/3/set";
  EXPECT_EQ(ask("POST", set, R"({"next_out": 12, "expected": {"next_out": 7}})", "\"3.5.9.0\"").status, 412U);
  EXPECT_EQ(target.changes, 0);
  EXPECT_EQ(ask("POST", set, R"({"next_out": 12, "expected": {"next_out": 9}})", "\"3.5.9.0\"").status, 200U);
}

TEST_F(ControlApi, a_session_of_a_poll_thread_that_does_not_answer_is_not_one_that_is_not_there) {
  target.all_answer = false;
  const Answer answer = ask("POST", "/v1/sessions/FIX.4.4:A-%3EX/drop");
  EXPECT_EQ(answer.status, 504U);
  EXPECT_TRUE(answer.try_again);
}

TEST_F(ControlApi, what_may_succeed_later_says_so) {
  audit.works = false;
  const Answer answer = ask("POST", "/v1/engine/stop");
  EXPECT_EQ(answer.status, 503U);
  EXPECT_TRUE(answer.try_again);
}

TEST_F(ControlApi, metrics_are_open_metrics) {
  const Answer answer = ask("GET", "/metrics", {}, {}, Role::viewer);
  EXPECT_EQ(answer.body, "# TYPE nfx_test counter\n# HELP nfx_test A test.\nnfx_test_total 7\n# EOF\n");
  EXPECT_TRUE(answer.type.starts_with("application/openmetrics-text"));
}

TEST_F(ControlApi, metrics_are_text_for_who_knows_no_other_format) {
  const auto type_for = [this](std::string_view accept) {
    return api.answer({.method = "GET", .target = "/metrics", .accept = accept, .caller = caller_of(Role::viewer)})
        .type;
  };
  EXPECT_TRUE(type_for("text/plain;version=0.0.4").starts_with("text/plain; version=0.0.4"));
  EXPECT_TRUE(type_for("*/*").starts_with("application/openmetrics-text"));
  EXPECT_TRUE(type_for("application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1")
                  .starts_with("application/openmetrics-text"));
}

TEST_F(ControlApi, latencies_can_be_read_in_the_log_format_of_hdr_histogram) {
  const Answer answer = ask("GET", "/v1/latency?window=1min&format=hdr", {}, {}, Role::viewer);
  EXPECT_EQ(answer.status, 200U);
  EXPECT_TRUE(answer.type.starts_with("text/plain"));
  EXPECT_TRUE(answer.body.contains("Tag=FIX.4.4:A->B/in_application,")) << answer.body;
  EXPECT_EQ(ask("GET", "/v1/latency?format=csv", {}, {}, Role::viewer).status, 400U);
  target.measures = false;
  EXPECT_FALSE(ask("GET", "/v1/latency?format=hdr", {}, {}, Role::viewer).body.contains("Tag="));
}

TEST_F(ControlApi, latencies_are_those_of_the_window_and_session_that_were_asked_for) {
  const auto all = nlohmann::json::parse(ask("GET", "/v1/latency").body);
  EXPECT_EQ(target.windows.back(), LatencyWindow::ten_seconds);
  EXPECT_EQ(all["sessions"].size(), 2U);
  const auto one =
      nlohmann::json::parse(ask("GET", "/v1/latency?window=1min&session=FIX.4.4%3AA-%3EC", {}, {}, Role::viewer).body);
  EXPECT_EQ(target.windows.back(), LatencyWindow::minute);
  ASSERT_EQ(one["sessions"].size(), 1U);
  EXPECT_EQ(one["sessions"][0]["name"], "FIX.4.4:A->C");
  const auto& stages = one["sessions"][0]["stages"];
  EXPECT_EQ(stages.size(), 1U) << "stages without a latency are left out";
  EXPECT_EQ(stages["in_application"]["count"], 100);
  EXPECT_GE(stages["in_application"]["p99_ns"], 7000);
  EXPECT_LE(stages["in_application"]["p99_ns"], 7875);
  EXPECT_EQ(one["threads"][0]["handling"]["count"], 1);
  EXPECT_EQ(one["threads"][0]["poll_gap"], (nlohmann::json{{"count", 0}}));
  target.measures = false;
  EXPECT_EQ(nlohmann::json::parse(ask("GET", "/v1/latency").body)["measured"], false);
}

TEST_F(ControlApi, the_slowest_moments_have_their_causes) {
  const auto json = nlohmann::json::parse(ask("GET", "/v1/slowest?window=start", {}, {}, Role::viewer).body);
  EXPECT_EQ(target.windows.back(), LatencyWindow::since_start);
  ASSERT_EQ(json["moments"].size(), 1U);
  EXPECT_EQ(json["moments"][0]["cause"], "disk");
  EXPECT_EQ(json["moments"][0]["took_ns"], 3'000'000);
  EXPECT_TRUE(nlohmann::json::parse(ask("GET", "/v1/slowest?session=other").body)["moments"].empty());
}

TEST_F(ControlApi, threads_have_what_the_kernel_counts_of_each) {
  const auto json = nlohmann::json::parse(ask("GET", "/v1/threads", {}, {}, Role::viewer).body);
  ASSERT_EQ(json["running"].size(), 1U);
  EXPECT_EQ(json["running"][0]["run_ns"], 1'500'000);
  EXPECT_EQ(json["running"][0]["poll_thread"], 0);
  EXPECT_EQ(json["running"][0]["cpu_stolen_ns"], 30'000'000);
  EXPECT_TRUE(json["running"][0]["migrations"].is_null());
}

TEST_F(ControlApi, messages_come_field_by_field_after_those_that_are_known) {
  const auto json = nlohmann::json::parse(ask("GET", "/v1/sessions/FIX.4.4%3AA-%3EB/messages?after=6&limit=5").body);
  EXPECT_EQ(json["dropped"], 2);
  ASSERT_EQ(json["messages"].size(), 1U);
  EXPECT_EQ(json["messages"][0]["direction"], "out");
  EXPECT_EQ(json["messages"][0]["fields"], (nlohmann::json{{35, "D"}, {58, "a\\x0a"}}));
  EXPECT_TRUE(nlohmann::json::parse(ask("GET", "/v1/sessions/3/messages?after=7").body)["messages"].empty());
  EXPECT_TRUE(nlohmann::json::parse(ask("GET", "/v1/sessions/3/messages?limit=0").body)["messages"].empty());
  EXPECT_EQ(ask("GET", "/v1/sessions/4/messages").status, 404U);
  EXPECT_EQ(ask("GET", "/v1/sessions/nobody/messages").status, 404U);
}

TEST_F(ControlApi, who_begins_to_read_messages_is_in_the_audit_log_once) {
  for (int i = 0; i < 200; ++i) {
    now.monotonic += std::chrono::seconds{1};
    ask("GET", "/v1/sessions/3/messages?after=" + std::to_string(i));
  }
  ASSERT_EQ(audit.lines.size(), 1U);
  EXPECT_EQ(audit.lines[0], "reads messages alice GET /v1/sessions/3/messages?after=0 ");
  now.monotonic += Api::reading_ends_after;
  ask("GET", "/v1/sessions/3/messages");
  EXPECT_EQ(audit.lines.size(), 2U);
}

TEST_F(ControlApi, messages_are_not_shown_while_the_audit_log_cannot_be_written) {
  audit.works = false;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ask("GET", "/v1/sessions/3/messages").status, 503U);
  EXPECT_EQ(target.looks, 0);
  audit.works = true;
  EXPECT_EQ(ask("GET", "/v1/sessions/3/messages").status, 200U);
}

TEST_F(ControlApi, a_journal_is_shown_verified_and_its_last_messages_read) {
  const auto shown = nlohmann::json::parse(ask("GET", "/v1/sessions/3/store", {}, {}, Role::viewer).body);
  EXPECT_EQ(shown["last"], 8);
  EXPECT_EQ(shown["segments"], (nlohmann::json{{"files", 2}, {"bytes", 4096}}));
  const auto verified = nlohmann::json::parse(ask("GET", "/v1/sessions/3/store/verify?from=512").body);
  EXPECT_EQ(verified["result"], "ok");
  EXPECT_EQ(verified["from"], 512);
  EXPECT_EQ(verified["to"], 700);
  EXPECT_EQ(nlohmann::json::parse(ask("GET", "/v1/sessions/3/store/tail").body)["messages"].size(), 10U);
  EXPECT_EQ(nlohmann::json::parse(ask("GET", "/v1/sessions/3/store/tail?limit=2").body)["messages"].size(), 2U);
  EXPECT_EQ(audit.lines, (std::vector<std::string>{"reads store alice GET /v1/sessions/3/store/verify?from=512 ",
                                                   "reads store alice GET /v1/sessions/3/store/tail "}));
  for (const std::string_view bad : {"/v1/sessions/3/store/tail?limit=65", "/v1/sessions/3/store/verify?from=x"})
    EXPECT_EQ(ask("GET", bad).status, 400U) << bad;
  EXPECT_EQ(ask("GET", "/v1/sessions/4/store").status, 404U);
}

TEST_F(ControlApi, what_is_wrong_with_a_journal_is_in_the_answer) {
  const auto result = [this] { return nlohmann::json::parse(ask("GET", "/v1/sessions/3/store/verify").body); };
  target.next_verified.answer.damage = JournalDamage{.file = "/store/1", .offset = 96, .reason = "a checksum"};
  EXPECT_EQ(result()["result"], "damaged");
  EXPECT_EQ(result()["findings"],
            (nlohmann::json::array({{{"file", "/store/1"}, {"offset", 96}, {"what", "a checksum"}}})));
  target.next_verified.answer.torn = true;
  EXPECT_EQ(result()["result"], "torn");
  target.next_verified.answer.found = 1;
  EXPECT_EQ(result()["result"], "damaged");
}

TEST_F(ControlApi, says_whether_threads_run_as_planned) {
  const auto result = [this] { return nlohmann::json::parse(ask("GET", "/v1/placement").body); };
  EXPECT_EQ(result()["result"], "no_plan");
  target.placed = PlacementReport{.plan = "0011223344556677", .problems = {}};
  EXPECT_EQ(result()["result"], "as_planned");
  target.placed->problems = {"nfx-poll-0 may run on CPU 0-1, and is planned for CPU 1"};
  EXPECT_EQ(result()["result"], "differs");
  EXPECT_EQ(result()["problems"].size(), 1U);
}

TEST_F(ControlApi, plans_of_a_reload_are_made_once_a_second) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(ask("GET", "/v1/engine/reload").status, 200U);
  const Answer refused = ask("GET", "/v1/engine/reload");
  EXPECT_EQ(refused.status, 429U);
  EXPECT_TRUE(refused.try_again);
  EXPECT_EQ(ask("POST", "/v1/engine/reload").status, 200U) << "a reload itself is not limited";
  now.monotonic += std::chrono::seconds{1};
  EXPECT_EQ(ask("GET", "/v1/engine/reload").status, 200U);
}

TEST_F(ControlApi, a_query_has_only_parameters_that_the_route_takes) {
  for (const std::string_view target_of :
       {"/v1/latency?window=2s", "/v1/latency?windows=1s", "/v1/latency?after=1", "/v1/latency?window=1s&window=1s",
        "/v1/latency?session=%", "/v1/sessions/3/messages?limit=257", "/v1/sessions/3/messages?limit=-1",
        "/v1/sessions/3/messages?after=", "/v1/sessions/3/messages?after"}) {
    const Answer answer = ask("GET", target_of);
    EXPECT_EQ(answer.status, 400U) << target_of;
  }
  EXPECT_TRUE(target.windows.empty());
  EXPECT_EQ(target.looks, 0);
  EXPECT_EQ(ask("GET", "/v1/latency?").status, 200U);
  EXPECT_EQ(ask("GET", "/v1/engine?x=1").status, 404U) << "this one takes none";
}

TEST(ControlRoutes, decodes_what_a_path_has) {
  EXPECT_EQ(percent_decoded("a%3Eb"), "a>b");
  EXPECT_EQ(percent_decoded(percent_encoded("FIX.4.4:A/B->C%")), "FIX.4.4:A/B->C%");
  for (const std::string_view bad : {"%", "%3", "%zz", "a%0", "%00"}) EXPECT_FALSE(percent_decoded(bad)) << bad;
  EXPECT_EQ(find_route("POST", "/v1/sessions/a%2Fb/set").session, "a/b");
  EXPECT_EQ(find_route("GET", "/v1/sessions/").route, nullptr);
  EXPECT_EQ(find_route("POST", "/v1/sessions//set").route, nullptr);
  EXPECT_EQ(find_route("POST", "/v1/sessions/a/set/").route, nullptr);
  EXPECT_EQ(find_route("GET", "/v1/sessions/" + std::string(5000, 'x')).route, nullptr);
}

TEST(ControlDocument, has_every_command) {
  std::string commands = "| command | arguments | what it does |\n|---|---|---|\n";
  for (const SessionCommandRow& row : session_command_rows) {
    std::string arguments;
    const auto add = [&](unsigned argument, std::string_view options) {
      if (row.takes(argument)) arguments.append(arguments.empty() ? "" : ", ").append(options);
    };
    add(CommandArguments::numbers, "`--next-in`, `--next-out`");
    add(CommandArguments::from, "`--from`");
    add(CommandArguments::expected, "`--expect-in`, `--expect-out`, `--force`");
    add(CommandArguments::text, "`--text`");
    commands.append("| `nfx session ").append(row.name).append("` | ").append(arguments);
    commands.append(arguments.empty() ? "| " : " | ").append(row.help).append(" |\n");
  }
  test::expect_table_in("docs/control.md", commands);
}

// The name of the schema that a part of the description refers to; empty if none.
std::string referred(const nlohmann::ordered_json& part) {
  const std::string to = part.value("$ref", "");
  return to.substr(to.rfind('/') + 1);
}

std::string joined(const nlohmann::ordered_json& texts) {
  std::string all;
  for (const auto& each : texts) all.append(all.empty() ? "" : ", ").append(each.get<std::string>());
  return all;
}

// "`sessions` (SessionChange)", "`state` (serving, draining, stopping)", with '?' after an optional one.
std::string members_of(const nlohmann::ordered_json& schema) {
  std::string all;
  for (const auto& each : schema.value("oneOf", nlohmann::ordered_json::array()))
    all.append(all.empty() ? "" : "; or ").append(members_of(each));
  const auto required = schema.value("required", nlohmann::ordered_json::array());
  const auto properties = schema.value("properties", nlohmann::ordered_json::object());
  for (const auto& [name, member] : properties.items()) {
    all.append(all.empty() ? "`" : ", `").append(name).append("`");
    if (std::find(required.begin(), required.end(), name) == required.end()) all += '?';
    std::string what = referred(member) + referred(member.value("items", nlohmann::ordered_json::object()));
    for (const auto& each : member.value("oneOf", nlohmann::ordered_json::array())) what += referred(each);
    if (member.contains("enum")) what = joined(member["enum"]);
    if (member.contains("const") && member["const"].is_string()) what = member["const"].get<std::string>();
    if (member.contains("properties")) what = members_of(member);
    if (!what.empty()) all.append(" (").append(what).append(")");
  }
  return all;
}

// Every change of the API appears in these tables: no route, role, operation, refusal or member changes unnoticed.
TEST(ControlDocument, has_every_route_every_refusal_and_every_member_of_every_document) {
  const auto described = nlohmann::ordered_json::parse(openapi());
  const auto& components = described["components"];
  std::string requests =
      "| request | role | operation | answer | refusals of its own | what it does |\n|---|---|---|---|---|---|\n";
  for (const Route& route : routes()) {
    std::string query, refusals;
    for (const QueryParameter& each : route.query) query.append(query.empty() ? "?" : "&").append(each.name);
    for (const std::string_view each : route.refusals) refusals.append(refusals.empty() ? "" : ", ").append(each);
    const auto& answer =
        described["paths"][route.path][route.changes() ? "post" : "get"]["responses"]["200"]["content"];
    const bool has_document = answer.contains("application/json");
    const std::string document = has_document ? referred(answer["application/json"]["schema"]) : "";
    requests.append("| `").append(route.method).append(" ").append(route.path).append(query).append("` | ");
    requests.append(to_string(route.role)).append(" | `").append(route.operation).append("` | ");
    requests.append(document.empty() ? "-" : document).append(" | ").append(refusals.empty() ? "-" : refusals);
    requests.append(" | ").append(route.summary).append(" |\n");
  }
  test::expect_table_in("docs/control.md", requests);
  std::string refusals = "| refusal | status | `type`, after `urn:nexusfix:problem:` | when |\n|---|---|---|---|\n";
  std::string documents = "| document | members |\n|---|---|\n";
  for (const auto& [name, schema] : components["schemas"].items()) {
    if (!schema.contains("allOf")) {
      documents.append("| ").append(name).append(" | ").append(members_of(schema)).append(" |\n");
      continue;
    }
    const auto& own = schema["allOf"][1]["properties"];
    std::string types = joined(own["type"]["enum"]);
    for (std::size_t at = 0; (at = types.find("urn:nexusfix:problem:")) != std::string::npos;) types.erase(at, 21);
    const std::string plain = name.substr(0, name.size() - std::string_view{"Problem"}.size());
    refusals.append("| ").append(plain).append(" | ").append(own["status"]["enum"][0].dump()).append(" | ");
    refusals.append(types).append(" | ");
    refusals.append(components["responses"][plain]["description"].get<std::string>()).append(" |\n");
  }
  test::expect_table_in("docs/control.md", refusals);
  test::expect_table_in("docs/control.md", documents);
}

}  // namespace
}  // namespace nfx::control
