// A program that receives typed messages: one function for each message that it handles.
//
//   struct Desk : nfx::TypedApplication<Desk, nfx::fix44::Messages> {
//     nfx::Sent on(nfx::SessionHandle& session, const nfx::fix44::NewOrderSingle& order) { ... }
//   };
//
// A function returns nothing, or the result of its answer (Sent). A message for which there is no function reaches
// on_other(), which refuses it with BusinessMessageReject (Reject before FIX 4.2); a program may have its own. Messages
// is what `nfx codegen` writes into dispatch.hpp.
// Thread: as Application's. Cost: a switch over the message type. Lifetime: a typed message borrows the one received.
// Errors: an answer that could not be sent reaches on_unsent().
#pragma once

#include <type_traits>

#include "nexusfix/engine/application.hpp"

namespace nfx {

// The result of what answers a message.
using Sent = std::expected<SeqNum, SendError>;

template <typename Program, typename Messages>
class TypedApplication : public Application {
 public:
  void on_message(SessionHandle& session, const MessageView& message) final {
    Messages::dispatch(Receiver{static_cast<Program&>(*this), session}, message);
  }

  // A message of a type that the program has no function for.
  [[nodiscard]] Sent on_other(SessionHandle& session, const MessageView& message) {
    return session.reject_business(message, BusinessRejectReason::unsupported_message_type,
                                   "this program does not take messages of this type");
  }

  // A function returned an answer that was not sent, so the peer does not get one: the session has ended, the peer does
  // not read, or the message is itself a BusinessMessageReject, which is not answered. A peer that does not read is
  // logged out, so that it knows.
  void on_unsent(SessionHandle& session, const MessageView& message, SendError error) {
    static_cast<void>(message);
    if (is_back_pressure(error)) session.logout("a message could not be answered");
  }

 private:
  struct Receiver {
    Program& program;
    SessionHandle& session;

    template <typename Message>
    void take(const MessageView& message) {
      if constexpr (requires(const Message& typed) { program.on(session, typed); }) {
        const Message typed{message};
        settle(message, [&] { return program.on(session, typed); });
      } else if constexpr (requires(Message& typed) { program.on(session, typed); }) {
        static_assert(sizeof(Message) == 0, "on() takes its message by const reference");
      } else {
        take_other(message);
      }
    }
    void take_other(const MessageView& message) {
      settle(message, [&] { return program.on_other(session, message); });
    }
    template <typename Call>
    void settle(const MessageView& message, Call&& call) {
      if constexpr (std::is_void_v<decltype(call())>) {
        call();
      } else {
        const Sent sent = call();
        if (!sent) [[unlikely]]
          program.on_unsent(session, message, sent.error());
      }
    }
  };
};

}  // namespace nfx
