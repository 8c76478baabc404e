// From a request of a known caller to its answer: rights, arguments, the command, the audit log, the document.
// Thread: the control plane's, and Work on another. Cost: waits for poll threads, two seconds for each at most; what
// reads files is Work. Errors: every fault of a request is an answer, a problem document (RFC 9457).
#pragma once

#include <atomic>
#include <cstddef>
#include <expected>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>

#include "control/access.hpp"
#include "control/audit_log.hpp"
#include "control/routes.hpp"
#include "control/target.hpp"
#include "nexusfix/session/token_bucket.hpp"

namespace nfx::control {

struct Request {
  std::string_view method;
  std::string_view target;
  std::string_view if_match{};
  std::string_view content_type{};
  std::string_view accept{};
  std::string_view body{};
  Caller caller{};
};

struct Answer {
  unsigned status = 200;
  std::string type = "application/json";
  std::string body{};
  std::string etag{};
  std::string allow{};        // of 405
  bool try_again = false;     // in a second
  bool authenticate = false;  // of 401
};

// What a request leaves to another thread. It owns what it needs, and no two of an Api run at the same time.
struct Work {
  std::function<Answer()> run{};
  bool changes = false;
};
using AnswerOrWork = std::variant<Answer, Work>;

class Api {
 public:
  static constexpr std::uint32_t requests_per_second = 200;  // of one caller
  static constexpr std::uint64_t burst = 400;
  static constexpr std::size_t largest_body = std::size_t{16} * 1024;
  // So much work of all callers is not done yet, and so much of it may only read; a further request gets 503.
  static constexpr std::size_t most_work = 16;
  static constexpr std::size_t most_reading_work = 8;
  static constexpr Duration health_lasts{std::chrono::milliseconds{100}};
  // Who has not requested a session's messages for this duration begins again.
  static constexpr Duration reading_ends_after{std::chrono::minutes{1}};

  // All outlive it. `clock` is the time of an event, on both threads.
  Api(Target& target, AuditLog& audit, std::function<Instant()> clock)
      : target_(target), audit_(audit), clock_(std::move(clock)) {}

  [[nodiscard]] AnswerOrWork begin(const Request& request);
  // The same, and does the work on this thread.
  [[nodiscard]] Answer answer(const Request& request);

 private:
  // Who requests what, for the audit log.
  struct Audited {
    explicit Audited(const Request& request)
        : caller(request.caller), what(std::string{request.method} + ' ' + std::string{request.target}) {}
    Caller caller;
    std::string what;
  };

  [[nodiscard]] AnswerOrWork permitted(const Match& match, const Request& request);
  [[nodiscard]] Answer read(const Route& route, const Request& request, const Query& query);
  [[nodiscard]] Answer metrics(std::string_view accept);
  [[nodiscard]] AnswerOrWork plan_reload(const Request& request);
  [[nodiscard]] Answer latency(const Query& query);
  [[nodiscard]] Answer slowest(const Query& query);
  [[nodiscard]] AnswerOrWork read_session(const Route& route, const Request& request, const std::string& session,
                                          const Query& query);
  [[nodiscard]] AnswerOrWork read_store(Resource resource, std::size_t session, const Query& query);
  [[nodiscard]] Answer messages(std::size_t session, const Query& query);
  [[nodiscard]] AnswerOrWork add(const Request& request);
  [[nodiscard]] Work reload(const Audited& by);
  [[nodiscard]] AnswerOrWork change_session(const Request& request, const std::string& session);
  [[nodiscard]] Answer set_log_level(const Request& request);
  [[nodiscard]] AnswerOrWork change(const Route& route, const Request& request);
  [[nodiscard]] Answer carry_out(Resource resource, std::string_view text, const Audited& by);
  [[nodiscard]] Answer command(const Route& route, const Request& request, const std::string& session);
  [[nodiscard]] std::expected<std::size_t, CommandStatus> number_of(const std::string& session);
  [[nodiscard]] bool answers();
  [[nodiscard]] bool begins_to_read(const std::string& caller, std::size_t session, Resource resource);
  [[nodiscard]] Work leave(bool changes, std::function<Answer()> run);
  [[nodiscard]] bool within_rate(const std::string& caller);
  [[nodiscard]] bool audit(const Audited& by, std::string_view event, std::string_view detail);

  Target& target_;
  AuditLog& audit_;
  std::mutex audit_mutex_;
  const std::function<Instant()> clock_;
  std::map<std::string, TokenBucket, std::less<>> rates_;
  // Who reads the messages or the journal of which session, and when last: a line of the audit log for each that
  // begins.
  std::map<std::tuple<std::string, std::size_t, Resource>, MonotonicTime> readers_;
  bool answered_ = false;  // all poll threads, at `answered_at_`
  std::optional<MonotonicTime> answered_at_;
  // Attempts without the right have so many lines in the audit log, so that they cannot fill its disk.
  TokenBucket forbidden_lines_{1, 10};
  std::atomic<std::size_t> work_{0};  // that is not done yet
  // A plan of a reload reads the file with all its dictionaries.
  TokenBucket plans_{1, 4};
};

// "\"3.120.97\"": number, next in and next out, so that it changes with them.
[[nodiscard]] std::string etag_of(const SessionStatus& session);

// A problem document. `kind` ends its type: "urn:nexusfix:problem:no-such-session".
[[nodiscard]] Answer problem(unsigned status, std::string_view kind, std::string_view detail);

// The description of the routes, docs/control-openapi.json.
[[nodiscard]] std::string openapi();

}  // namespace nfx::control
