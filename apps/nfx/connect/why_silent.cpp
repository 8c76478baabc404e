// Lists the likely causes when a peer accepts the connection but does not answer the Logon, from the settings.
#include "connect/why_silent.hpp"

#include <string>

namespace nfx::app {

SafeText why_silent(const SessionSettings& settings) {
  const SessionConfig& session = settings.session;
  SafeText lines{
      "The peer received our Logon and sent no answer. Acceptors do this to clients that they do not know, so as "
      "to disclose nothing.\nProbable causes, and what to check:\n"};
  const auto cause = [&lines](Literal what, const std::string& check) {
    lines += "  - ";
    lines += what;
    lines.add(": {}\n", check);
  };
  cause("unknown session", "the peer needs BeginString(8) " + session.begin_string + ", SenderCompID(49) " +
                               session.sender_comp_id + " and TargetCompID(56) " + session.target_comp_id +
                               ", as agreed, and for this address and port (" + to_string(settings.connect.front()) +
                               ")");
  cause("wrong credentials", session.username.empty() && session.password.empty()
                                 ? "we send neither Username(553) nor Password(554): does the peer require them?"
                                 : "Username(553) or Password(554) may be wrong or expired");
  cause("address not allowed",
        "the peer may accept only known addresses: our address may have changed, or a NAT gateway hides it");
  cause("outside the session's time", "compare the peer's trading hours and time zone with now");
  cause("connected already",
        "another program or host may be logged on with the same CompIDs, or the peer has not noticed "
        "that our last connection ended");
  cause("sequence number",
        "some acceptors close without a Logout when MsgSeqNum(34) is too low or a reset is not allowed: "
        "try with and without --no-reset");
  cause("clock",
        "SendingTime(52) may be too far from the peer's clock: compare this host's with NTP, by 'chronyc tracking' for "
        "example");
  if (settings.tls_enabled) {
    cause("TLS", "the handshake succeeded; the peer may expect a client certificate of another name (tls_certificate)");
  } else {
    cause("TLS", "we connect without TLS: 'nfx tls doctor " + to_string(settings.connect.front()) +
                     "' shows whether this port expects it");
  }
  cause("too many connections", "the peer, a proxy or a firewall may limit connections: wait, then try once");
  lines +=
      "The peer's operator sees the reason in its logs. 'nfx serve' prints it on standard error: \"Logon refused\".\n";
  return lines;
}

}  // namespace nfx::app
