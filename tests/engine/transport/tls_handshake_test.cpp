// Handshakes: what both ends negotiate, whom they refuse and with which text, and their limits.
#include <gtest/gtest.h>

#include "transport/tls_testing.hpp"

namespace nfx {
namespace {

using namespace testing;

// One attempt of a client to reach a server; the texts of both ends.
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
  // In TLS 1.3 a client is finished before the server has seen its certificate, so this waits for the server's result.
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

TEST(TlsHandshake, agrees_on_version_and_cipher_and_knows_the_peer) {
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

TEST(TlsHandshake, keeps_to_versions_and_ciphers_that_are_allowed) {
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

TEST(TlsHandshake, refuses_a_certificate_of_an_authority_it_does_not_know) {
  const test::TemporaryFolder folder;
  const Authority other(folder, "Other CA");
  TlsOptions client = certificates().client_options();
  client.ca = other.file();
  const Attempt seen = attempt(certificates().server_options(), client);
  EXPECT_FALSE(seen.connected || seen.accepted);
  EXPECT_EQ(seen.closed, CloseReason::tls_failed);
  expect_text(seen.client_says, "issued by CN=Test CA; add that authority to tls_ca");
  expect_text(seen.server_says, "alert unknown ca");
}

TEST(TlsHandshake, refuses_a_server_with_another_name_and_says_both) {
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

TEST(TlsHandshake, checks_an_address_against_the_addresses_of_the_certificate) {
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

TEST(TlsHandshake, accepts_anything_when_told_not_to_verify_but_writes_down_what_was_wrong) {
  const test::TemporaryFolder folder;
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

TEST(TlsHandshake, demands_a_client_certificate_when_told_to) {
  TlsOptions server = certificates().server_options();
  server.client_certificate = ClientCertificate::require;
  for (const TlsVersion version : {TlsVersion::tls_1_2, TlsVersion::tls_1_3}) {
    server.max_version = version;
    const Attempt none = attempt(server, certificates().client_options());
    EXPECT_FALSE(none.accepted);
    expect_text(none.server_says, "the client sent no certificate");
    const Attempt known = attempt(server, certificates().desk_options());
    ASSERT_TRUE(known.accepted) << known.server_says;
    EXPECT_TRUE(known.client_facts->certificate_requested);
    ASSERT_EQ(known.server_facts->chain.size(), 1U);
    EXPECT_EQ(known.server_facts->chain[0].subject, "CN=desk");
  }
  server.client_certificate = ClientCertificate::request;
  EXPECT_TRUE(attempt(server, certificates().client_options()).accepted);
}

TEST(TlsHandshake, lets_in_only_clients_with_a_name_on_the_list) {
  TlsOptions server = certificates().server_options();
  server.client_certificate = ClientCertificate::require;
  const TlsOptions client = certificates().desk_options();
  for (const char* name : {"desk", "*.example", "fix:DESK"}) {
    server.peer_names = {"nobody", name};
    EXPECT_TRUE(attempt(server, client).accepted) << name;
  }
  server.peer_names = {"des", "example", "*.desk.example"};
  const Attempt stranger = attempt(server, client);
  EXPECT_FALSE(stranger.accepted);
  expect_text(stranger.server_says, "carries none of tls_peer_names: CN=desk");
}

TEST(TlsHandshake, refuses_revoked_certificates_and_misses_lists_that_are_not_there) {
  TlsOptions client = certificates().client_options();
  const Authority& authority = certificates().authority;
  client.crl = {authority.revocations({certificates().server.serial}, 86400, "with.crl")};
  const Attempt revoked = attempt(certificates().server_options(), client);
  EXPECT_EQ(revoked.closed, CloseReason::tls_failed);
  expect_text(revoked.client_says, "certificate revoked (subject CN=server");
  expect_text(revoked.server_says, "alert certificate revoked");
  client.crl = {authority.revocations({1}, 86400, "without.crl")};
  EXPECT_TRUE(attempt(certificates().server_options(), client).connected);

  const test::TemporaryFolder folder;
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

TEST(TlsHandshake, says_that_a_peer_speaks_no_tls) {
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

TEST(TlsHandshake, never_tells_of_a_client_that_speaks_no_tls) {
  TlsTcpPair pair;
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

TEST(TlsHandshake, gives_up_handshakes_that_take_too_long) {
  TlsLoopbackPair pair(TlsTransportOptions{.handshake_timeout = 5s});
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

  // The reverse: a server that accepts and sends nothing.
  const auto plain = pair.server.listen({"here", 0});
  const auto waiting = pair.client.connect(*pair.server.local_endpoint(*plain), pair.socket);
  pair.turns(5);
  pair.now += 5s;
  ASSERT_TRUE(pair.turn_until([&] { return pair.client_sink.closed.contains(*waiting); }));
  EXPECT_EQ(pair.client_sink.closed[*waiting], CloseReason::timed_out);
  EXPECT_EQ(pair.client.last_tls_failure().text, "the handshake was not finished within 5000 ms");
}

TEST(TlsHandshake, bounds_the_handshakes_in_progress) {
  TlsLoopbackPair pair(TlsTransportOptions{.handshakes = {.unknown = 2}});
  const auto listener = pair.server.listen({"here", 0}, pair.socket);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(pair.client.connect(*pair.server.local_endpoint(*listener)).has_value());
  pair.turns(5);
  EXPECT_EQ(pair.server.handshakes_in_progress(), 2U);
  EXPECT_EQ(pair.server.counters().handshakes_evicted, 3U);
  EXPECT_EQ(pair.client_sink.closed.size(), 3U);
  pair.server.close_listener(*listener);
  pair.turns(5);
  EXPECT_EQ(pair.server.handshakes_in_progress(), 0U);
  EXPECT_EQ(pair.client_sink.closed.size(), 5U);
}

TEST(TlsHandshake, of_a_newcomer_succeeds_while_silent_connections_hold_all_places) {
  TlsLoopbackPair pair(TlsTransportOptions{.handshakes = {.unknown = 4, .per_address = 2, .per_network = 2}});
  const auto listener = pair.server.listen({"127.0.0.1", 0}, pair.socket);
  const Endpoint here = *pair.server.local_endpoint(*listener);
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 8; ++i) {
      SocketOptions silent;  // it sends no ClientHello
      silent.from = {"10.0." + std::to_string(i % 4) + ".1", 1};
      ASSERT_TRUE(pair.inner.client.connect(here, silent).has_value());
    }
    pair.turns(2);
    EXPECT_EQ(pair.server.handshakes_in_progress(), 4U);
    SocketOptions honest = pair.socket;
    honest.from = {"10.1.0.1", 1};
    ASSERT_TRUE(pair.client.connect(here, honest).has_value());
    ASSERT_TRUE(
        pair.turn_until([&] { return pair.server.counters().handshakes == 1U + static_cast<unsigned>(round); }));
  }
}

TEST(TlsHandshake, does_not_begin_for_a_peer_that_the_sink_does_not_allow) {
  struct DecidingSink : RecordingSink {
    std::vector<std::string> peers;
    PeerStanding on_accepting(ListenerId, std::string_view from) {
      peers.emplace_back(from);
      return from.starts_with("10.0.0.1:") ? PeerStanding::known : PeerStanding::not_allowed;
    }
  };
  static_assert(AcceptingSink<DecidingSink> && !AcceptingSink<RecordingSink>);
  TlsLoopbackPair pair;
  const auto listener = pair.server.listen({"127.0.0.1", 0}, pair.socket);
  DecidingSink deciding;
  std::vector<ConnectionId> ids;
  for (const char* from : {"10.0.0.1", "10.0.0.2"}) {
    SocketOptions options = pair.socket;
    options.from = {from, 1};
    ids.push_back(*pair.client.connect(*pair.server.local_endpoint(*listener), options));
  }
  for (int i = 0; i < 20; ++i) {
    pair.server.poll(deciding, 0ns);
    pair.client.poll(pair.client_sink, 0ns);
  }
  EXPECT_EQ(deciding.peers, (std::vector<std::string>{"10.0.0.1:1", "10.0.0.2:1"}));
  EXPECT_EQ(deciding.accepted.size(), 1U);
  EXPECT_TRUE(pair.client_sink.closed.contains(ids[1]));
  EXPECT_EQ(pair.server.counters().refused, 1U);
  EXPECT_EQ(pair.server.counters().handshakes_failed, 0U);
}

TEST(TlsHandshake, takes_no_more_handshake_steps_in_a_poll_than_allowed) {
  TlsLoopbackPair pair(TlsTransportOptions{.handshake_steps = 1});
  const auto listener = pair.server.listen({"127.0.0.1", 0}, pair.socket);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(pair.client.connect(*pair.server.local_endpoint(*listener), pair.socket).has_value());
  }
  std::uint64_t before = 0;
  ASSERT_TRUE(pair.turn_until([&] {
    const std::uint64_t finished = pair.server.counters().handshakes;
    EXPECT_LE(finished - before, 1U);
    before = finished;
    return pair.server_sink.accepted.size() == 4 && pair.client_sink.connected.size() == 4;
  }));
}

TEST(TlsHandshake, of_a_stranger_that_fails_is_told_to_a_sink_that_asks_for_it) {
  struct AskingSink : RecordingSink {
    std::vector<std::string> failures;
    void on_handshake_failed(std::string_view from, std::string_view why) {
      failures.push_back(std::string(from) + ": " + std::string(why));
    }
  };
  static_assert(HandshakeSink<AskingSink> && !HandshakeSink<RecordingSink>);
  TlsLoopbackPair pair;
  const auto listener = pair.server.listen({"here", 0}, pair.socket);
  std::vector<ConnectionId> strangers;
  for (int i = 0; i < 3; ++i) strangers.push_back(*pair.inner.client.connect(*pair.server.local_endpoint(*listener)));
  AskingSink asking;
  pair.inner.client.poll(pair.client_sink, 0ns);
  for (const ConnectionId id : strangers) ASSERT_GT(pair.inner.client.try_send(id, bytes_of("8=FIX.4.4|")).sent, 0U);
  // All within one poll, so that the latest failure alone would not be enough.
  for (int i = 0; i < 3; ++i) pair.server.poll(asking, 0ns);
  ASSERT_EQ(asking.failures.size(), 3U);
  for (const std::string& each : asking.failures) expect_text(each, "does not speak TLS on this port");
  EXPECT_TRUE(asking.log.empty()) << asking.log;
}

}  // namespace
}  // namespace nfx
