// An acceptor for black-box acceptance suites: several sessions on one port, full dictionary validation. Echoes orders
// and security definitions with their fields in ascending order, and rejects everything else as unsupported.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "cli/command_line.hpp"
#include "control_port.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "session/poss_resend_filter.hpp"

namespace {

struct Peer {
  std::string_view begin_string;
  std::string_view comp_id;
  std::string_view version;  // version of the application messages
  bool allow_empty_values = false;
};

constexpr Peer peers[] = {
    {"FIX.4.0", "TW40", "FIX.4.0"},        {"FIX.4.1", "TW41", "FIX.4.1"},
    {"FIX.4.2", "TW42", "FIX.4.2"},        {"FIX.4.3", "TW43", "FIX.4.3"},
    {"FIX.4.4", "TW44", "FIX.4.4"},        {"FIXT.1.1", "TW50", "FIX.5.0"},
    {"FIXT.1.1", "TW50SP1", "FIX.5.0SP1"}, {"FIXT.1.1", "TW50SP2", "FIX.5.0SP2"},
    {"FIX.4.4", "TW", "FIX.4.4"},          {"FIX.4.4", "NO_CHECK_FIELDS_HAVE_VALUES", "FIX.4.4", true},
};

// Options on the command line that apply to all sessions.
struct Modes {
  bool reset_on_logon = true;
  std::uint32_t resend_chunk_size = 0;
  bool next_expected = false;
  bool last_processed = false;
  std::string one_version;  // "FIX.4.4": runs only its session, with a peer called TW
};

// A field outside any group, or a group: its count and all its entries, in wire order.
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
  nfx::Handled on_message(nfx::SessionHandle& session, const nfx::MessageView& message) override {
    const std::string_view type = message.msg_type();
    const bool has_definitions = session.config().begin_string >= "FIX.4.2";
    if (type == nfx::msg_type::new_order_single) {
      auto& seen = orders_.try_emplace(session.id(), orders_kept).first->second;
      const bool resend = message.get_view(nfx::Tag::PossResend) == "Y";
      if (!seen.accept(message.get_view(nfx::Tag::ClOrdID), resend)) return nfx::Handled::done;
      return echo(session, message);
    }
    if (type == "d" && has_definitions) return echo(session, message);
    if (session.config().begin_string == "FIXT.1.1") return refuse_over_fixt(session, message);
    return session.reject_business(message, nfx::BusinessRejectReason::unsupported_message_type,
                                   has_definitions ? "Unsupported Message Type" : "Unsupported message type");
  }

  void on_logout(nfx::SessionHandle& session, std::string_view) override { orders_.erase(session.id()); }

 private:
  static constexpr std::uint32_t orders_kept = 4096;

  // The suite expects the application version at the end of this one message.
  static nfx::Sent refuse_over_fixt(nfx::SessionHandle& session, const nfx::MessageView& message) {
    std::array<char, 256> buffer;
    nfx::FieldWriter body{buffer};
    body.append(nfx::Tag::RefSeqNum, message.get_view(nfx::Tag::MsgSeqNum))
        .append(nfx::Tag::Text, "Unsupported Message Type")
        .append(nfx::Tag::RefMsgType, message.msg_type())
        .append(nfx::Tag::BusinessRejectReason,
                static_cast<unsigned>(nfx::BusinessRejectReason::unsupported_message_type))
        .append(nfx::Tag::DefaultApplVerID, session.config().default_appl_ver_id);
    return session.send({.msg_type = nfx::msg_type::business_message_reject, .body = body.view()});
  }

  static nfx::Sent echo(nfx::SessionHandle& session, const nfx::MessageView& message) {
    constexpr nfx::Tag own[] = {nfx::Tag::BeginString,     nfx::Tag::BodyLength,
                                nfx::Tag::MsgType,         nfx::Tag::MsgSeqNum,
                                nfx::Tag::PossDupFlag,     nfx::Tag::SenderCompID,
                                nfx::Tag::SendingTime,     nfx::Tag::TargetCompID,
                                nfx::Tag::OrigSendingTime, nfx::Tag::LastMsgSeqNumProcessed};
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
    return session.send({.msg_type = message.msg_type(), .body = body_fields, .header_fields = header_fields});
  }

  std::map<std::size_t, nfx::PossResendFilter> orders_;
};

std::shared_ptr<const nfx::Dictionary> dictionary_of(const Peer& peer) {
  static std::map<std::string_view, std::shared_ptr<const nfx::Dictionary>> loaded;
  auto& dictionary = loaded[peer.version];
  if (dictionary) return dictionary;
  const auto path = [](std::string_view file) { return std::string{NFX_SOURCE_DIR "/dictionaries/"}.append(file); };
  nfx::DictionaryFiles files;
  if (peer.begin_string == "FIXT.1.1") files.transport = path("FIXT11.xml");
  files.application = path(nfx::shipped_file(peer.version));
  dictionary = std::make_shared<const nfx::Dictionary>(nfx::load_dictionary(files));
  return dictionary;
}

nfx::EngineConfig make_config(const nfx::Endpoint& endpoint, const Modes& modes) {
  nfx::EngineConfig config;
  for (const Peer& peer : peers) {
    const bool alone = !modes.one_version.empty();
    if (alone && (peer.version != modes.one_version || !config.sessions.empty())) continue;
    nfx::SessionSettings settings;
    settings.session.begin_string = peer.begin_string;
    if (peer.begin_string == "FIXT.1.1") settings.session.default_appl_ver_id = nfx::appl_ver_id_of(peer.version);
    settings.session.sender_comp_id = "ISLD";
    settings.session.target_comp_id = alone ? "TW" : peer.comp_id;
    settings.session.reset_on_logon = modes.reset_on_logon;
    settings.session.allow_no_heartbeats = true;
    settings.session.answer_incomplete_logon = false;
    settings.session.resend_chunk_size = modes.resend_chunk_size;
    settings.session.send_next_expected_seq_num = modes.next_expected;
    settings.session.send_last_msg_seq_num_processed = modes.last_processed;
    nfx::ValidationChecks checks = nfx::ValidationPolicy::strict().checks();
    if (peer.allow_empty_values) checks.values_present = nfx::ValidationMode::off;
    settings.session.validation = nfx::ValidationPolicy{checks};
    settings.listen = endpoint;
    settings.dictionary = dictionary_of(peer);
    config.sessions.push_back(std::move(settings));
  }
  return config;
}

nfx::Engine* running = nullptr;

}  // namespace

int main(int argc, char** argv) {
  nfx::Endpoint endpoint{"127.0.0.1", 5001};
  std::string directory;
  Modes modes;
  bool no_reset = false;
  std::uint16_t control = 0;
  const nfx::cli::Command program{
      .name = "acceptance_server",
      .summary = "FIX acceptor for black-box acceptance suites",
      .options = {{.names = "--host", .target = &endpoint.host, .help = "Address to listen on"},
                  {.names = "--port", .target = &endpoint.port, .help = "Port to listen on", .range = {{0, 65535}}},
                  {.names = "--dir",
                   .target = &directory,
                   .help = "Working directory for what has to be stored",
                   .kind = nfx::cli::Kind::existing_folder},
                  {.names = "--resend-chunk-size",
                   .target = &modes.resend_chunk_size,
                   .help = "Messages per ResendRequest; 0: all"},
                  {.names = "--next-expected",
                   .target = &modes.next_expected,
                   .help = "NextExpectedMsgSeqNum(789) in Logon"},
                  {.names = "--last-processed",
                   .target = &modes.last_processed,
                   .help = "LastMsgSeqNumProcessed(369) in every header"},
                  {.names = "--one-version",
                   .target = &modes.one_version,
                   .help = "Only this version's session, with a peer called TW"},
                  {.names = "--control",
                   .target = &control,
                   .help = "Port on loopback that sets sequence numbers: GET /set?session=...&NEXTSENDERSEQNUM=..."},
                  {.names = "--no-reset",
                   .target = &no_reset,
                   .help = "Keep sequence numbers from Logon to Logon, as RESET_ON_LOGON=N does"}},
  };
  if (const auto exit_code = nfx::cli::parse(program, argc, argv)) return *exit_code;
  try {
    if (!directory.empty()) std::filesystem::current_path(directory);
    const char* reset = std::getenv("RESET_ON_LOGON");
    modes.reset_on_logon = !no_reset && (reset == nullptr || std::string_view{reset} != "N");
    EchoApplication application;
    nfx::Engine engine{make_config(endpoint, modes), application};
    running = &engine;
    std::optional<ControlPort> control_port;
    if (control != 0) control_port.emplace(engine, control);
    for (const int signal : {SIGTERM, SIGINT}) std::signal(signal, [](int) { running->stop(); });
    engine.run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "acceptance_server: %s\n", error.what());
    return 1;
  }
  return 0;
}
