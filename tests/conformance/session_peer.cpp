// Runs scenarios with a Session alone, and a clock that only the scenario advances.
#include "session_peer.hpp"

#include <map>

#include "nexusfix/dictionary/load.hpp"

namespace nfx::conformance {
namespace {

// Dictionaries are read once for all scenarios.
const Dictionary* dictionary(const std::string& name) {
  if (name.empty()) return nullptr;
  static std::map<std::string, Dictionary> loaded;
  auto found = loaded.find(name);
  if (found == loaded.end()) {
    const auto path = [](std::string_view file) {
      return std::string{NFX_SOURCE_DIR "/dictionaries/"}.append(file).append(".xml");
    };
    DictionaryFiles files;
    const std::size_t plus = name.find('+');
    if (plus != std::string::npos) files.transport = path(std::string_view{name}.substr(0, plus));
    files.application = path(std::string_view{name}.substr(plus == std::string::npos ? 0 : plus + 1));
    found = loaded.emplace(name, load_dictionary(files)).first;
  }
  return &found->second;
}

}  // namespace

SessionConfig complete(const Setup& setup) {
  SessionConfig config = setup.config;
  config.dictionary = dictionary(setup.dictionary);
  config.validation = ValidationPolicy{setup.checks, setup.validation};
  return config;
}

SessionPeer::SessionPeer(const Setup& setup) : rig_(complete(setup)) {
  rig_.keep_messages = setup.keep_messages;
  rig_.session.restore(setup.next_inbound, setup.next_outbound);
}

void SessionPeer::send(std::string_view bytes) { rig_.receive(bytes); }

std::optional<std::string> SessionPeer::next_message() { return take_first(rig_.sent); }

bool SessionPeer::quiet() { return rig_.sent.empty() && rig_.delivered.empty() && rig_.rejects.empty(); }

std::optional<std::string> SessionPeer::delivered() { return take_first(rig_.delivered); }

std::optional<std::string> SessionPeer::reported() { return take_first(rig_.rejects); }

bool SessionPeer::app_send(const Outgoing& message) {
  return rig_.send(message.msg_type, message.body, message.header_fields).has_value();
}

bool SessionPeer::app_reject(std::string_view refused, BusinessRejectReason reason, std::string_view text) {
  return rig_.reject_business(refused, reason, text).has_value();
}

}  // namespace nfx::conformance
