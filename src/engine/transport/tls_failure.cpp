// Turns OpenSSL's handshake error codes into one line with a fix.
#include "transport/tls_failure.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

namespace nfx::detail {
namespace {

// An alert is the peer's reason for refusing this side.
std::string describe_alert(int alert, bool established) {
  const auto refused = [](const char* why) { return std::string{"the peer refused: "} + why; };
  switch (alert) {
    case SSL_AD_HANDSHAKE_FAILURE:
      return refused(
          "no agreement on ciphers, or it misses our certificate (alert handshake failure); see tls_ciphers");
    case SSL_AD_BAD_CERTIFICATE: return refused("it does not accept our certificate (alert bad certificate)");
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
      return refused("our certificate is not of a kind, or for a use, that it accepts (alert unsupported certificate)");
    case SSL_AD_CERTIFICATE_REVOKED: return refused("our certificate is revoked (alert certificate revoked)");
    case SSL_AD_CERTIFICATE_EXPIRED: return refused("our certificate has expired (alert certificate expired)");
    case SSL_AD_CERTIFICATE_UNKNOWN:
      return refused("it does not accept our certificate, without a reason (alert certificate unknown)");
    case SSL_AD_UNKNOWN_CA: return refused("it does not know the issuer of our certificate (alert unknown ca)");
    case SSL_AD_ACCESS_DENIED: return refused("our certificate is good but not welcome (alert access denied)");
    case SSL_AD_CERTIFICATE_REQUIRED:
      return refused("it requires a client certificate (alert certificate required); set tls_certificate and tls_key");
    case SSL_AD_PROTOCOL_VERSION:
      return refused("it does not speak our versions of TLS (alert protocol version); see tls_min_version");
    case SSL_AD_INSUFFICIENT_SECURITY: return refused("our ciphers are too weak for it (alert insufficient security)");
    case SSL_AD_UNRECOGNIZED_NAME:
      return refused("it serves no such name (alert unrecognized name); see tls_server_name");
    case SSL_AD_NO_APPLICATION_PROTOCOL:
      return refused("it demands an application protocol by name, and FIX has none (alert no application protocol)");
    default: break;
  }
  const char* text = SSL_alert_desc_string_long(alert);
  return std::string{established ? "the peer broke off: alert " : "the peer refused: alert "} + text;
}

}  // namespace

std::string describe_failure(unsigned long error, bool established) {
  if (error == 0) return "the connection broke within a record";
  const int reason = ERR_GET_REASON(error);
  if (ERR_GET_LIB(error) == ERR_LIB_SSL && reason > SSL_AD_REASON_OFFSET) {
    return describe_alert(reason - SSL_AD_REASON_OFFSET, established);
  }
  const char* words = ERR_reason_error_string(error);
  const std::string text = words == nullptr ? "unknown error" : words;
  switch (reason) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_UNKNOWN_PROTOCOL:
    case SSL_R_UNEXPECTED_MESSAGE:
    case SSL_R_BAD_RECORD_TYPE:
      if (established) break;
      return "the peer does not speak TLS on this port (" + text + "); is it a plain FIX port?";
    case SSL_R_HTTP_REQUEST:
    case SSL_R_HTTPS_PROXY_REQUEST: return "the peer speaks HTTP on this port (" + text + ")";
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_UNSUPPORTED_SSL_VERSION:
    case SSL_R_VERSION_TOO_LOW:
      return "the peer speaks no version of TLS that we allow (" + text + "); see tls_min_version and tls_max_version";
    case SSL_R_NO_SHARED_CIPHER:
      return "no cipher is common to both (no shared cipher); see tls_ciphers and tls_ciphersuites";
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      return "the client sent no certificate, and tls_client_certificate is \"require\"";
    case SSL_R_NO_PROTOCOLS_AVAILABLE: return "no version of TLS is left; see tls_min_version and tls_max_version";
    case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC:
      return "a record was changed on its way, or the peer encrypts wrongly (" + text + ")";
    default: break;
  }
  return text;
}

}  // namespace nfx::detail
