// Begins and ends the copying of a session's messages, and makes them readable.
#include "engine/message_taps.hpp"

#include <algorithm>
#include <utility>

#include "engine/operator_requests.hpp"

namespace nfx {

RecentMessages MessageTaps::read(PollThread& thread, std::size_t session, std::uint64_t after, std::size_t most,
                                 MonotonicTime now, Duration timeout) {
  const std::lock_guard lock{mutex_};
  release_old(session, now, timeout);
  RecentMessages answer;
  Tapped* tapped = find(session);
  if (tapped == nullptr && tapped_.size() == RecentMessages::most_sessions) {
    answer.status = CommandStatus::busy;
    return answer;
  }
  std::unique_ptr<Tapped> made;
  if (tapped == nullptr) {
    made = std::make_unique<Tapped>(thread, session);
    tapped = made.get();
  }
  tapped->tap.extend(now + RecentMessages::copied_for);
  // Its poll thread may remove it at this very moment, where the time was over: then the next call attaches it again.
  if (!tapped->tap.attached()) {
    answer.status = attach(*tapped, timeout);
    if (answer.status != CommandStatus::done) return answer;
    answer.began = true;
  }
  if (made) tapped_.push_back(std::move(made));
  take(*tapped);
  answer.status = CommandStatus::done;
  answer.dropped = tapped->tap.dropped();
  const auto& recent = tapped->recent;
  auto begin = std::ranges::upper_bound(recent, after, {}, &RecentMessage::number);
  const auto there = static_cast<std::size_t>(recent.end() - begin);
  if (there > most) begin += static_cast<std::ptrdiff_t>(there - most);
  answer.messages.assign(begin, recent.end());
  return answer;
}

// One whose poll thread does not answer stays until it does.
void MessageTaps::release_old(std::size_t session, MonotonicTime now, Duration timeout) {
  std::erase_if(tapped_, [&](const std::unique_ptr<Tapped>& each) {
    MessageTap& tap = each->tap;
    if (tap.session() == session || now < tap.until()) return false;
    if (!tap.attached()) return true;
    const CallResult result =
        call_on(each->thread, [&tap](OperatorRequests& requests) { requests.detach(tap); }, timeout);
    return result == CallResult::done;
  });
}

MessageTaps::Tapped* MessageTaps::find(std::size_t session) noexcept {
  const auto found =
      std::ranges::find_if(tapped_, [session](const auto& each) { return each->tap.session() == session; });
  return found == tapped_.end() ? nullptr : found->get();
}

CommandStatus MessageTaps::attach(Tapped& tapped, Duration timeout) {
  CommandStatus status = CommandStatus::no_such_session;
  const CallResult result =
      call_on(tapped.thread, [&](OperatorRequests& requests) { status = requests.attach(tapped.tap); }, timeout);
  if (result == CallResult::busy) return CommandStatus::busy;
  if (result == CallResult::timed_out) return CommandStatus::timed_out;
  return status;
}

void MessageTaps::take(Tapped& tapped) {
  tapped.tap.take([&](UtcTime time, Direction direction, std::size_t size, std::string_view bytes) {
    if (tapped.recent.size() == RecentMessages::most_messages) tapped.recent.pop_front();
    tapped.recent.push_back({.number = ++last_number_,
                             .time = time,
                             .direction = direction,
                             .size = size,
                             .cut = bytes.size() < size,
                             .fields = shown_fields(bytes)});
  });
}

}  // namespace nfx
