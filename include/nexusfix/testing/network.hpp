// A network in memory with a clock that the test moves: a program's sessions run on it as on TCP, in one thread,
// without sockets, files and sleeps, and the same in every run.
//
//   nfx::testing::Network network;
//   Desk desk;
//   network.engine(nfx::testing::acceptor("DESK", "TRADER"), desk);    // or a configuration: nfx::load_config(...)
//   nfx::testing::Peer trader{network, "TRADER", "DESK"};              // or a second engine
//
// Thread: one for the network and everything on it. Callbacks run within run() and advance(). Cost: an idle round takes
// about a microsecond. Lifetime: applications outlive the last run(), engines live as long as the network. Errors:
// TestError, and ConfigError for a configuration that no engine would start with. If a callback throws, its session is
// logged out, as in production.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/base/language.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/tag.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/engine/application.hpp"
#include "nexusfix/engine/session_handle.hpp"
#include "nexusfix/engine/submit.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::testing {

class NetworkParts;
class EngineParts;

struct NetworkOptions {
  UtcTime start{std::chrono::sys_days{std::chrono::year{2024} / 3 / 15} + std::chrono::hours{12}};  // a Friday
  // Bytes on their way in one direction of a connection. Beyond, the sender waits until the other side reads; an engine
  // holds another send_buffer_size of its session before send() returns would_block.
  std::size_t stream_buffer = 64 * 1024;
  std::uint32_t max_rounds = 100'000;  // of one run()
};

// The sessions of one configuration and their application.
class TestEngine {
 public:
  ~TestEngine();
  TestEngine(const TestEngine&) = delete;
  TestEngine& operator=(const TestEngine&) = delete;

  // By its position in the configuration. What is sent with it leaves in the next run(). Throws TestError when there is
  // no such session.
  [[nodiscard]] SessionHandle& session(std::size_t number = 0);
  // As Engine::submit: for the code of a program that sends from other threads.
  [[nodiscard]] SubmitResult submit(std::size_t session, const Outgoing& message, SubmitOptions options = {}) noexcept;
  // As Engine::stop: the next run() logs the sessions out. finished() once they are gone.
  void stop() noexcept;
  [[nodiscard]] bool finished() const noexcept;

 private:
  friend class Network;
  explicit TestEngine(std::unique_ptr<EngineParts> parts) noexcept;

  std::unique_ptr<EngineParts> parts_;
};

class Network {
 public:
  explicit Network(NetworkOptions options = {});
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // Starts an engine, as nfx::Engine does: acceptors listen, initiators connect. Only the port of an address counts:
  // the network has one host. Sessions run on one poll thread, the test's, with their messages stored in memory; logs,
  // metrics, [placement], [control] and [cluster] are not in use. Throws ConfigError as the engine does, also for a
  // port where another engine listens, and TestError for a session with TLS.
  TestEngine& engine(EngineConfig config, Callbacks program);
  TestEngine& engine(SessionSettings session, Callbacks program);

  // Runs engines and peers in turn until nothing more happens; no time passes. Throws TestError, which names the
  // busiest session, when something still happens after max_rounds, and when a callback calls run(), advance() or
  // engine().
  void run();
  // Time passes, from one event that is due to the next (heartbeats, timeouts, schedules, what on_turn asks for), with
  // a run() before, between and after. Events that are less than a millisecond apart happen together. Throws TestError
  // for a time before now.
  void advance(Duration by);
  void advance_to(UtcTime time);
  [[nodiscard]] UtcTime now() const noexcept;

 private:
  friend class Peer;
  std::shared_ptr<NetworkParts> parts_;  // peers may end after the network
};

// A session of FIX 4.4 with the shipped dictionary, as of a configuration that names none, and the port that peers and
// initiators use when they name none. Sessions of other versions come from nfx::load_config() or nfx::parse_config().
// The dictionary is read once. Errors: DictionaryError where it is not installed.
inline constexpr std::uint16_t default_port = 9878;
[[nodiscard]] SessionSettings acceptor(std::string sender_comp_id, std::string target_comp_id,
                                       std::uint16_t port = default_port);
[[nodiscard]] SessionSettings initiator(std::string sender_comp_id, std::string target_comp_id,
                                        std::uint16_t port = default_port);

// The exception that ends a test: the test itself is wrong, or something that it requires did not happen. Its text is
// one line that names what happened instead, and what to write.
class TestError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A message that a peer received, with its own bytes.
// Thread: values. Lifetime: copies share the bytes, and views of them live as long as one copy does.
class Received {
 public:
  // Throws TestError for bytes that are no FIX message.
  explicit Received(std::string bytes);

  [[nodiscard]] const MessageView& view() const noexcept { return parts_->view; }
  [[nodiscard]] std::string_view bytes() const noexcept { return parts_->bytes; }
  [[nodiscard]] std::string_view msg_type() const noexcept { return view().msg_type(); }
  // The value of the first field with this tag; empty when there is none.
  [[nodiscard]] std::string_view operator[](Tag tag) const noexcept { return view().get_view(tag); }
  [[nodiscard]] std::string_view operator[](int tag) const noexcept { return view().get_view(Tag{tag}); }
  // With '|' for SOH, for the output of a test. Secrets are masked.
  [[nodiscard]] std::string text() const;

 private:
  struct Parts {
    std::string bytes;
    MessageView view;
  };
  std::shared_ptr<const Parts> parts_;
};

namespace detail {
struct KeptMessage {
  Received message;
};
}  // namespace detail

// The same with the getters of a message that `nfx codegen` writes.
template <typename Reader>
class TypedReceived : private detail::KeptMessage, public Reader {
 public:
  explicit TypedReceived(Received received)
      : detail::KeptMessage{std::move(received)}, Reader(detail::KeptMessage::message.view()) {}
  [[nodiscard]] const Received& received() const noexcept { return detail::KeptMessage::message; }
};

class PeerParts;
class Peer;
template <TypedMessage Message>
class PeerDraft;

struct PeerOptions {
  std::string begin_string{};  // empty: as the engine's session, "FIX.4.4" without one
  std::uint16_t connect = 0;   // the port to connect to; 0: the port of the engine's session
  std::uint16_t listen = 0;    // not 0: an initiator connects here. Such a peer is made before the engine
};

// A body's fields end with '|' or SOH; one that has a SOH is sent unchanged.
struct PeerMessage {
  std::string_view msg_type;
  std::string_view body{};
  std::optional<SeqNum> number{};  // instead of next_number(), which then stays
  bool poss_dup = false;
  bool wrong_check_sum = false;
};

// A counterparty whose messages the test writes: right ones, wrong ones, and none at all.
//
//   Peer trader{network, "TRADER", "DESK"};
//   trader.logon();
//   auto order = trader.create<fix44::NewOrderSingle>();               // or trader.send({"D", "11=A1|55=XYZ|..."});
//   order.cl_ord_id("A1").symbol("XYZ").side(fix44::Side::buy);        // required fields may be missing
//   order.send();
//   network.run();                                                     // only then the engine gets it, and answers
//   auto report = trader.receive<fix44::ExecutionReport>();
//
// The peer writes header, sequence number, BodyLength and CheckSum. It takes BeginString and the fields that identify
// the session from the engine's session with the mirrored CompIDs. By itself the peer answers TestRequest with
// Heartbeat and Logout with Logout, and nothing else. Thread: the network's. Lifetime: any. Errors: TestError.
class Peer {
 public:
  Peer(Network& network, std::string sender_comp_id, std::string target_comp_id, PeerOptions options = {});
  ~Peer();
  Peer(Peer&&) noexcept;
  Peer& operator=(Peer&&) noexcept;

  // logon() and logout() run the network, and throw when the session does not begin, with the reason, or is not there.
  // `fields` follow EncryptMethod(98) and HeartBtInt(108): "141=Y|" also sets next_number() to 1.
  void logon(std::string_view fields = {});
  void logout(std::string_view text = {});
  // For a Logon that the test writes: connect(), run(), send({"A", ...}).
  void connect();
  // Ends the connection without Logout, as a failing network would.
  void disconnect();
  [[nodiscard]] bool connected() const noexcept;
  [[nodiscard]] bool logged_on() const noexcept;

  // Leaves in the next run(). Throws when the peer has no connection.
  void send(const PeerMessage& message);
  void send_bytes(std::string_view bytes);
  template <TypedMessage Message>
  [[nodiscard]] PeerDraft<Message> create() {
    return PeerDraft<Message>{*this};
  }
  [[nodiscard]] SeqNum next_number() const noexcept;
  void set_next_number(SeqNum number) noexcept;

  // false: does not read, so that the network is full in the end and the engine cannot send; nor does the peer notice
  // that its connection ends.
  void set_reading(bool reading) noexcept;
  // false: answers neither TestRequest nor Logout, as a program that hangs.
  void set_answering(bool answering) noexcept;

  // The application messages that came since the last call, and the session messages: each is returned once.
  std::vector<Received> received();
  std::vector<Received> session_messages();
  // The first of these application messages. Throws when there is none, or one of another type. Views of the last 1,024
  // that were returned stay valid as long as the peer: a test may keep receive<...>().cl_ord_id().
  [[nodiscard]] Received receive();
  [[nodiscard]] Received receive(std::string_view msg_type);
  template <typename Reader>
    requires TypedMessage<Reader>
  [[nodiscard]] TypedReceived<Reader> receive() {
    return TypedReceived<Reader>{receive(Reader::msg_type)};
  }

 private:
  template <TypedMessage Message>
  friend class PeerDraft;
  static constexpr std::size_t draft_size = 64 * 1024;
  void send_written(std::string_view msg_type, const FieldWriter& fields, std::string_view wrong);

  std::unique_ptr<PeerParts> parts_;
};

namespace detail {
struct DraftSpace {
  std::unique_ptr<char[]> space;
};
}  // namespace detail

// A message with the setters of its builder. Throws when a field cannot be written, or a group is not complete.
template <TypedMessage Message>
class PeerDraft : private detail::DraftSpace, public Message::template Builder<FieldWriter> {
  using Builder = typename Message::template Builder<FieldWriter>;

 public:
  PeerDraft(const PeerDraft&) = delete;
  PeerDraft& operator=(const PeerDraft&) = delete;
  void send() {
    char wrong[128];
    peer_.send_written(Message::msg_type, this->fields(), to_text(this->build_fault(), wrong));
  }

 private:
  friend class Peer;
  explicit PeerDraft(Peer& peer)
      : detail::DraftSpace{std::make_unique_for_overwrite<char[]>(Peer::draft_size)},
        Builder(std::span<char>{detail::DraftSpace::space.get(), Peer::draft_size}),
        peer_(peer) {}

  Peer& peer_;
};

}  // namespace nfx::testing
