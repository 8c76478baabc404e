// Which certificate names a handshake accepts if sessions share an address, and which sessions cause a warning.
#include "config/tls_names.hpp"

#include <gtest/gtest.h>

#include "config/listen_index.hpp"
#include "transport/tls_facts.hpp"

namespace nfx {
namespace {

SessionSettings acceptor(const std::string& peer, std::vector<std::string> names, std::uint16_t port = 9000) {
  SessionSettings settings;
  settings.session.sender_comp_id = "V";
  settings.session.target_comp_id = peer;
  settings.listen = {"127.0.0.1", port};
  settings.tls_enabled = true;
  settings.tls.certificate = "server.pem";
  settings.tls.ca = "ca.pem";
  settings.tls.client_certificate = ClientCertificate::require;
  settings.tls.peer_names = std::move(names);
  return settings;
}

TEST(TlsNames, of_sessions_with_one_address_are_all_asked_for_by_its_handshake) {
  EngineConfig config;
  config.sessions = {acceptor("C1", {"c1", "desk"}), acceptor("C2", {"c2", "desk"}), acceptor("C3", {"c3"}, 9001)};
  EXPECT_EQ(HandshakeNames{config}.of(config.sessions[1]), (std::vector<std::string>{"c1", "desk", "c2"}));
  EXPECT_EQ(HandshakeNames{config}.of(config.sessions[2]), (std::vector<std::string>{"c3"}));
  EXPECT_NO_THROW(check_config(config));
}

TEST(TlsNames, are_not_asked_for_in_the_handshake_where_one_session_takes_any_or_one_for_each_comp_id) {
  EngineConfig config;
  config.sessions = {acceptor("C1", {"c1"}), acceptor("C2", {})};
  EXPECT_TRUE(HandshakeNames{config}.of(config.sessions[0]).empty());
  config.sessions[1].tls.peer_names = {"{TargetCompID}.example"};
  EXPECT_TRUE(HandshakeNames{config}.of(config.sessions[0]).empty());
}

TEST(TlsNames, of_a_session_added_later_are_those_that_its_address_began_with) {
  EngineConfig config;
  config.sessions = {acceptor("C1", {"c1"}), acceptor("C2", {"c2"})};
  ListenIndex listening;
  for (const SessionSettings& each : config.sessions) listening.add(each, HandshakeNames{config}.of(each));
  const auto check = [&](const SessionSettings& added) { check_session(config, listening, added); };
  EXPECT_NO_THROW(check(acceptor("C3", {"c2"})));
  EXPECT_THROW(check(acceptor("C3", {"c3"})), ConfigError);
  EXPECT_THROW(check(acceptor("C3", {})), ConfigError);
  EXPECT_NO_THROW(check(acceptor("C3", {"c3"}, 9001)));
}

TEST(TlsNames, that_are_missing_are_warned_of_unless_there_is_a_password) {
  EngineConfig config;
  config.sessions = {acceptor("C1", {"c1"}), acceptor("C2", {}), acceptor("C3", {})};
  config.sessions[2].session.password = "secret";
  EXPECT_EQ(
      tls_binding_warnings(config),
      (std::vector<std::string>{"FIX.4.4:V->C2: every client with a certificate of ca.pem may log on: name its own in "
                                "tls_peer_names, or set a password"}));
}

TEST(TlsPeer, is_meant_by_one_of_its_names_by_its_fingerprint_or_by_its_comp_id) {
  const TlsPeer peer{.names = {"C1", "c1.example"}, .sha256 = "abcd01"};
  EXPECT_TRUE(is_one_of(peer, {"other", "C1.EXAMPLE"}, "X"));
  EXPECT_TRUE(is_one_of(peer, {"*.example"}, "X"));
  EXPECT_TRUE(is_one_of(peer, {"sha256:AB:CD:01"}, "X"));
  EXPECT_FALSE(is_one_of(peer, {"sha256:abcd"}, "X"));
  EXPECT_FALSE(is_one_of(peer, {"abcd01"}, "X"));
  EXPECT_TRUE(is_one_of(peer, {"{TargetCompID}.example"}, "c1"));
  EXPECT_FALSE(is_one_of(peer, {"{TargetCompID}.example"}, "C1")) << "CompIDs differ in case";
  EXPECT_FALSE(is_one_of(peer, {"{TargetCompID}.example"}, "*"));
  EXPECT_FALSE(is_one_of(peer, {"{TargetCompID}.example"}, ""));
  EXPECT_FALSE(is_one_of(peer, {}, "C1"));
}

TEST(TlsPeer, has_a_bounded_number_of_names_of_bounded_length) {
  CertificateFacts facts;
  facts.common_names = {std::string(300, 'x')};
  for (int i = 0; i < 1000; ++i) facts.names.push_back("DNS:" + std::to_string(i));
  const TlsPeer peer = peer_of(facts);
  EXPECT_EQ(peer.names.size(), TlsPeer::max_names);
  EXPECT_EQ(peer.names.front(), "0");
}

}  // namespace
}  // namespace nfx
