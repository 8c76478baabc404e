// Reading a certificate's names is safe, whatever they are; a pattern matches a name only as documented; and a name
// with a zero byte is never mistaken for the part before it. The input is names, one per line: "dns NAME", "uri NAME",
// "email NAME", "ip BYTES" (alternative names), "cn NAME" (of the subject), "der" followed by the bytes of a
// certificate; every other line is a pattern or a host name to look for. "\0" means a zero byte.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_target.hpp"
#include "text_check.hpp"
#include "transport/tls_material.hpp"
#include "transport/transport.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 20000};

namespace {

using nfx::detail::OwnedX509;
using nfx::fuzz::require;

struct Names {
  std::vector<std::pair<int, std::string>> alternative;  // by kind, in OpenSSL's numbering
  std::vector<std::string> common;
  std::vector<std::string> wanted;
};

std::string with_zeros(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const bool zero = text.starts_with("\\0");
    out += zero ? '\0' : text[0];
    text.remove_prefix(zero ? 2 : 1);
  }
  return out;
}

Names names_of(std::string_view input) {
  constexpr std::pair<std::string_view, int> kinds[] = {
      {"dns ", GEN_DNS}, {"uri ", GEN_URI}, {"email ", GEN_EMAIL}, {"ip ", GEN_IPADD}};
  Names names;
  while (!input.empty()) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const std::string_view line = input.substr(0, end);
    const auto kind = std::ranges::find_if(kinds, [&](const auto& each) { return line.starts_with(each.first); });
    if (kind != std::end(kinds)) {
      names.alternative.emplace_back(kind->second, with_zeros(line.substr(kind->first.size())));
    } else if (line.starts_with("cn ")) {
      names.common.push_back(with_zeros(line.substr(3)));
    } else if (!line.empty()) {
      names.wanted.push_back(with_zeros(line));
    }
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  return names;
}

OwnedX509 certificate_with(Names& names) {
  OwnedX509 certificate{X509_new()};
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  std::erase_if(names.common, [&](const std::string& name) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(name.data());
    return X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8, bytes, static_cast<int>(name.size()), -1,
                                      0) != 1;
  });
  nfx::detail::Owned<GENERAL_NAMES, &GENERAL_NAMES_free> all{GENERAL_NAMES_new()};
  for (const auto& [kind, text] : names.alternative) {
    ASN1_STRING* value = kind == GEN_IPADD ? ASN1_OCTET_STRING_new() : ASN1_IA5STRING_new();
    ASN1_STRING_set(value, text.data(), static_cast<int>(text.size()));
    GENERAL_NAME* name = GENERAL_NAME_new();
    GENERAL_NAME_set0_value(name, kind, value);
    sk_GENERAL_NAME_push(all.get(), name);
  }
  if (!names.alternative.empty()) {
    const int done = X509_add1_ext_i2d(certificate.get(), NID_subject_alt_name, all.get(), 0, X509V3_ADD_DEFAULT);
    require(done == 1, "OpenSSL takes the alternative names", "");
  }
  ERR_clear_error();
  return certificate;
}

std::string lower(std::string_view text) {
  std::string out{text};
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// As documented for matches_peer_name().
bool means(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return false;
  if (!pattern.starts_with("*.")) return lower(pattern) == lower(name);
  const std::size_t dot = name.find('.');
  return dot != std::string_view::npos && dot > 0 && lower(pattern.substr(2)) == lower(name.substr(dot + 1));
}

void read_all(const X509* certificate) {
  const nfx::CertificateFacts facts = nfx::detail::facts_of(certificate);
  require(nfx::fuzz::is_printable(facts.subject) && nfx::fuzz::is_printable(facts.issuer),
          "a subject is fit for a terminal", facts.subject);
  require(facts.names == nfx::detail::names_of(certificate), "the facts have the certificate's names", facts.subject);
}

// Entries of TlsOptions::peer_names other than names.
bool is_special(std::string_view pattern) {
  return pattern.starts_with("sha256:") || pattern.contains(nfx::comp_id_placeholder);
}

void check_names(const X509* certificate, const Names& names) {
  const nfx::TlsPeer peer = nfx::peer_of(nfx::detail::facts_of(certificate));
  require(nfx::detail::common_names_of(certificate) == names.common, "the common names are those of the subject", "");
  require(nfx::detail::names_of(certificate).size() == names.alternative.size(), "each alternative name is read", "");
  std::vector<std::string> all = names.common;
  for (const auto& [kind, text] : names.alternative) {
    if (kind != GEN_IPADD) all.push_back(text);
  }
  // Names beyond the bounds match nothing.
  std::erase_if(all, [](const std::string& name) { return name.size() > nfx::TlsPeer::max_name_size; });
  if (names.common.size() + names.alternative.size() > nfx::TlsPeer::max_names) return;
  for (const std::string& name : all) {
    const std::vector<std::string> own{name};
    require(name.empty() || is_special(name) || name.starts_with("*.") || nfx::is_one_of(peer, own, {}),
            "a certificate is of a peer with its own names", name);
  }
  for (const std::string& pattern : names.wanted) {
    if (is_special(pattern)) continue;
    const bool carried = nfx::is_one_of(peer, {pattern}, {});
    const bool meant = std::ranges::any_of(all, [&](const std::string& name) { return means(pattern, name); });
    // Only the library formats addresses.
    const bool address = nfx::canonical_address(pattern).has_value();
    require(carried == meant || address, "a pattern matches what it means", pattern);
    for (const std::string& name : all) {
      require(nfx::matches_peer_name(pattern, name) == means(pattern, name), "a pattern matches what it means", name);
    }
  }
}

void check_host_names(X509* certificate, const Names& names) {
  for (const std::string& host : names.wanted) {
    nfx::detail::Owned<X509_VERIFY_PARAM, &X509_VERIFY_PARAM_free> parameters{X509_VERIFY_PARAM_new()};
    const bool set = nfx::detail::set_wanted_name(parameters.get(), host);
    require(!set || !host.contains('\0'), "a host name with a zero byte is refused", host);
    ERR_clear_error();
    nfx::detail::Owned<X509_STORE_CTX, &X509_STORE_CTX_free> state{X509_STORE_CTX_new()};
    require(X509_STORE_CTX_init(state.get(), nullptr, certificate, nullptr) == 1, "a verification begins", host);
    X509_STORE_CTX_set_current_cert(state.get(), certificate);
    for (const int error : {X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_UNABLE_TO_GET_CRL}) {
      X509_STORE_CTX_set_error(state.get(), error);
      require(!nfx::detail::describe_verification(state.get(), host).empty(), "an error has a description", host);
    }
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = nfx::fuzz::text_of(data, size);
  if (const std::size_t der = input.find("der\n"); der != std::string_view::npos) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(input.data() + der + 4);
    const OwnedX509 parsed{d2i_X509(nullptr, &bytes, static_cast<long>(input.size() - der - 4))};
    ERR_clear_error();
    if (parsed) read_all(parsed.get());
    input = input.substr(0, der);
  }
  Names names = names_of(input);
  const OwnedX509 certificate = certificate_with(names);
  read_all(certificate.get());
  check_names(certificate.get(), names);
  check_host_names(certificate.get(), names);
  return 0;
}
