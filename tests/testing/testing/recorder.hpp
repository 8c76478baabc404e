// An application that records its callbacks, and answers as the test requires.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nexusfix/testing.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::testing {

using namespace std::chrono_literals;

// Sessions without a dictionary, because messages of these tests have few fields.
inline SessionSettings plain_acceptor(std::string sender, std::string target, std::uint16_t port = default_port) {
  SessionSettings settings = acceptor(std::move(sender), std::move(target), port);
  settings.dictionary = nullptr;
  return settings;
}
inline SessionSettings plain_initiator(std::string sender, std::string target, std::uint16_t port = default_port) {
  SessionSettings settings = initiator(std::move(sender), std::move(target), port);
  settings.dictionary = nullptr;
  return settings;
}

struct Recorder : Application {
  void on_logon(SessionHandle& session) override { events.push_back("logon " + session.config().target_comp_id); }
  Handled on_message(SessionHandle& session, const MessageView& message) override {
    events.push_back(std::string{message.msg_type()} + ' ' + std::string{message.get_view(Tag::ClOrdID)});
    return answer ? answer(session, message) : Handled::done;
  }
  void on_logout(SessionHandle&, std::string_view reason) override {
    events.push_back("logout" + (reason.empty() ? "" : ' ' + std::string{reason}));
  }
  void on_cancel(SessionHandle&, std::string_view) override { events.emplace_back("cancel"); }
  void on_submitted(const Submitted& submitted) override {
    events.push_back(submitted.result ? "submitted " + std::to_string(value(*submitted.result)) : "not submitted");
  }
  Duration on_turn(Instant now) override { return turn ? turn(now) : nothing_done; }

  std::vector<std::string> events;
  std::function<Handled(SessionHandle&, const MessageView&)> answer;
  std::function<Duration(Instant)> turn;
};

// The text of the TestError that the call throws; "" if it throws none.
template <typename Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const TestError& error) {
    return error.what();
  }
  return {};
}

}  // namespace nfx::testing
