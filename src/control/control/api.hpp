// Passes a request of a known caller to the handler of its route: rights, limits, the audit log. Handlers make changes
// through change(), which writes both audit lines.
// Thread: the control plane's; Work runs on another. Cost: waits for poll threads, at most two seconds for each;
// anything that reads files is Work. Errors: every fault of a request is an answer, a problem document (RFC 9457).
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

#include "control/audit_log.hpp"
#include "control/routes.hpp"
#include "control/target.hpp"
#include "nexusfix/session/token_bucket.hpp"

namespace nfx::control {

class Api {
 public:
  static constexpr std::uint32_t requests_per_second = 200;  // per caller
  static constexpr std::uint64_t burst = 400;
  static constexpr std::size_t largest_body = std::size_t{16} * 1024;
  // Maximum amount of unfinished work of all callers, and of unfinished work that only reads; a further request gets
  // 503.
  static constexpr std::size_t most_work = 16;
  static constexpr std::size_t most_reading_work = 8;
  static constexpr Duration health_lasts{std::chrono::milliseconds{100}};
  // A caller who has not requested a session's messages for this long counts as a new reader.
  static constexpr Duration reading_ends_after{std::chrono::minutes{1}};

  // All arguments must outlive the Api. `clock` gives the time of an event, on both threads.
  Api(Target& target, AuditLog& audit, std::function<Instant()> clock)
      : target_(target), audit_(audit), clock_(std::move(clock)) {}

  [[nodiscard]] AnswerOrWork begin(const Request& request);
  // The same, but does the work on this thread.
  [[nodiscard]] Answer answer(const Request& request);

  // For handlers.
  [[nodiscard]] Target& target() noexcept { return target_; }
  // Whether all poll threads answer, now or within the last health_lasts.
  [[nodiscard]] bool answers();
  // Whether another reload plan may be made now: it reads the file with all its dictionaries.
  [[nodiscard]] bool may_plan() { return plans_.take(clock_().monotonic); }
  // The session's number, or an answer that it does not exist.
  [[nodiscard]] std::expected<std::size_t, Answer> session_of(const Call& call);
  // The same for a route that reads. Writes an audit line if the route shows messages or journals.
  [[nodiscard]] std::expected<std::size_t, Answer> session_read_by(const Call& call);
  [[nodiscard]] bool audit(const Request& request, std::string_view event, std::string_view detail = {});
  // Runs `read` here, or on the worker's thread if the route requires it.
  [[nodiscard]] AnswerOrWork read(const Call& call, std::function<Answer()> run);
  // The same for a change. Writes "requested" to the audit log before and the outcome after it; without the first line
  // nothing is changed.
  [[nodiscard]] AnswerOrWork change(const Call& call, std::string_view detail, std::function<Outcome()> run);

 private:
  [[nodiscard]] AnswerOrWork permitted(const Match& match, const Request& request);
  [[nodiscard]] bool begins_to_read(const Call& call, std::size_t session);
  [[nodiscard]] bool within_rate(const std::string& caller);
  [[nodiscard]] bool write_line(const Caller& caller, std::string_view what, std::string_view event,
                                std::string_view detail);

  Target& target_;
  AuditLog& audit_;
  std::mutex audit_mutex_;
  const std::function<Instant()> clock_;
  std::map<std::string, TokenBucket, std::less<>> rates_;
  // The readers of each session's messages or journal, with the time of their last request. Each new reader gets an
  // audit line.
  std::map<std::tuple<std::string, std::size_t, const Route*>, MonotonicTime> readers_;
  bool answered_ = false;  // all poll threads, at `answered_at_`
  std::optional<MonotonicTime> answered_at_;
  // Limits audit lines for forbidden requests, so that they cannot fill the disk.
  TokenBucket forbidden_lines_{1, 10};
  std::atomic<std::size_t> work_{0};  // unfinished work
  TokenBucket plans_{1, 4};           // for all callers
};

}  // namespace nfx::control
