// Reads and changes what operators set for all gateways.
#include "gateway/operator_settings.hpp"

#include <algorithm>
#include <optional>

#include "base/clocks.hpp"
#include "nats/nats_stream.hpp"

namespace nfx {
namespace {

using cluster::Event;
using cluster::EventKind;

constexpr int attempts_max = 20;  // of operators that change at the same time

// The first word of a text, which it loses.
std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

struct Answer {
  EventKind kind{};
  cluster::StreamSeq sequence{};
  std::string bytes;
};

class Request {
 public:
  Request(nats::NatsStream& stream, Duration timeout)
      : stream_(stream), timeout_(timeout), index_(stream.add_session(OperatorSettings::subject, {})) {}

  Answer ask(cluster::Action action) {
    action.request = ++requests_;
    stream_.request(index_, action);
    std::optional<Answer> answer;
    for (const MonotonicTime end = read_monotonic() + timeout_; !answer && read_monotonic() < end;) {
      stream_.poll([&](nats::SessionIndex session, const Event& event) {
        if (session == index_ && event.request == action.request)
          answer = Answer{.kind = event.kind, .sequence = event.sequence, .bytes = std::string{event.bytes}};
      });
      if (!answer) stream_.wait(std::chrono::milliseconds{20});
    }
    if (!answer || answer->kind == EventKind::failed) {
      if (answer && !answer->bytes.empty()) throw nats::NatsError{"the stream stores nothing: " + answer->bytes};
      static_cast<void>(stream_.lease());  // an error that states that there is none
      throw nats::NatsError{"the stream does not answer; 'nfx cluster check' shows why"};
    }
    return *std::move(answer);
  }

 private:
  nats::NatsStream& stream_;
  const Duration timeout_;
  const nats::SessionIndex index_;
  std::uint64_t requests_ = 0;
};

}  // namespace

OperatorSettings parse_settings(std::string_view text) {
  OperatorSettings settings;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string_view what = take_word(line), first = take_word(line), second = take_word(line);
    if (what == "drain" && !first.empty()) settings.drains.emplace_back(first);
    if (what == "move" && !second.empty()) settings.moves.emplace_back(first, second);
  }
  return settings;
}

std::string to_string(const OperatorSettings& settings) {
  std::string text;
  for (const std::string& gateway : settings.drains) text += "drain " + gateway + '\n';
  for (const auto& [session, gateway] : settings.moves) text += "move " + session + ' ' + gateway + '\n';
  return text;
}

OperatorSettings read_settings(nats::NatsStream& stream, Duration timeout) {
  const Answer last = Request{stream, timeout}.ask({.kind = cluster::ActionKind::read_last});
  return last.kind == EventKind::found ? parse_settings(last.bytes) : OperatorSettings{};
}

void change_settings(nats::NatsStream& stream, Duration timeout, const std::function<void(OperatorSettings&)>& change) {
  Request request{stream, timeout};
  for (int attempt = 0; attempt < attempts_max; ++attempt) {
    const Answer last = request.ask({.kind = cluster::ActionKind::read_last});
    OperatorSettings settings = last.kind == EventKind::found ? parse_settings(last.bytes) : OperatorSettings{};
    change(settings);
    const std::string text = to_string(settings) + "\n";  // never empty
    const cluster::StreamSeq expected = last.kind == EventKind::found ? last.sequence : cluster::StreamSeq{};
    const Answer stored = request.ask({.kind = cluster::ActionKind::publish, .sequence = expected, .bytes = text});
    if (stored.kind == EventKind::stored) return;
  }
  throw nats::NatsError{"the settings were changed by others each time: try again"};
}

}  // namespace nfx
