// The engines configure TLS in different ways; this combines their keys into one set of options.
#include "config/quickfix_tls.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <variant>

#include "base/text.hpp"
#include "config/quickfix_values.hpp"
#include "nexusfix/base/assert.hpp"
#include "transport/tls_facts.hpp"
#include "transport/tls_option_rows.hpp"

namespace nfx::quickfix {
namespace {

// The versions that a file may name, in the spellings of all engines, without "v", "_", "." and blanks. Versions older
// than 1.2 are not supported: such a name is ignored next to a newer one.
enum class Protocol : std::uint8_t { too_old, tls_1_2, tls_1_3, all };

std::optional<Protocol> protocol_named(std::string_view text) {
  std::string name;
  for (const char c : text) {
    if (!std::string_view{"vV_. "}.contains(c)) name += lower(c);
  }
  constexpr std::array<std::string_view, 9> old{"ssl2",  "ssl3",  "ssl30",     "tls", "tls1",
                                                "tls10", "tls11", "ssl2hello", "ssl"};
  if (name == "tls12") return Protocol::tls_1_2;
  if (name == "tls13") return Protocol::tls_1_3;
  if (name == "all" || name == "none" || name == "default") return Protocol::all;
  if (std::ranges::find(old, name) != old.end()) return Protocol::too_old;
  return std::nullopt;
}

class TlsTranslator {
 public:
  TlsTranslator(Translation& common, const EntryLookup& find, bool initiator)
      : common_(common), find_(find), initiator_(initiator) {}

  std::vector<Setting> translate() {
    if (tls_is_off(find_)) {
      const Entry* entry = find_("SocketUseSSL");
      if (entry == nullptr || read_flag(entry->value) != false) entry = find_("SSLEnable");
      put("tls", "false", *entry);
      return std::move(settings_);
    }
    const Entry* reason = reason_for_tls();
    if (reason == nullptr) {
      warn_of_old_versions();
      return {};
    }
    if (is_only_a_missing_certificate()) return {};
    put("tls", "true", *reason);
    plain_options();
    clients();
    verification();
    java_ciphers();
    versions();
    // In the order of the option table, whatever QuickFIX key they came from. Each key appears once.
    std::ranges::sort(settings_, {}, [](const Setting& each) {
      const TlsOption* option = find_tls_option(each.key);
      return option == nullptr ? 0 : option - tls_option_rows.data() + 1;
    });
    return std::move(settings_);
  }

 private:
  const Entry* reason_for_tls() const {
    for (const std::string_view key : {"SocketUseSSL", "SSLEnable"}) {
      const Entry* entry = find_(key);
      if (entry == nullptr) continue;
      if (!read_flag(entry->value)) common_.fail(*entry, "expected Y or N");
      return entry;
    }
    for (const KeyRow& row : key_rows()) {
      if (!row.tls || row.key.ours.empty()) continue;
      if (row.side == (initiator_ ? Side::acceptor : Side::initiator)) continue;
      const Entry* entry = find_(row.key.name);
      if (entry == nullptr || (!row.harmless.empty() && same_key(entry->value, row.harmless))) continue;
      if (same_key(entry->key, "SSLProtocol") && has_only_old_versions(*entry)) continue;
      return entry;
    }
    return nullptr;
  }

  // In QuickFIX, SSLProtocol alone encrypts nothing; its program decides that. A value without any supported version is
  // an error only if another key turns TLS on.
  void warn_of_old_versions() {
    const Entry* entry = find_("SSLProtocol");
    if (entry == nullptr) return;
    common_.warn_once(*entry,
                      "has no effect: it has only versions older than TLS 1.2, and nothing else turns TLS on, so the "
                      "session is not encrypted; to encrypt it write SocketUseSSL=Y and SSLProtocol=all");
  }

  // QuickFIX's executor.cfg names a certificate, but its program reads it only if an argument turns encryption on. If
  // the certificate and its private key do not exist, and no key turns TLS on or requires certificates of peers, the
  // session is not encrypted, as in QuickFIX. Peers that use TLS then fail to connect, and send nothing in clear text.
  bool is_only_a_missing_certificate() {
    if (initiator_ || flag(find_("SocketUseSSL")) || flag(find_("SSLEnable"))) return false;
    const Entry* certificate = find_("ServerCertificateFile");
    if (certificate == nullptr || certificate->value.empty() || !common_.is_missing(*certificate)) return false;
    // If its private key exists, the path of the certificate is wrong.
    if (const Entry* key = find_("ServerCertificateKeyFile"); key != nullptr && !common_.is_missing(*key)) return false;
    for (const KeyRow& row : key_rows()) {
      constexpr std::array<std::string_view, 5> server_only{"ServerCertificateFile", "ServerCertificateKeyFile",
                                                            "SSLProtocol", "SSLCipherSuite", "TLSCipherSuites"};
      if (!row.tls || row.side == Side::initiator || find_(row.key.name) == nullptr) continue;
      if (std::ranges::find(server_only, row.key.name) == server_only.end()) return false;
    }
    common_.warn_once(*certificate, "no file " + certificate->value +
                                        ": the session is NOT ENCRYPTED; to encrypt it copy the file to this path, to "
                                        "keep it so without this warning write SocketUseSSL=N");
    return true;
  }

  // Keys of different engines may mean one setting; the first row takes precedence.
  void put(std::string_view ours, std::string value, const Entry& entry) {
    NFX_ASSERT(!value.empty() && (ours == "tls" || find_tls_option(ours) != nullptr));
    const auto old = std::ranges::find(settings_, ours, &Setting::key);
    if (old == settings_.end()) {
      settings_.push_back({.key = std::string{ours}, .value = std::move(value), .origins = {&entry}});
    } else if (old->value != value) {
      common_.warn_once(entry, "has no effect: " + old->origins.front()->key + " sets the same");
    }
  }
  std::optional<bool> flag(const Entry* entry) const {
    if (entry == nullptr) return std::nullopt;
    const auto value = read_flag(entry->value);
    if (!value) common_.fail(*entry, "expected Y or N");
    return value;
  }

  // Keys that translate to one option with the same value.
  void plain_options() {
    for (const KeyRow& row : key_rows()) {
      if (row.conversion != Conversion::tls_option) continue;
      if (row.side == (initiator_ ? Side::acceptor : Side::initiator)) continue;
      const Entry* entry = find_(row.key.name);
      if (entry == nullptr) continue;
      const std::string_view ours = split(row.key.ours, ',').front();
      NFX_ASSERT(find_tls_option(ours) != nullptr);
      put(ours, value_of(*find_tls_option(ours), *entry), *entry);
    }
  }

  std::string value_of(const TlsOption& option, const Entry& entry) const {
    if (std::holds_alternative<TlsOption::Flag>(option.member)) return *flag(&entry) ? "true" : "false";
    if (option.is_path && entry.value.empty()) common_.fail(entry, "expected a PEM file");
    const std::string text = option.is_path ? common_.path(entry) : entry.value;
    return std::holds_alternative<TlsOption::Texts>(option.member) ? toml_list({text}) : toml_text(text);
  }

  // Whether an acceptor requests certificates.
  void clients() {
    if (initiator_) return;
    if (const Entry* level = find_("CertificateVerifyLevel")) {
      constexpr std::array<std::string_view, 3> policies{"\"none\"", "\"request\"", "\"require\""};
      put("tls_client_certificate", std::string{policies.at(static_cast<std::size_t>(verify_level(*level)))}, *level);
    }
    for (const std::string_view key : {"NeedClientAuth", "SSLRequireClientCertificate"}) {
      const Entry* entry = find_(key);
      if (const auto wanted = flag(entry)) put("tls_client_certificate", *wanted ? "\"require\"" : "\"none\"", *entry);
    }
    // QuickFIX/Go requests certificates if it has an authority to verify them.
    if (const Entry* authority = find_("SocketCAFile"); authority != nullptr && !has("tls_client_certificate"))
      put("tls_client_certificate", "\"require\"", *authority);
  }

  void verification() {
    const auto accept_any_peer = [&](const Entry& entry) {
      put("tls_verify", "false", entry);
      common_.warn_once(entry,
                        "the peer's certificate is not verified, so that others can read and change the connection: "
                        "for tests only");
    };
    if (const Entry* level = find_("CertificateVerifyLevel");
        initiator_ && level != nullptr && verify_level(*level) == 0)
      accept_any_peer(*level);
    if (const Entry* skip = find_("SocketInsecureSkipVerify"); flag(skip) == true) accept_any_peer(*skip);
    if (const Entry* validate = find_("SSLValidateCertificates"); flag(validate) == false) accept_any_peer(*validate);
  }

  std::int64_t verify_level(const Entry& entry) const {
    const auto level = read_count(entry.value);
    if (!level || *level > 2) common_.fail(entry, "expected 0, 1 or 2");
    NFX_ASSERT(*level >= 0);
    return *level;
  }

  // Which of 1.2 and 1.3 are in "all -SSLv2 +TLSv1_2", "TLSv1.2,TLSv1.3" or "TLS12".
  struct Versions {
    bool tls_1_2 = false, tls_1_3 = false;
  };
  Versions versions_of(const Entry& entry, char separator) const {
    Versions result;
    for (const std::string_view part : split(entry.value, separator)) {
      const bool taken_out = part.starts_with('-');
      const auto protocol = protocol_named(part.substr(taken_out || part.starts_with('+') ? 1 : 0));
      if (!protocol) common_.fail(entry, "expected versions such as TLSv1.2 and TLSv1.3");
      if (*protocol == Protocol::tls_1_2 || *protocol == Protocol::all) result.tls_1_2 = !taken_out;
      if (*protocol == Protocol::tls_1_3 || *protocol == Protocol::all) result.tls_1_3 = !taken_out;
    }
    return result;
  }
  bool has_only_old_versions(const Entry& entry) const {
    const auto [two, three] = versions_of(entry, ' ');
    return !two && !three;
  }

  void versions() {
    for (const std::string_view key : {"SSLProtocol", "EnabledProtocols", "SSLProtocols"}) {
      const Entry* entry = find_(key);
      if (entry == nullptr) continue;
      const auto [two, three] = versions_of(*entry, key == "SSLProtocol" ? ' ' : ',');
      if (!two && !three) common_.fail(*entry, "has only versions older than TLS 1.2, which are not safe: add TLSv1.2");
      NFX_ASSERT(two || three);
      put("tls_min_version", two ? "\"1.2\"" : "\"1.3\"", *entry);
      put("tls_max_version", three ? "\"1.3\"" : "\"1.2\"", *entry);
    }
    if (const Entry* least = find_("SocketMinimumTLSVersion")) {
      const auto protocol = protocol_named(least->value);
      if (!protocol || *protocol == Protocol::all) common_.fail(*least, "expected TLS12 or TLS13");
      put("tls_min_version", *protocol == Protocol::tls_1_3 ? "\"1.3\"" : "\"1.2\"", *least);
    }
  }

  // Java lists the ciphers of all versions together. A version without any cipher is not used.
  void java_ciphers() {
    const Entry* entry = find_("CipherSuites");
    if (entry == nullptr) return;
    std::string tls_1_2, tls_1_3;
    for (const std::string_view part : split(entry->value, ',')) {
      if (part.empty() || part == "TLS_EMPTY_RENEGOTIATION_INFO_SCSV") continue;  // a signalling value, not a cipher
      std::string name{part};
      if (name.starts_with("SSL_")) name.replace(0, 4, "TLS_");  // Java's names of old ciphers
      const std::string found = openssl_cipher_name(name);
      if (found.empty()) {
        common_.warn_once(*entry, "OpenSSL does not have " + std::string{part} + ", which is left out");
        continue;
      }
      std::string& list = name.contains("_WITH_") ? tls_1_2 : tls_1_3;
      list += (list.empty() ? "" : ":") + found;
    }
    if (tls_1_2.empty() && tls_1_3.empty())
      common_.fail(*entry, "OpenSSL has none of these ciphers: name others, or remove the key");
    if (tls_1_2.empty()) {
      put("tls_min_version", "\"1.3\"", *entry);
    } else {
      put("tls_ciphers", toml_text(tls_1_2), *entry);
    }
    if (tls_1_3.empty()) {
      put("tls_max_version", "\"1.2\"", *entry);
    } else {
      put("tls_ciphersuites", toml_text(tls_1_3), *entry);
    }
  }

  bool has(std::string_view ours) const { return std::ranges::find(settings_, ours, &Setting::key) != settings_.end(); }

  Translation& common_;
  const EntryLookup& find_;
  bool initiator_;
  std::vector<Setting> settings_;
};

}  // namespace

bool tls_is_off(const EntryLookup& find) noexcept {
  const auto off = [&](std::string_view key) {
    const Entry* entry = find(key);
    return entry != nullptr && read_flag(entry->value) == false;
  };
  return off("SocketUseSSL") || off("SSLEnable");
}

std::vector<Setting> translate_tls(Translation& common, const EntryLookup& find, bool initiator) {
  return TlsTranslator{common, find, initiator}.translate();
}

}  // namespace nfx::quickfix
