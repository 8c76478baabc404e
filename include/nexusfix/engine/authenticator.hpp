// Decides who may log on to our acceptors, and completes our own Logon.
// Thread: the poll thread of the session. Cost: called once for each Logon, and for each session message sent.
// Errors: if a callback throws, the Logon is refused, or the message is not sent and the session is logged out.
#pragma once

#include <string_view>

#include "nexusfix/engine/session_handle.hpp"
#include "nexusfix/session/session_message.hpp"

namespace nfx {

struct TlsPeer;

// A Logon that names one of our acceptors, before the session has seen it and before anything is stored or reset.
struct LogonRequest {
  const SessionConfig& session;          // the one it names; of a template, with its session's CompIDs
  const MessageView& message;            // framing, BodyLength and CheckSum are right. Not validated further
  std::string_view peer;                 // its address: "192.0.2.7:51234"
  bool is_new;                           // the session does not exist yet: a template's
  const TlsPeer* certificate = nullptr;  // TLS: the names in the peer's certificate (tls_facts.hpp); null: it has none
};

class Authenticator {
 public:
  virtual ~Authenticator() = default;

  // Whether the sender of this Logon may use that session: Username, Password, address, a client list. False closes the
  // connection without an answer. Must not use the session.
  virtual bool on_logon_request([[maybe_unused]] const LogonRequest& request) { return true; }
  // A session message that this session sends, at that moment: MsgSeqNum and SendingTime are known; fields can be
  // added: the signature of a Logon, for example. Must not use the session: within this call send() returns not_here,
  // and the other requests are ignored.
  virtual void on_session_message_sending([[maybe_unused]] SessionHandle& session,
                                          [[maybe_unused]] SessionMessage& message) {}
};

}  // namespace nfx
