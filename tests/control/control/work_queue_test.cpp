// Requests that leave work to another thread: others are answered meanwhile, and the amount of waiting work is bounded.
#include "control/work_queue.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <condition_variable>
#include <fstream>
#include <future>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "control/fake_target.hpp"
#include "control/http_server.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/control/client.hpp"
#include "temporary_folder.hpp"

namespace nfx::control {
namespace {

using namespace std::chrono_literals;

// Work waits here until the test opens the gate.
class Gate {
 public:
  void pass() {
    std::unique_lock lock{mutex_};
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    --waiting_;
  }
  bool wait_for_one() {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, 10min, [this] { return waiting_ != 0; });
  }
  void open() { set(true); }
  void close() { set(false); }

 private:
  void set(bool open) {
    const std::lock_guard lock{mutex_};
    open_ = open;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

class ControlWork : public ::testing::Test {
 protected:
  static std::vector<Route> for_worker() {
    std::vector<Route> all = routes();
    std::erase_if(all, [](const Route& each) { return !each.on_worker; });
    return all;
  }
  AnswerOrWork begin(const Route& route) {
    const std::string path = path_of(route), body = body_of(route);
    now.monotonic += 2s;
    return api.begin({.method = route.method,
                      .target = path,
                      .content_type = body.empty() ? std::string_view{} : "application/json",
                      .body = body,
                      .caller = caller_of(Role::operator_)});
  }

  FakeTarget target;
  FakeAudit audit;
  Instant now{UtcTime{std::chrono::seconds{1'700'000'000}}, MonotonicTime{std::chrono::hours{1}}};
  Api api{target, audit, [this] { return now; }};
};

TEST_F(ControlWork, while_a_request_reads_files_others_are_answered) {
  if (!http_supported()) GTEST_SKIP() << http_unsupported;
  const test::TemporaryFolder folder;
  ControlConfig config;
  config.socket = folder.file("control.sock");
  Gate gate;
  std::mutex answering;  // protects members that the worker also uses, once the gate opens
  HttpServer server{{.config = config, .answer = [&](const Request& request) {
                       const std::lock_guard lock{answering};
                       now.monotonic += 1s;
                       AnswerOrWork made = api.begin(request);
                       if (Work* work = std::get_if<Work>(&made)) {
                         work->run = [&gate, run = std::move(work->run)] {
                           gate.pass();
                           return run();
                         };
                       }
                       return made;
                     }}};
  std::thread thread{[&] { server.run(); }}, worker{[&] { server.run_work(); }};
  const auto status_of = [&](const Route& route) {
    const auto reply = ask_control({.socket = config.socket},
                                   {.method = route.method, .target = path_of(route), .body = body_of(route)});
    const std::lock_guard lock{answering};
    return reply ? reply->status : 0U;
  };
  std::vector<Route> others = routes();
  std::erase_if(others, [](const Route& each) { return each.changes() || each.on_worker; });
  for (const Route& route : for_worker()) {
    SCOPED_TRACE(std::string{route.method} + ' ' + route.path);
    gate.close();
    auto slow = std::async(std::launch::async, [&] { return status_of(route); });
    EXPECT_TRUE(gate.wait_for_one());
    for (const Route& other : others) EXPECT_EQ(status_of(other), 200U) << other.path;
    EXPECT_EQ(slow.wait_for(0s), std::future_status::timeout) << "it waits for its turn";
    gate.open();
    EXPECT_EQ(slow.get(), 200U);
  }
  server.stop();
  thread.join();
  worker.join();
}

TEST_F(ControlWork, what_waits_is_bounded_and_a_further_request_is_busy) {
  std::vector<Work> left;
  const auto leave = [&](const Route& route) -> unsigned {
    AnswerOrWork made = begin(route);
    if (Work* work = std::get_if<Work>(&made)) {
      EXPECT_EQ(work->changes, route.changes());
      left.push_back(std::move(*work));
      return 0;
    }
    EXPECT_TRUE(std::get<Answer>(made).try_again);
    return std::get<Answer>(made).status;
  };
  for (const Route& route : for_worker()) {
    const std::size_t most = route.changes() ? Api::most_work : Api::most_reading_work;
    for (std::size_t i = 0; i < most; ++i) EXPECT_EQ(leave(route), 0U) << route.path;
    const std::size_t lines = audit.lines.size();
    EXPECT_EQ(leave(route), 503U) << route.path;
    EXPECT_EQ(audit.lines.size(), lines) << "it was not requested";
    EXPECT_EQ(left.back().run().status, 200U);
    left.pop_back();
    EXPECT_EQ(leave(route), 0U) << "one has been done";
    for (const Work& each : left) EXPECT_EQ(each.run().status, 200U);
    left.clear();
  }
}

TEST_F(ControlWork, that_fails_without_memory_waits_no_longer) {
  target.has_no_memory = true;
  for (std::size_t i = 0; i <= Api::most_work; ++i) {
    AnswerOrWork made = begin(*find_route("POST", "/v1/engine/drain").route);
    ASSERT_TRUE(std::holds_alternative<Work>(made)) << i;
    EXPECT_THROW(static_cast<void>(std::get<Work>(made).run()), std::bad_alloc);
  }
}

TEST(ControlWorkQueue, does_changes_before_reads_and_each_in_its_order) {
  WorkQueue queue;
  std::vector<std::string> done;
  const auto put = [&](std::string name, bool changes, bool last = false) {
    queue.put({.run = [name] { return Answer{.body = name}; }, .changes = changes}, [&, last](Answer answer) {
      done.push_back(std::move(answer.body));
      if (last) queue.stop();
    });
  };
  put("read", false);
  put("read again", false, true);
  put("change", true);
  put("change again", true);
  queue.run();
  EXPECT_EQ(done, (std::vector<std::string>{"change", "change again", "read", "read again"}));
}

TEST(ControlWorkQueue, leaves_what_has_not_begun_when_it_stops) {
  WorkQueue queue;
  int begun = 0;
  for (int i = 0; i < 2; ++i) {
    queue.put({.run =
                   [&] {
                     ++begun;
                     return Answer{};
                   }},
              [&](Answer) { queue.stop(); });
  }
  queue.run();
  EXPECT_EQ(begun, 1);
}

}  // namespace
}  // namespace nfx::control
