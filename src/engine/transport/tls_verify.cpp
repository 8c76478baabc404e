// Describes the result of a certificate's verification, naming the certificate and the fix.
#include <string>

#include "transport/tls_material.hpp"
#include "transport/transport.hpp"

namespace nfx::detail {
namespace {

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

std::string names_in(const X509* certificate) {
  const std::string names = joined(names_of(certificate));
  return names.empty() ? "no alternative names (" + subject_of(certificate) + ")" : names;
}

// The fix, appended to the reason in brackets.
std::string fix_of(int error, const X509* certificate) {
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "on " + to_text(time_of(X509_get0_notAfter(certificate))) + "; its owner has to renew it";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "before " + to_text(time_of(X509_get0_notBefore(certificate))) + "; is this host's clock right?";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return "issued by " + facts_of(certificate).issuer +
             "; add that authority to tls_ca, or have the peer send the certificates between";
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN: return "add it to tls_ca if it is to be trusted";
    case X509_V_ERR_CERT_REVOKED: return "its authority has withdrawn it; its owner needs another";
    case X509_V_ERR_UNABLE_TO_GET_CRL:
      return "tls_crl has no revocation list of " + facts_of(certificate).issuer + "; every issuer needs one";
    case X509_V_ERR_CRL_HAS_EXPIRED: return "get the authority's current revocation list for tls_crl";
    case X509_V_ERR_INVALID_PURPOSE: return "its extended key usage does not allow this side of TLS";
    case X509_V_ERR_EE_KEY_TOO_SMALL:
    case X509_V_ERR_CA_KEY_TOO_SMALL:
    case X509_V_ERR_CA_MD_TOO_WEAK: return "a stronger certificate is needed";
    default: return {};
  }
}

}  // namespace

std::string describe_verification(X509_STORE_CTX* state, const std::string& wanted) {
  const int error = X509_STORE_CTX_get_error(state);
  const X509* certificate = X509_STORE_CTX_get_current_cert(state);
  if (certificate == nullptr) return X509_verify_cert_error_string(error);
  if (error == X509_V_ERR_HOSTNAME_MISMATCH || error == X509_V_ERR_IP_ADDRESS_MISMATCH) {
    return "host name mismatch: wanted " + wanted + ", certificate has " + names_in(certificate) +
           "; set tls_server_name to a name that it has, if this is the right server";
  }
  const std::string fix = fix_of(error, certificate);
  return std::string{X509_verify_cert_error_string(error)} + " (subject " + subject_of(certificate) +
         (fix.empty() ? "" : "; " + fix) + ")";
}

bool set_wanted_name(X509_VERIFY_PARAM* parameters, const std::string& name) {
  if (name.contains('\0')) return false;  // OpenSSL accepts one at the end
  if (canonical_address(name)) return X509_VERIFY_PARAM_set1_ip_asc(parameters, name.c_str()) == 1;
  X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return X509_VERIFY_PARAM_set1_host(parameters, name.data(), name.size()) == 1;
}

}  // namespace nfx::detail

namespace nfx {

std::vector<std::string> verify_own_chain(const TlsContext& context, bool as_server) {
  const auto material = context.material();
  SSL_CTX* ssl = material->context.get();
  X509* own = SSL_CTX_get0_certificate(ssl);
  if (own == nullptr) return {};
  STACK_OF(X509)* chain = nullptr;
  SSL_CTX_get0_chain_certs(ssl, &chain);
  const detail::Owned<X509_STORE_CTX, &X509_STORE_CTX_free> state{X509_STORE_CTX_new()};
  std::vector<std::string> problems;
  if (!state || X509_STORE_CTX_init(state.get(), SSL_CTX_get_cert_store(ssl), own, chain) != 1) {
    return {detail::openssl_error()};
  }
  X509_STORE_CTX_set_default(state.get(), as_server ? "ssl_server" : "ssl_client");
  X509_STORE_CTX_set_app_data(state.get(), &problems);
  X509_STORE_CTX_set_verify_cb(state.get(), [](int good, X509_STORE_CTX* at) {
    if (good == 0) {
      auto* found = static_cast<std::vector<std::string>*>(X509_STORE_CTX_get_app_data(at));
      found->push_back(detail::describe_verification(at, {}));
    }
    return 1;
  });
  X509_verify_cert(state.get());
  ERR_clear_error();
  return problems;
}

bool certificate_is_for(const TlsContext& context, const std::string& host) {
  const auto material = context.material();
  X509* own = SSL_CTX_get0_certificate(material->context.get());
  if (own == nullptr) return false;
  if (canonical_address(host)) return X509_check_ip_asc(own, host.c_str(), 0) == 1;
  return X509_check_host(own, host.data(), host.size(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS, nullptr) == 1;
}

}  // namespace nfx
