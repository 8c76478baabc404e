// A program that receives typed messages: one function for each message that it handles.
//
//   struct Desk : nfx::TypedApplication<Desk, nfx::fix44::Messages> {
//     nfx::Sent on(nfx::SessionHandle& session, const nfx::fix44::NewOrderSingle& order) { ... }
//   };
//
// A function returns nothing, the result of its answer (Sent), or Handled. A message for which there is no function
// reaches on_other(), which refuses it with BusinessMessageReject (Reject before FIX 4.2); a program may have its own.
// Messages is what `nfx codegen` writes into dispatch.hpp.
// Thread: as Application's. Cost: a switch over the message type. Lifetime: a typed message borrows the one received.
// Errors: see Handled: without space for the answer the message is delivered again, another error is a notice.
#pragma once

#include <type_traits>

#include "nexusfix/engine/application.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {

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
