// What TLS adds to a transport: handshakes that succeed or say why not, goodbyes, bounds.
#include "nexusfix/transport/tls_transport.hpp"

#include <gtest/gtest.h>

#include "transport/tls_testing.hpp"

namespace nfx {
namespace {

using namespace testing;

TestCertificates& certificates() { return TestCertificates::get(); }

// One attempt of a client to reach a server; both ends' words about it.
struct Attempt {
  bool accepted = false;
  bool connected = false;
  std::optional<CloseReason> closed;
  std::string client_says;
  std::string server_says;
  std::optional<TlsFacts> client_facts;
  std::optional<TlsFacts> server_facts;
};

template <class P = TlsTcpPair>
Attempt attempt(const TlsOptions& server, const TlsOptions& client) {
  P pair;
  SocketOptions server_socket;
  server_socket.tls = tls(server);
  SocketOptions client_socket;
  client_socket.tls = tls(client);
  const auto listener = pair.server.listen({"127.0.0.1", 0}, server_socket);
  EXPECT_TRUE(listener.has_value());
  const auto id = pair.client.connect(*pair.server.local_endpoint(*listener), client_socket);
  EXPECT_TRUE(id.has_value());
  Attempt seen;
  pair.client_sink.when_closed = [&](ConnectionId closed) { seen.client_says = pair.client.tls_error(closed); };
  // In TLS 1.3 a client is done before the server has seen its certificate, so the server's word is waited for.
  EXPECT_TRUE(pair.turn_until([&] {
    return (!pair.server_sink.accepted.empty() && !pair.client_sink.connected.empty()) ||
           (pair.client_sink.closed.contains(*id) && pair.server.handshakes_in_progress() == 0);
  }));
  seen.accepted = !pair.server_sink.accepted.empty();
  seen.connected = !pair.client_sink.connected.empty();
  if (pair.client_sink.closed.contains(*id)) seen.closed = pair.client_sink.closed[*id];
  seen.server_says = pair.server.last_tls_failure().text;
  seen.client_facts = pair.client.tls_facts(*id);
  if (seen.accepted) seen.server_facts = pair.server.tls_facts(pair.server_sink.accepted.back());
  return seen;
}

void expect_text(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << text << "\" lacks \"" << part << "\"";
}

TEST(TlsTransport, encrypts_what_crosses_the_network) {
  LoopbackNetwork network;
  LoopbackTransport server(network);
  LoopbackTransport inner(network);
  TlsTransport<LoopbackTransport> client(inner);
  RecordingSink server_sink;
  RecordingSink client_sink;
  const auto listener = server.listen({"127.0.0.1", 0});
  SocketOptions socket;
  socket.tls = tls(certificates().client_options());
  ASSERT_TRUE(client.connect(*server.local_endpoint(*listener), socket).has_value());
  for (int i = 0; i < 3; ++i) {
    client.poll(client_sink, 0ns);
    server.poll(server_sink, 0ns);
  }
  ASSERT_EQ(server_sink.accepted.size(), 1U);
  // A record of the handshake: the ClientHello of TLS.
  EXPECT_TRUE(server_sink.received[server_sink.accepted[0]].starts_with("\x16\x03\x01"));
  EXPECT_TRUE(client_sink.connected.empty());
}

TEST(TlsTransport, leaves_connections_without_a_context_as_they_are) {
  TlsTcpPair pair;
  const auto ids = pair.join();
  EXPECT_EQ(pair.client.tls_facts(ids.client), std::nullopt);
  EXPECT_EQ(pair.client.try_send(ids.client, bytes_of("plain")).sent, 5U);
  EXPECT_TRUE(pair.turn_until([&] { return pair.server_sink.received[ids.server] == "plain"; }));
  EXPECT_EQ(pair.client.counters(), TlsCounters{});
}

TEST(TlsTransport, agrees_on_version_and_cipher_and_knows_the_peer) {
  const Attempt seen = attempt(certificates().server_options(), certificates().client_options());
  ASSERT_TRUE(seen.client_facts && seen.server_facts);
  EXPECT_EQ(seen.client_facts->version, "TLSv1.3");
  EXPECT_TRUE(seen.client_facts->cipher.starts_with("TLS_"));
  ASSERT_EQ(seen.client_facts->chain.size(), 1U);
  EXPECT_EQ(seen.client_facts->chain[0].subject, "CN=server");
  EXPECT_EQ(seen.client_facts->chain[0].names, (std::vector<std::string>{"DNS:localhost", "IP:127.0.0.1"}));
  EXPECT_TRUE(seen.client_facts->problems.empty());
  EXPECT_FALSE(seen.client_facts->certificate_requested);
  EXPECT_TRUE(seen.server_facts->chain.empty());
}

TEST(TlsTransport, keeps_to_versions_and_ciphers_that_are_allowed) {
  TlsOptions old = certificates().server_options();
  old.max_version = TlsVersion::tls_1_2;
  old.ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384";
  const Attempt seen = attempt(old, certificates().client_options());
  ASSERT_TRUE(seen.client_facts.has_value()) << seen.client_says;
  EXPECT_EQ(seen.client_facts->version, "TLSv1.2");
  EXPECT_EQ(seen.client_facts->cipher, "ECDHE-ECDSA-AES256-GCM-SHA384");
  TlsOptions modern = certificates().client_options();
  modern.min_version = TlsVersion::tls_1_3;
  const Attempt refused = attempt(old, modern);
  EXPECT_EQ(refused.closed, CloseReason::tls_failed);
  EXPECT_FALSE(refused.accepted);
  expect_text(refused.client_says, "tls_min_version");
  expect_text(refused.server_says, "no version of TLS");
  TlsOptions suite = certificates().client_options();
  suite.ciphersuites = "TLS_CHACHA20_POLY1305_SHA256";
  EXPECT_EQ(attempt(certificates().server_options(), suite).client_facts->cipher, "TLS_CHACHA20_POLY1305_SHA256");
}

TEST(TlsTransport, refuses_a_certificate_of_an_authority_it_does_not_know) {
  const TemporaryFolder folder;
  const Authority other(folder, "Other CA");
  TlsOptions client = certificates().client_options();
  client.ca = other.file();
  const Attempt seen = attempt(certificates().server_options(), client);
  EXPECT_FALSE(seen.connected || seen.accepted);
  EXPECT_EQ(seen.closed, CloseReason::tls_failed);
  expect_text(seen.client_says, "issued by CN=Test CA; add that authority to tls_ca");
  expect_text(seen.server_says, "alert unknown ca");
}

TEST(TlsTransport, refuses_a_server_with_another_name_and_says_both) {
  TlsOptions client = certificates().client_options();
  client.server_name = "fix.example";
  const Attempt seen = attempt(certificates().server_options(), client);
  EXPECT_EQ(seen.closed, CloseReason::tls_failed);
  expect_text(seen.client_says, "host name mismatch: wanted fix.example, certificate has DNS:localhost, IP:127.0.0.1");
  client.check_name = false;
  EXPECT_TRUE(attempt(certificates().server_options(), client).connected);
  client.check_name = true;
  client.server_name = "LocalHost";
  EXPECT_TRUE(attempt(certificates().server_options(), client).connected);
}

TEST(TlsTransport, checks_an_address_against_the_addresses_of_the_certificate) {
  CertificateWish wish;
  wish.name = "elsewhere";
  wish.alternative_names = "DNS:127.0.0.1,IP:192.0.2.7";
  TlsOptions server = certificates().server_options();
  const auto files = certificates().authority.issue(wish);
  server.certificate = files.certificate;
  server.key = files.key;
  const Attempt seen = attempt(server, certificates().client_options());
  EXPECT_EQ(seen.closed, CloseReason::tls_failed);
  expect_text(seen.client_says, "wanted 127.0.0.1, certificate has DNS:127.0.0.1, IP:192.0.2.7");
}

TEST(TlsTransport, accepts_anything_when_told_not_to_verify_but_writes_down_what_was_wrong) {
  const TemporaryFolder folder;
  const Authority other(folder, "Other CA");
  TlsOptions client;
  client.ca = other.file();
  client.verify = false;
  client.server_name = "fix.example";
  const Attempt seen = attempt(certificates().server_options(), client);
  ASSERT_TRUE(seen.connected && seen.client_facts);
  ASSERT_GE(seen.client_facts->problems.size(), 2U);
  expect_text(seen.client_facts->problems.back(), "host name mismatch");
}

TEST(TlsTransport, demands_a_client_certificate_when_told_to) {
  TlsOptions server = certificates().server_options();
  server.client_certificate = ClientCertificate::require;
  for (const TlsVersion version : {TlsVersion::tls_1_2, TlsVersion::tls_1_3}) {
    server.max_version = version;
    const Attempt none = attempt(server, certificates().client_options());
    EXPECT_FALSE(none.accepted);
    expect_text(none.server_says, "the client sent no certificate");
    TlsOptions client = certificates().client_options();
    client.certificate = certificates().client.certificate;
    client.key = certificates().client.key;
    const Attempt known = attempt(server, client);
    ASSERT_TRUE(known.accepted) << known.server_says;
    EXPECT_TRUE(known.client_facts->certificate_requested);
    ASSERT_EQ(known.server_facts->chain.size(), 1U);
    EXPECT_EQ(known.server_facts->chain[0].subject, "CN=desk");
  }
  server.client_certificate = ClientCertificate::request;
  EXPECT_TRUE(attempt(server, certificates().client_options()).accepted);
}

TEST(TlsTransport, lets_in_only_clients_with_a_name_on_the_list) {
  TlsOptions server = certificates().server_options();
  server.client_certificate = ClientCertificate::require;
  TlsOptions client = certificates().client_options();
  client.certificate = certificates().client.certificate;
  client.key = certificates().client.key;
  for (const char* name : {"desk", "*.example", "fix:DESK"}) {
    server.peer_names = {"nobody", name};
    EXPECT_TRUE(attempt(server, client).accepted) << name;
  }
  server.peer_names = {"des", "example", "*.desk.example"};
  const Attempt stranger = attempt(server, client);
  EXPECT_FALSE(stranger.accepted);
  expect_text(stranger.server_says, "carries none of tls_peer_names: CN=desk");
}

TEST(TlsTransport, refuses_revoked_certificates_and_misses_lists_that_are_not_there) {
  TlsOptions client = certificates().client_options();
  const Authority& authority = certificates().authority;
  client.crl = {authority.revocations({certificates().server.serial}, 86400, "with.crl")};
  const Attempt revoked = attempt(certificates().server_options(), client);
  EXPECT_EQ(revoked.closed, CloseReason::tls_failed);
  expect_text(revoked.client_says, "certificate revoked (subject CN=server");
  expect_text(revoked.server_says, "alert certificate revoked");
  client.crl = {authority.revocations({1}, 86400, "without.crl")};
  EXPECT_TRUE(attempt(certificates().server_options(), client).connected);

  const TemporaryFolder folder;
  Authority root(folder, "Root CA");
  Authority between(folder, "Issuing CA", &root);
  const auto files = between.issue({}, &between);
  TlsOptions server;
  server.certificate = files.certificate;
  server.key = files.key;
  client.ca = root.file();
  client.crl = {between.revocations({}, 86400, "between.crl")};
  const Attempt missing = attempt(server, client);
  EXPECT_FALSE(missing.connected);
  expect_text(missing.client_says, "tls_crl has no revocation list of CN=Root CA");
  client.crl.push_back(root.revocations({}, 86400, "root.crl"));
  EXPECT_TRUE(attempt(server, client).connected);
}

TEST(TlsTransport, agrees_on_an_application_protocol_or_fails) {
  TlsOptions server = certificates().server_options();
  server.alpn = {"fixt", "fix"};
  TlsOptions client = certificates().client_options();
  client.alpn = {"other", "fix"};
  const Attempt seen = attempt(server, client);
  ASSERT_TRUE(seen.client_facts && seen.server_facts);
  EXPECT_EQ(seen.client_facts->protocol, "fix");
  EXPECT_EQ(seen.server_facts->protocol, "fix");
  client.alpn = {"other"};
  const Attempt refused = attempt(server, client);
  EXPECT_EQ(refused.closed, CloseReason::tls_failed);
  expect_text(refused.client_says, "tls_alpn");
}

TEST(TlsTransport, says_that_a_peer_speaks_no_tls) {
  TlsTcpPair pair;
  const auto listener = pair.server.listen({"127.0.0.1", 0});  // without TLS
  pair.socket.tls = tls(certificates().client_options());
  const auto id = pair.client.connect(*pair.server.local_endpoint(*listener), pair.socket);
  pair.server_sink.when_received = [&](ConnectionId from, std::span<const char>) {
    (void)pair.server.try_send(from, bytes_of("8=FIX.4.4|9=5|35=0|10=163|"));
  };
  ASSERT_TRUE(pair.turn_until([&] { return pair.client_sink.closed.contains(*id); }));
  EXPECT_EQ(pair.client_sink.closed[*id], CloseReason::tls_failed);
  expect_text(pair.client.last_tls_failure().text, "does not speak TLS");
  EXPECT_EQ(pair.client.last_tls_failure().peer, to_string(*pair.server.local_endpoint(*listener)));
}

TEST(TlsTransport, never_tells_of_a_client_that_speaks_no_tls) {
  TlsTcpPair pair;
  pair.socket.tls = pair.default_tls;
  const auto listener = pair.server.listen({"127.0.0.1", 0}, pair.socket);
  const auto id = pair.client.connect(*pair.server.local_endpoint(*listener));
  ASSERT_TRUE(pair.turn_until([&] { return !pair.client_sink.connected.empty(); }));
  EXPECT_GT(pair.client.try_send(*id, bytes_of("8=FIX.4.4|9=5|35=0|10=163|")).sent, 0U);
  ASSERT_TRUE(pair.turn_until([&] { return pair.client_sink.closed.contains(*id); }));
  EXPECT_TRUE(pair.server_sink.log.empty()) << pair.server_sink.log;
  EXPECT_EQ(pair.server.counters().handshakes_failed, 1U);
  EXPECT_TRUE(pair.server.last_tls_failure().accepted);
  expect_text(pair.server.last_tls_failure().peer, "127.0.0.1:");
}

TEST(TlsTransport, gives_up_handshakes_that_take_too_long) {
  TlsLoopbackPair pair(TlsTransportOptions{.handshake_timeout = 5s});
  pair.socket.tls = pair.default_tls;
  const auto listener = pair.server.listen({"here", 0}, pair.socket);
  const auto silent = pair.client.connect(*pair.server.local_endpoint(*listener));
  pair.turns(5);
  EXPECT_EQ(pair.server.handshakes_in_progress(), 1U);
  pair.now += 5s - 1ns;
  pair.turns(5);
  EXPECT_EQ(pair.server.handshakes_in_progress(), 1U);
  pair.now += 1ns;
  ASSERT_TRUE(pair.turn_until([&] { return pair.client_sink.closed.contains(*silent); }));
  EXPECT_EQ(pair.server.handshakes_in_progress(), 0U);
  EXPECT_EQ(pair.server.counters().handshakes_late, 1U);
  EXPECT_TRUE(pair.server_sink.log.empty());

  // The other way round: a server that accepts and says nothing.
  const auto plain = pair.server.listen({"here", 0});
  const auto waiting = pair.client.connect(*pair.server.local_endpoint(*plain), pair.socket);
  pair.turns(5);
  pair.now += 5s;
  ASSERT_TRUE(pair.turn_until([&] { return pair.client_sink.closed.contains(*waiting); }));
  EXPECT_EQ(pair.client_sink.closed[*waiting], CloseReason::timed_out);
  EXPECT_EQ(pair.client.last_tls_failure().text, "the handshake was not finished within 5000 ms");
}

TEST(TlsTransport, bounds_the_handshakes_in_progress) {
  TlsLoopbackPair pair(TlsTransportOptions{.max_handshakes = 2});
  pair.socket.tls = pair.default_tls;
  const auto listener = pair.server.listen({"here", 0}, pair.socket);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(pair.client.connect(*pair.server.local_endpoint(*listener)).has_value());
  pair.turns(5);
  EXPECT_EQ(pair.server.handshakes_in_progress(), 2U);
  EXPECT_EQ(pair.server.counters().refused_full, 3U);
  EXPECT_EQ(pair.client_sink.closed.size(), 3U);
  pair.server.close_listener(*listener);
  pair.turns(5);
  EXPECT_EQ(pair.server.handshakes_in_progress(), 0U);
  EXPECT_EQ(pair.client_sink.closed.size(), 5U);
}

TEST(TlsTransport, takes_no_more_handshake_steps_in_a_poll_than_allowed) {
  TlsLoopbackPair pair(TlsTransportOptions{.handshake_steps = 1});
  pair.socket.tls = pair.default_tls;
  const auto listener = pair.server.listen({"127.0.0.1", 0}, pair.socket);
  for (int i = 0; i < 4; ++i) {
    Endpoint here = *pair.server.local_endpoint(*listener);
    here.host = "127.0.0.1";
    ASSERT_TRUE(pair.client.connect(here, pair.socket).has_value());
  }
  std::uint64_t before = 0;
  ASSERT_TRUE(pair.turn_until([&] {
    const std::uint64_t finished = pair.server.counters().handshakes;
    EXPECT_LE(finished - before, 1U);
    before = finished;
    return pair.server_sink.accepted.size() == 4 && pair.client_sink.connected.size() == 4;
  }));
}

TEST(TlsTransport, reports_a_stream_that_ends_without_goodbye_as_cut) {
  LoopbackNetwork network;
  LoopbackTransport server_inner(network);
  LoopbackTransport client_inner(network);
  FaultyTransport<LoopbackTransport> cutter(client_inner, {}, [] { return MonotonicTime{}; });
  TlsTransport<LoopbackTransport> server(server_inner);
  TlsTransport<FaultyTransport<LoopbackTransport>> client(cutter);
  RecordingSink server_sink;
  RecordingSink client_sink;
  SocketOptions socket;
  socket.tls = tls(certificates().server_options());
  const auto listener = server.listen({"127.0.0.1", 0}, socket);
  Endpoint there = *server.local_endpoint(*listener);
  there.host = "127.0.0.1";
  const auto id = client.connect(there, socket);
  const auto turns = [&] {
    for (int i = 0; i < 20; ++i) {
      client.poll(client_sink, 0ns);
      server.poll(server_sink, 0ns);
    }
  };
  turns();
  ASSERT_EQ(server_sink.accepted.size(), 1U);
  EXPECT_EQ(client.try_send(*id, bytes_of("35=D")).sent, 4U);
  turns();
  cutter.cut(*id);
  turns();
  const ConnectionId served = server_sink.accepted[0];
  EXPECT_EQ(server_sink.received[served], "35=D");
  ASSERT_TRUE(server_sink.closed.contains(served));
  EXPECT_EQ(server_sink.closed[served], CloseReason::reset);
  EXPECT_EQ(server.counters().truncated, 1U);
}

TEST(TlsTransport, ends_a_connection_whose_bytes_were_changed_on_their_way) {
  LoopbackNetwork network;
  LoopbackTransport middle(network);
  LoopbackTransport inner(network);
  TlsTransport<LoopbackTransport> client(inner);
  RecordingSink middle_sink;
  RecordingSink client_sink;
  // A server by hand, so that a byte can be turned over.
  const auto context = tls(certificates().server_options());
  detail::TlsStream stream(*context, detail::TlsSide::server, "", 64 * 1024);
  SocketOptions socket;
  socket.tls = tls(certificates().client_options());
  const auto listener = middle.listen({"127.0.0.1", 0});
  Endpoint there = *middle.local_endpoint(*listener);
  there.host = "127.0.0.1";
  const auto id = client.connect(there, socket);
  bool established = false;
  middle_sink.when_received = [&](ConnectionId from, std::span<const char> bytes) {
    stream.feed(bytes);
    established = stream.handshake() == detail::TlsStream::Status::done;
    stream.drop_input();
    stream.sent(middle.try_send(from, stream.outgoing()).sent);
  };
  for (int i = 0; i < 10; ++i) {
    client.poll(client_sink, 0ns);
    middle.poll(middle_sink, 0ns);
  }
  ASSERT_TRUE(established && !client_sink.connected.empty());
  ASSERT_EQ(stream.write(bytes_of("35=D|44=100")), 11U);
  std::string record(stream.outgoing().begin(), stream.outgoing().end());
  record.back() = static_cast<char>(record.back() ^ 1);
  (void)middle.try_send(middle_sink.accepted[0], bytes_of(record));
  for (int i = 0; i < 10; ++i) client.poll(client_sink, 0ns);
  EXPECT_TRUE(client_sink.received.empty());
  ASSERT_TRUE(client_sink.closed.contains(*id));
  EXPECT_EQ(client_sink.closed[*id], CloseReason::tls_failed);
  expect_text(client.last_tls_failure().text, "a record was changed on its way");
}

TEST(TlsTransport, goes_on_with_what_waited_while_held_although_nothing_new_comes) {
  TlsLoopbackPair pair(TlsTransportOptions{.receive_buffer = 10});
  pair.socket.tls = pair.default_tls;
  pair.listener = *pair.server.listen({"127.0.0.1", 0}, pair.socket);
  Endpoint there = *pair.server.local_endpoint(*pair.listener);
  there.host = "127.0.0.1";
  const auto id = pair.client.connect(there, pair.socket);
  ASSERT_TRUE(
      pair.turn_until([&] { return !pair.server_sink.accepted.empty() && !pair.client_sink.connected.empty(); }));
  const ConnectionId served = pair.server_sink.accepted[0];
  pair.server_sink.when_received = [&](ConnectionId from, std::span<const char>) { pair.server.hold(from, true); };
  const std::string text = pattern(35);
  ASSERT_EQ(pair.client.try_send(*id, bytes_of(text)).sent, text.size());
  pair.client.close(*id);
  for (std::size_t calls = 1; calls <= 4; ++calls) {
    pair.turns(10);
    EXPECT_EQ(pair.server_sink.receive_calls, calls);
    EXPECT_TRUE(pair.server_sink.closed.empty());
    pair.server.hold(served, false);
  }
  pair.turns(10);
  EXPECT_EQ(pair.server_sink.received[served], text);
  ASSERT_TRUE(pair.server_sink.closed.contains(served));
  EXPECT_EQ(pair.server_sink.closed[served], CloseReason::peer_closed);
}

TEST(TlsTransport, bounds_what_waits_to_leave) {
  TlsLoopbackPair pair(TlsTransportOptions{.send_buffer = 32 * 1024});
  pair.socket.tls = pair.default_tls;
  pair.listener = *pair.server.listen({"127.0.0.1", 0}, pair.socket);
  Endpoint there = *pair.server.local_endpoint(*pair.listener);
  there.host = "127.0.0.1";
  const auto id = pair.client.connect(there, pair.socket);
  ASSERT_TRUE(
      pair.turn_until([&] { return !pair.server_sink.accepted.empty() && !pair.client_sink.connected.empty(); }));
  const std::string text = pattern(1'000'000);
  std::size_t taken = 0;
  for (int i = 0; i < 50; ++i) taken += pair.client.try_send(*id, bytes_of(text).subspan(taken)).sent;
  // The loopback network holds 64 KiB on its way.
  EXPECT_GT(taken, 64U * 1024);
  EXPECT_LE(taken, 96U * 1024);
  pair.turns(10);
  EXPECT_EQ(pair.client_sink.writable.size(), 1U);
  EXPECT_TRUE(pair.server_sink.received[pair.server_sink.accepted[0]] == text.substr(0, taken));
}

TEST(TlsTransport, gives_up_a_closed_connection_whose_peer_reads_nothing) {
  TlsLoopbackPair pair(TlsTransportOptions{.linger_time = 2s});
  pair.socket.tls = pair.default_tls;
  pair.listener = *pair.server.listen({"127.0.0.1", 0}, pair.socket);
  Endpoint there = *pair.server.local_endpoint(*pair.listener);
  there.host = "127.0.0.1";
  const auto id = pair.client.connect(there, pair.socket);
  ASSERT_TRUE(
      pair.turn_until([&] { return !pair.server_sink.accepted.empty() && !pair.client_sink.connected.empty(); }));
  pair.server.hold(pair.server_sink.accepted[0], true);
  const std::string text = pattern(1'000'000);
  EXPECT_LT(pair.client.try_send(*id, bytes_of(text)).sent, text.size());
  pair.client.close(*id);
  EXPECT_TRUE(pair.client.try_send(*id, bytes_of("x")).closed);
  pair.turns(10);
  EXPECT_EQ(pair.client.lingering(), 1U);
  pair.now += 2s;
  pair.turns(2);
  EXPECT_EQ(pair.client.lingering(), 0U);
  EXPECT_EQ(pair.client.counters().linger_cut_short, 1U);
}

TEST(TlsTransport, refuses_to_listen_without_a_certificate) {
  EpollTransport inner;
  TlsTransport<EpollTransport> server(inner);
  SocketOptions socket;
  socket.tls = tls(certificates().client_options());
  const auto listener = server.listen({"127.0.0.1", 0}, socket);
  ASSERT_FALSE(listener.has_value());
  expect_text(listener.error().text(), "set tls_certificate and tls_key");
  TlsOptions names = certificates().server_options();
  names.peer_names = {"desk"};
  socket.tls = tls(names);
  EXPECT_FALSE(server.listen({"127.0.0.1", 0}, socket).has_value());
}

TEST(TlsTransport, rejects_options_that_make_no_sense) {
  EpollTransport inner;
  using T = TlsTransport<EpollTransport>;
  EXPECT_THROW(T(inner, {.send_buffer = 1000}), std::invalid_argument);
  EXPECT_THROW(T(inner, {.receive_buffer = 0}), std::invalid_argument);
  EXPECT_THROW(T(inner, {.max_handshakes = 0}), std::invalid_argument);
  EXPECT_THROW(T(inner, {.handshake_steps = 0}), std::invalid_argument);
  EXPECT_THROW(T(inner, {.handshake_timeout = 0s}), std::invalid_argument);
}

// Cuts, delays and small pieces at any place of handshakes and records: what arrives is a true prefix, and everything
// ends.
TEST(TlsTransport, survives_rough_networks_with_true_prefixes) {
  std::size_t whole = 0;
  std::size_t cut = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    FaultOptions faults = rough_weather;
    faults.seed = seed;
    faults.cut_probability = 0.5;
    faults.cut_within = 30'000;
    LoopbackNetwork network;
    LoopbackTransport server_inner(network);
    LoopbackTransport client_inner(network);
    MonotonicTime now{};
    FaultyTransport<LoopbackTransport> weather(client_inner, faults, [&] { return now; });
    TlsTransport<LoopbackTransport> server(server_inner, {}, [&] { return now; });
    TlsTransport<FaultyTransport<LoopbackTransport>> client(weather, {}, [&] { return now; });
    RecordingSink server_sink;
    RecordingSink client_sink;
    SocketOptions socket;
    socket.tls = tls(certificates().server_options());
    const auto listener = server.listen({"127.0.0.1", 0}, socket);
    Endpoint there = *server.local_endpoint(*listener);
    there.host = "127.0.0.1";
    const auto id = client.connect(there, socket);
    const std::string text = pattern(40'000);
    std::size_t at = 0;
    for (int i = 0; i < 600; ++i) {
      now += 1ms;
      if (at < text.size())
        at += client.try_send(*id, bytes_of(text).subspan(at, std::min<std::size_t>(997, text.size() - at))).sent;
      client.poll(client_sink, 0ns);
      server.poll(server_sink, 0ns);
    }
    const std::string& got = server_sink.received.empty() ? std::string{} : server_sink.received.begin()->second;
    EXPECT_TRUE(text.starts_with(got)) << seed;
    if (client_sink.closed.empty()) {
      EXPECT_TRUE(got == text) << seed;
      ++whole;
    } else {
      ++cut;
      EXPECT_EQ(server.handshakes_in_progress(), 0U) << seed;
      EXPECT_EQ(server_sink.closed.size(), server_sink.accepted.size()) << seed;
    }
  }
  EXPECT_GT(whole, 0U);
  EXPECT_GT(cut, 0U);
}

}  // namespace
}  // namespace nfx
