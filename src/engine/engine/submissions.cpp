// The producers' side of the queue: what is refused before it is queued, and the layout of a record.
#include "engine/submissions.hpp"

#include <algorithm>

#include "wire/raw_fields.hpp"

namespace nfx {
namespace {

// The fault of a message that the session would send and no receiver could divide into fields.
std::optional<SendError> fault_of(const Outgoing& message) noexcept {
  if (message.incomplete) return SendError::incomplete;
  if (!message.built && fault_of_fields(message.body).error != WriteError::none) return SendError::bad_message;
  return std::nullopt;
}

}  // namespace

std::string_view to_string(SubmitStatus status) noexcept {
  switch (status) {
    case SubmitStatus::queued: return "queued";
    case SubmitStatus::full: return "the queue is full";
    case SubmitStatus::too_long: return "the message is too long";
    case SubmitStatus::unknown_session: return "no such session";
    case SubmitStatus::not_logged_on: return "the session is not logged on";
  }
  return "?";
}

bool SessionId::matches(const SessionConfig& session) const noexcept {
  const auto equal = [](std::string_view wanted, const std::string& is) { return wanted == is; };
  const auto allows = [](std::string_view wanted, const std::string& is) { return wanted.empty() || wanted == is; };
  return equal(begin_string, session.begin_string) && equal(sender_comp_id, session.sender_comp_id) &&
         equal(target_comp_id, session.target_comp_id) && equal(session_qualifier, session.session_qualifier) &&
         allows(sender_sub_id, session.sender_sub_id) && allows(sender_location_id, session.sender_location_id) &&
         allows(target_sub_id, session.target_sub_id) && allows(target_location_id, session.target_location_id);
}

Submission Submission::of(std::span<const char> record) noexcept {
  Submission submission;
  NFX_ASSERT(record.size() >= sizeof submission.header);
  std::memcpy(&submission.header, record.data(), sizeof submission.header);
  const std::string_view text{record.data() + sizeof submission.header, record.size() - sizeof submission.header};
  const std::size_t type_size = submission.header.msg_type_size, body_size = submission.header.body_size;
  NFX_ASSERT(type_size + body_size <= text.size());
  submission.message = {.msg_type = text.substr(0, type_size),
                        .body = text.substr(type_size, body_size),
                        .header_fields = text.substr(type_size + body_size)};
  return submission;
}

Submissions::Submissions(const Limits& limits)
    : limits_(limits),
      queue_({.slot_count = limits.queue_bytes / slot_size,
              .record_size = longest(limits.queue_bytes, limits.max_message_size),
              .slot_size = slot_size}) {}

std::size_t Submissions::longest(std::size_t bytes, std::size_t max_message_size) noexcept {
  return std::min(max_message_size + sizeof(Submission::Header), bytes / 4);
}

std::unique_ptr<SpscQueue> Submissions::make_keep() const {
  // With space for the slots that a record skips at the end.
  const std::size_t record_size = longest(limits_.keep_bytes, limits_.max_message_size);
  return std::make_unique<SpscQueue>(SpscOptions{.slot_count = (limits_.keep_bytes + charge(record_size)) / slot_size,
                                                 .record_size = record_size,
                                                 .slot_size = slot_size});
}

void Submissions::add(std::size_t number, const SessionConfig& config, SubmitState& state) {
  const std::lock_guard lock{mutex_};
  sessions_.insert_or_assign(number, Listed{&config, &state});
}

void Submissions::remove(std::size_t number) noexcept {
  const std::lock_guard lock{mutex_};
  sessions_.erase(number);
}

void Submissions::close() noexcept {
  const std::lock_guard lock{mutex_};
  closed_ = true;
}

std::optional<std::size_t> Submissions::find(const SessionId& id) {
  const std::lock_guard lock{mutex_};
  const auto found =
      std::ranges::find_if(sessions_, [&id](const auto& each) { return id.matches(*each.second.config); });
  return found == sessions_.end() ? std::nullopt : std::optional{found->first};
}

SubmitResult Submissions::submit(std::size_t session, const Outgoing& message, SubmitOptions options) noexcept {
  const std::optional<SendError> fault = fault_of(message);
  const std::lock_guard lock{mutex_};
  const SubmitStatus status = push(session, message, options, fault);
  count(status);
  if (status != SubmitStatus::queued) return {.status = status};
  return {.status = status, .ticket = tickets_};
}

SubmitStatus Submissions::push(std::size_t session, const Outgoing& message, SubmitOptions options,
                               std::optional<SendError> fault) noexcept {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return SubmitStatus::unknown_session;
  if (closed_) return SubmitStatus::not_logged_on;
  SubmitState& state = *found->second.state;
  const bool keep = options.while_logged_off == WhileLoggedOff::keep;
  const std::size_t size =
      sizeof(Submission::Header) + message.msg_type.size() + message.body.size() + message.header_fields.size();
  if (keep) {
    if (size > longest(limits_.keep_bytes, limits_.max_message_size)) return SubmitStatus::too_long;
    if (state.keep_bytes.load(std::memory_order_relaxed) + charge(size) > limits_.keep_bytes) return SubmitStatus::full;
  } else if (!state.logged_on.load(std::memory_order_acquire)) {
    return SubmitStatus::not_logged_on;
  }
  const Submission::Header header{.ticket = tickets_ + 1,
                                  .session = session,
                                  .msg_type_size = static_cast<std::uint32_t>(message.msg_type.size()),
                                  .body_size = static_cast<std::uint32_t>(message.body.size()),
                                  .keep = keep,
                                  .report = options.report,
                                  .fault = fault};
  // Before the poll thread can subtract it.
  if (keep) state.keep_bytes.fetch_add(charge(size), std::memory_order_relaxed);
  queue_.hand_over_producer();
  const PushResult pushed =
      queue_.try_push(std::span<const char>{reinterpret_cast<const char*>(&header), sizeof header},
                      std::span<const char>{message.msg_type}, std::span<const char>{message.body.view()},
                      std::span<const char>{message.header_fields.view()});
  if (keep && pushed != PushResult::pushed) state.keep_bytes.fetch_sub(charge(size), std::memory_order_relaxed);
  switch (pushed) {
    case PushResult::pushed: break;
    case PushResult::full: return SubmitStatus::full;
    case PushResult::too_long: return SubmitStatus::too_long;
  }
  ++tickets_;
  return SubmitStatus::queued;
}

void Submissions::count(SubmitStatus status) noexcept {
  switch (status) {
    case SubmitStatus::queued: return count_shared(counters_.submitted);
    case SubmitStatus::full: return count_shared(counters_.submit_full);
    case SubmitStatus::too_long: return count_shared(counters_.submit_too_long);
    case SubmitStatus::unknown_session: return count_shared(counters_.submit_unknown_session);
    case SubmitStatus::not_logged_on: return count_shared(counters_.submit_not_logged_on);
  }
}

}  // namespace nfx
