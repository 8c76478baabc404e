// Code that concerns several parts of a poll loop.
#include "engine/loop_parts.hpp"

#include <algorithm>

namespace nfx {

void LoopParts::start() {
  admission.start();
  sessions.start();
}

void LoopParts::take_commands() {
  for (LoopCommand& command : commands.take()) {
    switch (command.kind) {
      case LoopCommand::Kind::add: sessions.add_made(command); break;
      case LoopCommand::Kind::remove:
        if (SessionDriver* const session = sessions.find(command.number)) session->begin_removal(command.text);
        break;
      case LoopCommand::Kind::logon_again: admission.logon_again(command.connection); break;
      case LoopCommand::Kind::hand_on: admission.hand_on(command); break;
      case LoopCommand::Kind::opened: admission.opened(command); break;
      case LoopCommand::Kind::call: command.call->run(operators); break;
    }
  }
}

SubmitResult LoopParts::submit(std::size_t session, const Outgoing& message, SubmitOptions options) noexcept {
  const SubmitResult result = submitted.queue().submit(session, message, options);
  if (result) context.network.wake();
  return result;
}

bool LoopParts::remove(std::size_t session, std::string text) {
  if (!commands.remove(session, std::move(text))) return false;
  context.network.wake();
  return true;
}

bool LoopParts::push(std::shared_ptr<LoopCall> call) {
  if (!commands.push(std::move(call))) return false;
  context.network.wake();
  return true;
}

void LoopParts::figures(std::vector<SessionFigures>& into) const {
  into.resize(sessions.places());
  into.resize(sessions.page(0, std::span{into}).count);
}

void LoopParts::stop_sessions() {
  NFX_ASSERT(!context.stopping);
  context.stopping = true;
  sessions.stop();
  admission.stop();
}

MonotonicTime LoopParts::next_deadline() const noexcept {
  return std::min({context.deadlines.earliest(), admission.deadline(), context.reports.omitted_due()});
}

PollLoopCounters LoopParts::counters() const noexcept {
  PollLoopCounters counters = context.counters();
  add_counters(counters, admission.counters());
  add_counters(counters, submitted.queue().counters());
  return counters;
}

}  // namespace nfx
