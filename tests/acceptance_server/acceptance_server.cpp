// An acceptor for black-box acceptance suites: several sessions on one port, orders and security definitions echoed
// with their fields in ascending order, everything else refused as unsupported, full dictionary validation.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace {

struct Peer {
  std::string_view begin_string;
  std::string_view comp_id;
  std::string_view dictionary;  // empty: the session layer's checks only
  bool allow_empty_values = false;
};

constexpr Peer peers[] = {
    {"FIX.4.2", "TW42", "FIX42.xml"},
    {"FIX.4.3", "TW43", ""},
    {"FIX.4.4", "TW44", "FIX44.xml"},
    {"FIX.4.4", "TW", "FIX44.xml"},
    {"FIX.4.4", "NO_CHECK_FIELDS_HAVE_VALUES", "FIX44.xml", true},
};

// One field outside any group, or a group: its count and everything that belongs to it, kept in wire order.
struct Item {
  nfx::Tag tag;
  std::string text;
};

void append_field(std::string& out, const nfx::Field& field) {
  out += std::to_string(nfx::value(field.tag));
  out += '=';
  out += field.value;
  out += nfx::soh;
}

std::string joined(std::vector<Item>& items) {
  std::ranges::sort(items, {}, &Item::tag);
  std::string out;
  for (const Item& item : items) out += item.text;
  return out;
}

class EchoApplication final : public nfx::Application {
 public:
  void on_message(nfx::SessionHandle& session, const nfx::MessageView& message) override {
    const std::string_view type = message.msg_type();
    const bool has_definitions = session.config().begin_string >= "FIX.4.2";
    if (type == nfx::msg_type::new_order_single) {
      auto& seen = orders_[session.id()];
      const std::string id{message.get_view(nfx::Tag::ClOrdID)};
      if (message.get_view(nfx::Tag::PossResend) == "Y" && seen.contains(id)) return;
      seen.insert(id);
      return echo(session, message);
    }
    if (type == "d" && has_definitions) return echo(session, message);
    session.reject_business(message, nfx::BusinessRejectReason::unsupported_message_type,
                            has_definitions ? "Unsupported Message Type" : "Unsupported message type");
  }

  void on_logout(nfx::SessionHandle& session, std::string_view) override { orders_.erase(session.id()); }

 private:
  static void echo(nfx::SessionHandle& session, const nfx::MessageView& message) {
    constexpr nfx::Tag own[] = {nfx::Tag::BeginString, nfx::Tag::BodyLength,   nfx::Tag::MsgType,
                                nfx::Tag::MsgSeqNum,   nfx::Tag::PossDupFlag,  nfx::Tag::SenderCompID,
                                nfx::Tag::SendingTime, nfx::Tag::TargetCompID, nfx::Tag::OrigSendingTime};
    std::vector<Item> header, body;
    for (std::uint32_t i = 0; i < message.size(); ++i) {
      const nfx::Field field = message[i];
      if (std::ranges::find(own, field.tag) != std::end(own) || nfx::is_trailer_tag(field.tag)) continue;
      std::vector<Item>& part = nfx::is_header_tag(field.tag) ? header : body;
      part.push_back({field.tag, {}});
      append_field(part.back().text, field);
      const auto* dictionary = session.config().dictionary;
      const nfx::GroupShape* group = dictionary ? dictionary->group_shape(message.msg_type(), field.tag) : nullptr;
      while (group != nullptr && i + 1 < message.size() && group->contains(message.tag_at(i + 1))) {
        append_field(part.back().text, message[++i]);
      }
    }
    const std::string header_fields = joined(header), body_fields = joined(body);
    session.send({.msg_type = message.msg_type(), .body = body_fields, .header_fields = header_fields});
  }

  std::map<std::size_t, std::set<std::string>> orders_;
};

nfx::EngineConfig make_config(const nfx::Endpoint& endpoint, bool reset_on_logon) {
  nfx::EngineConfig config;
  std::map<std::string, std::shared_ptr<const nfx::Dictionary>> dictionaries;
  for (const Peer& peer : peers) {
    nfx::SessionSettings settings;
    settings.session.begin_string = peer.begin_string;
    settings.session.sender_comp_id = "ISLD";
    settings.session.target_comp_id = peer.comp_id;
    settings.session.reset_on_logon = reset_on_logon;
    settings.session.validation = {};
    settings.session.validation.check_values_present = !peer.allow_empty_values;
    settings.listen = endpoint;
    if (!peer.dictionary.empty()) {
      const std::string path = std::string{NFX_SOURCE_DIR "/dictionaries/"}.append(peer.dictionary);
      auto& dictionary = dictionaries[path];
      if (!dictionary) dictionary = std::make_shared<const nfx::Dictionary>(nfx::load_dictionary(path));
      settings.dictionary = dictionary;
    }
    config.sessions.push_back(std::move(settings));
  }
  return config;
}

nfx::Engine* running = nullptr;

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"FIX acceptor for black-box acceptance suites"};
  nfx::Endpoint endpoint{"127.0.0.1", 5001};
  std::string directory;
  app.add_option("--host", endpoint.host, "address to listen on")->capture_default_str();
  app.add_option("--port", endpoint.port, "port to listen on")->capture_default_str();
  app.add_option("--dir", directory, "working directory for whatever has to be kept")->check(CLI::ExistingDirectory);
  CLI11_PARSE(app, argc, argv);
  try {
    if (!directory.empty()) std::filesystem::current_path(directory);
    const char* reset = std::getenv("RESET_ON_LOGON");
    EchoApplication application;
    nfx::Engine engine{make_config(endpoint, reset == nullptr || std::string_view{reset} != "N"), application};
    running = &engine;
    for (const int signal : {SIGTERM, SIGINT}) std::signal(signal, [](int) { running->stop(); });
    engine.run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "acceptance_server: %s\n", error.what());
    return 1;
  }
  return 0;
}
