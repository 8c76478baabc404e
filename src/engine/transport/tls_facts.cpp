// Reads certificates and revocation lists as plain data.
#include "transport/tls_facts.hpp"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <string>

#include "base/error_text.hpp"
#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "transport/tls_material.hpp"
#include "transport/transport.hpp"

namespace nfx {
namespace detail {
namespace {

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string text_of(const X509_NAME* name) {
  const OwnedBio bio{BIO_new(BIO_s_mem())};
  X509_NAME_print_ex(bio.get(), name, 0, (XN_FLAG_ONELINE & ~XN_FLAG_SPC_EQ) | ASN1_STRFLGS_ESC_CTRL);
  return text_of(bio.get());
}

std::string text_of(const ASN1_STRING* string) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(string)),
          static_cast<std::size_t>(ASN1_STRING_length(string))};
}

std::string address_of(const ASN1_OCTET_STRING* bytes) {
  const unsigned char* b = ASN1_STRING_get0_data(bytes);
  std::array<char, 48> text{};
  if (ASN1_STRING_length(bytes) == 4) {
    std::snprintf(text.data(), text.size(), "%d.%d.%d.%d", b[0], b[1], b[2], b[3]);
  } else if (ASN1_STRING_length(bytes) == 16) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < 16; i += 2) {
      at += static_cast<std::size_t>(
          std::snprintf(text.data() + at, text.size() - at, i == 0 ? "%x" : ":%x", b[i] * 256 + b[i + 1]));
    }
    return canonical_address(text.data()).value_or(text.data());
  }
  return text.data();
}

std::string key_of(const X509* certificate) {
  EVP_PKEY* key = X509_get0_pubkey(certificate);
  if (key == nullptr) return "unknown";
  const char* type = EVP_PKEY_get0_type_name(key);
  return std::string{type == nullptr ? "unknown" : type} + ' ' + std::to_string(EVP_PKEY_get_bits(key));
}

std::string sha256_of(const X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (X509_digest(certificate, EVP_sha256(), digest.data(), &size) != 1) return {};
  return hexadecimal(text_of_bytes(digest).substr(0, size));
}

}  // namespace

std::string openssl_error() {
  const unsigned long error = ERR_peek_last_error();
  const char* reason = ERR_reason_error_string(error);
  std::string text = reason == nullptr ? "unknown error" : reason;
  if (ERR_SYSTEM_ERROR(error)) text = system_text(ERR_GET_REASON(error));
  ERR_clear_error();
  return text;
}

std::expected<OwnedBio, std::string> open_file(const std::string& file) {
  // These files are read again while the engine runs, so opening must not block on a FIFO.
  const auto fd = open_regular_file(file, O_RDONLY);
  if (!fd) return std::unexpected(cannot("read", file, fd.error().why));
  FILE* const stream = ::fdopen(*fd, "r");
  OwnedBio bio{stream == nullptr ? nullptr : BIO_new_fp(stream, BIO_CLOSE)};
  ERR_clear_error();
  if (bio) return bio;
  if (stream != nullptr) {
    std::fclose(stream);
  } else {
    ::close(*fd);
  }
  return std::unexpected(cannot("read", file, ENOMEM));
}

std::string subject_of(const X509* certificate) { return text_of(X509_get_subject_name(certificate)); }

std::vector<std::string> names_of(const X509* certificate) {
  std::vector<std::string> names;
  const Owned<GENERAL_NAMES, &GENERAL_NAMES_free> all{
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr))};
  for (int i = 0; i < sk_GENERAL_NAME_num(all.get()); ++i) {
    int kind = 0;
    const void* value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(all.get(), i), &kind);
    if (kind == GEN_DNS) names.push_back("DNS:" + text_of(static_cast<const ASN1_STRING*>(value)));
    if (kind == GEN_URI) names.push_back("URI:" + text_of(static_cast<const ASN1_STRING*>(value)));
    if (kind == GEN_EMAIL) names.push_back("email:" + text_of(static_cast<const ASN1_STRING*>(value)));
    if (kind == GEN_IPADD) names.push_back("IP:" + address_of(static_cast<const ASN1_OCTET_STRING*>(value)));
  }
  return names;
}

std::vector<std::string> common_names_of(const X509* certificate) {
  std::vector<std::string> names;
  const X509_NAME* subject = X509_get_subject_name(certificate);
  for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0;) {
    unsigned char* utf8 = nullptr;
    const int size = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    if (size >= 0) names.emplace_back(reinterpret_cast<const char*>(utf8), static_cast<std::size_t>(size));
    OPENSSL_free(utf8);
  }
  return names;
}

std::chrono::sys_seconds time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return std::chrono::sys_seconds{std::chrono::seconds{::timegm(&parts)}};
}

CertificateFacts facts_of(const X509* certificate) {
  CertificateFacts facts;
  facts.subject = subject_of(certificate);
  facts.issuer = text_of(X509_get_issuer_name(certificate));
  const ASN1_INTEGER* serial = X509_get0_serialNumber(certificate);
  facts.serial = hexadecimal(text_of(serial));
  facts.not_before = time_of(X509_get0_notBefore(certificate));
  facts.not_after = time_of(X509_get0_notAfter(certificate));
  facts.names = names_of(certificate);
  facts.common_names = common_names_of(certificate);
  facts.key = key_of(certificate);
  if (EVP_PKEY* key = X509_get0_pubkey(certificate)) facts.key_security_bits = EVP_PKEY_get_security_bits(key);
  facts.signature = OBJ_nid2ln(X509_get_signature_nid(certificate));
  facts.sha256 = sha256_of(certificate);
  // Reading the extensions caches them in the certificate; OpenSSL does this under its own lock.
  facts.authority = X509_check_ca(const_cast<X509*>(certificate)) > 0;
  facts.self_signed = X509_self_signed(const_cast<X509*>(certificate), 0) == 1;
  return facts;
}

std::expected<std::vector<OwnedX509>, std::string> load_certificates(const std::string& file) {
  const auto opened = open_file(file);
  if (!opened) return std::unexpected(opened.error());
  const OwnedBio& bio = *opened;
  std::vector<OwnedX509> certificates;
  while (X509* certificate = PEM_read_bio_X509_AUX(bio.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(certificate);
  }
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string error = openssl_error();
  if (!at_end) {
    return std::unexpected(file + ": certificate " + std::to_string(certificates.size() + 1) + " is damaged (" + error +
                           "); get the file again");
  }
  if (certificates.empty()) {
    return std::unexpected(file + ": holds no certificate in PEM form ('openssl x509 -inform DER -in FILE' converts)");
  }
  return certificates;
}

std::expected<std::vector<OwnedCrl>, std::string> load_revocations(const std::string& file) {
  const auto opened = open_file(file);
  if (!opened) return std::unexpected(opened.error());
  const OwnedBio& bio = *opened;
  std::vector<OwnedCrl> lists;
  while (X509_CRL* list = PEM_read_bio_X509_CRL(bio.get(), nullptr, nullptr, nullptr)) lists.emplace_back(list);
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string error = openssl_error();
  if (!at_end) return std::unexpected(file + ": is damaged (" + error + "); get the revocation list again");
  if (lists.empty()) {
    const auto again = open_file(file);
    if (again) lists.emplace_back(d2i_X509_CRL_bio(again->get(), nullptr));
    ERR_clear_error();
  }
  if (lists.empty() || lists.front() == nullptr) {
    return std::unexpected(file + ": holds no revocation list, neither in PEM nor in DER form");
  }
  return lists;
}

namespace {

TlsPeer bounded(std::vector<std::string> common, const std::vector<std::string>& alternative, std::string sha256) {
  TlsPeer peer{.names = {}, .sha256 = std::move(sha256)};
  const auto add = [&peer](std::string name) {
    if (peer.names.size() < TlsPeer::max_names && name.size() <= TlsPeer::max_name_size)
      peer.names.push_back(std::move(name));
  };
  for (std::string& name : common) add(std::move(name));
  for (const std::string& name : alternative) add(name.substr(name.find(':') + 1));
  return peer;
}

}  // namespace

TlsPeer peer_of(const X509* certificate) {
  return bounded(common_names_of(certificate), names_of(certificate), sha256_of(certificate));
}

}  // namespace detail

std::expected<std::vector<CertificateFacts>, std::string> read_certificates(const std::string& file) {
  const auto certificates = detail::load_certificates(file);
  if (!certificates) return std::unexpected(certificates.error());
  std::vector<CertificateFacts> facts;
  for (const auto& certificate : *certificates) facts.push_back(detail::facts_of(certificate.get()));
  return facts;
}

std::expected<std::vector<RevocationFacts>, std::string> read_revocations(const std::string& file) {
  const auto lists = detail::load_revocations(file);
  if (!lists) return std::unexpected(lists.error());
  std::vector<RevocationFacts> facts;
  for (const auto& list : *lists) {
    const int revoked = sk_X509_REVOKED_num(X509_CRL_get_REVOKED(list.get()));
    facts.push_back(
        {detail::text_of(X509_CRL_get_issuer(list.get())), detail::time_of(X509_CRL_get0_lastUpdate(list.get())),
         detail::time_of(X509_CRL_get0_nextUpdate(list.get())), static_cast<std::size_t>(std::max(revoked, 0))});
  }
  return facts;
}

// The kernel looks up the protocol before it checks the socket: without the protocol the result is ENOENT, with it an
// unconnected socket gets ENOTCONN.
KernelTls kernel_tls() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return {false, "socket: " + system_text(errno)};
  constexpr std::string_view name = "tls";
  const int result = ::setsockopt(fd, IPPROTO_TCP, TCP_ULP, name.data(), static_cast<socklen_t>(name.size()));
  const int error = result == 0 ? 0 : errno;
  ::close(fd);
  if (error == 0 || error == ENOTCONN) return {true, "TCP_ULP knows \"tls\""};
  if (error == ENOENT)
    return {false, "TCP_ULP knows no \"tls\": the kernel's module tls is neither built in nor loaded"};
  return {false, "TCP_ULP: " + system_text(error)};
}

std::string to_text(std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u %02d:%02d:%02d UTC", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text.data();
}

TlsPeer peer_of(const CertificateFacts& certificate) {
  return detail::bounded(certificate.common_names, certificate.names, certificate.sha256);
}

bool is_one_of(const TlsPeer& peer, const std::vector<std::string>& patterns, std::string_view comp_id) {
  constexpr std::string_view fingerprint = "sha256:";
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    if (pattern.starts_with(fingerprint)) {
      std::string wanted = pattern.substr(fingerprint.size());
      std::erase(wanted, ':');
      return matches_peer_name(wanted, peer.sha256);
    }
    const std::size_t place = pattern.find(comp_id_placeholder);
    if (place == std::string::npos) {
      return std::ranges::any_of(peer.names, [&](const auto& name) { return matches_peer_name(pattern, name); });
    }
    if (comp_id.empty()) return false;
    // Not a pattern: a CompID may be "*".
    std::string wanted = pattern;
    wanted.replace(place, comp_id_placeholder.size(), comp_id);
    return std::ranges::find(peer.names, wanted) != peer.names.end();
  });
}

std::string openssl_cipher_name(std::string_view standard_name) {
  const std::string_view name = OPENSSL_cipher_name(std::string{standard_name}.c_str());
  return name == "(NONE)" ? std::string{} : std::string{name};
}

bool matches_peer_name(std::string_view pattern, std::string_view name) noexcept {
  if (pattern.starts_with("*.")) {
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos || dot == 0) return false;
    pattern.remove_prefix(1);
    name.remove_prefix(dot);
  }
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
  return !pattern.empty() && std::ranges::equal(pattern, name, {}, lower, lower);
}

}  // namespace nfx
