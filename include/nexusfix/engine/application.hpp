// The interface between the engine and the user's program: what a session receives, and when it begins and ends. An
// Observer receives reports about the engine itself, and an Authenticator decides who may log on. A TypedApplication
// has one function for each message that it handles.
// Thread: every callback of a session runs on that session's poll thread; with one poll thread (the default) no two
// callbacks ever run at the same time. Cost: one virtual call per message, and for typed messages a switch over the
// type. Lifetime: a message and a text last until the callback returns. Errors: if a callback throws, only its session
// is logged out; docs/session.md has the rules.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>
#include <vector>

#include "nexusfix/engine/session_handle.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {

struct Submitted;  // nexusfix/engine/submit.hpp

class Application {
 public:
  virtual ~Application() = default;

  virtual void on_logon([[maybe_unused]] SessionHandle& session) {}
  // An application message, in sequence, delivered until it is handled. PossDupFlag(43) and PossResend(97) are for the
  // program to read. After not_now, which an answer without space also returns, this message is delivered again, and
  // the session receives nothing else until it is handled; so return it before the first answer is sent.
  virtual Handled on_message(SessionHandle& session, const MessageView& message) = 0;
  // The peer's session-level Reject of one of our messages.
  virtual void on_reject([[maybe_unused]] SessionHandle& session, [[maybe_unused]] const MessageView& reject) {}
  // The session ended, or its Logon was refused; `reason` is the Text of the Logout, received or sent.
  virtual void on_logout([[maybe_unused]] SessionHandle& session, [[maybe_unused]] std::string_view reason) {}
  // cancel_on_disconnect or cancel_on_logout: the session ended and is not up again cancel_delay later. An acceptor
  // cancels the counterparty's open orders; orders of an initiator may still be filled. Once for each end.
  virtual void on_cancel([[maybe_unused]] SessionHandle& session, [[maybe_unused]] std::string_view reason) {}
  // Whether a stored message may be sent again; false sends a gap fill in its place. Must not use the session: within
  // this call send() returns not_here, and the other requests are ignored.
  virtual bool on_resend([[maybe_unused]] SessionHandle& session, [[maybe_unused]] const MessageView& message) {
    return true;
  }
  // warm_up_us: while the session is silent, so that the code and data of its next message stay in the caches. The
  // message is made, or like the last one received; `session` is a copy with numbers, output and store of its own,
  // which lives as long as the engine: nothing that it sends leaves. A program calls what it calls in on_message, as
  // far as that changes nothing of its own, and sends its usual answer. By default one is sent for it.
  virtual void on_rehearsal([[maybe_unused]] SessionHandle& session, [[maybe_unused]] const MessageView& message) {}
  // The result of a message that was submitted with `report` (Engine::submit). On its session's poll thread.
  virtual void on_submitted([[maybe_unused]] const Submitted& submitted) {}
  // Once per iteration of each poll thread's loop, before the network is polled. Returns how long the loop may sleep in
  // block mode before the next iteration; Duration::max() for no limit.
  virtual Duration on_turn([[maybe_unused]] Instant now) { return nothing_done; }
  // No limit, for an on_turn too short to measure: a busy-polling loop does not read the clock after it.
  static constexpr Duration nothing_done = Duration::max() - Duration{1};
};

class Authenticator;
class Observer;

// The program's side of an engine: its application, its observer, and its authenticator. Made from an application; if
// that is also an Observer or an Authenticator, it is used as these too:
//
//   struct Venue : nfx::Application, nfx::Authenticator { ... } venue;
//   nfx::Engine engine{config, venue};
//
// The static type of the argument counts: a function that takes `Application&` passes on only the application, so it
// should take Callbacks. Lifetime: all of them outlive the engine. With several poll threads their callbacks run on all
// of them.
struct Callbacks {
  template <std::derived_from<Application> Program>
  Callbacks(Program& program) : application(&program) {
    if constexpr (std::derived_from<Program, Observer>) observers.push_back(&program);
    if constexpr (std::derived_from<Program, Authenticator>) authenticator = &program;
  }

  Application* application;
  std::vector<Observer*> observers;
  Authenticator* authenticator = nullptr;  // null: every Logon that the configuration allows
};

// A program that receives typed messages:
//
//   struct Desk : nfx::TypedApplication<Desk, nfx::fix44::Messages> {
//     nfx::Sent on(nfx::SessionHandle& session, const nfx::fix44::NewOrderSingle& order) { ... }
//   };
//
// A function returns nothing, the result of its answer (Sent), or Handled. A message for which there is no function
// reaches on_other(), which refuses it with BusinessMessageReject (Reject before FIX 4.2); a program may have its own.
// Messages is what `nfx codegen` writes into dispatch.hpp. Lifetime: a typed message borrows the one received. Errors:
// see Handled: without space for the answer the message is delivered again, another error is a notice.
template <typename Program, typename Messages>
class TypedApplication : public Application {
 public:
  Handled on_message(SessionHandle& session, const MessageView& message) final {
    static_assert(Messages::template any<Receiver>(),
                  "no on() takes a message of Messages: is on(nfx::SessionHandle&, const Message&) public, is Message "
                  "of the same version as Messages, and is its header included?");
    Receiver receiver{static_cast<Program&>(*this), session};
    Messages::dispatch(receiver, message);
    return receiver.result;
  }

  // A message of a type that the program has no function for. A BusinessMessageReject is not refused.
  Handled on_other(SessionHandle& session, const MessageView& message) {
    if (message.msg_type() == msg_type::business_message_reject) return Handled::done;
    return session.reject_business(message, BusinessRejectReason::unsupported_message_type,
                                   "this program does not take messages of this type");
  }

 private:
  struct Receiver {
    Program& program;
    SessionHandle& session;
    Handled result = Handled::done;

    template <typename Message>
    static constexpr bool takes =
        requires(Program& to, SessionHandle& from, const Message& typed) { to.on(from, typed); };

    template <typename Message>
    void take(const MessageView& message) {
      if constexpr (takes<Message>) {
        const Message typed{message};
        settle([&] { return program.on(session, typed); });
      } else if constexpr (requires(Message& typed) { program.on(session, typed); }) {
        static_assert(sizeof(Message) == 0, "on() takes its message by const reference");
      } else {
        take_other(message);
      }
    }
    void take_other(const MessageView& message) {
      settle([&] { return program.on_other(session, message); });
    }
    template <typename Call>
    void settle(Call&& call) {
      if constexpr (std::is_void_v<decltype(call())>) {
        call();
      } else {
        result = call();
      }
    }
  };
};

}  // namespace nfx
