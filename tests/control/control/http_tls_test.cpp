// Mutual TLS: the certificate identifies the client, and without a valid one nothing is read or changed.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <memory>
#include <thread>

#include "control/fake_target.hpp"
#include "control/http_server.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/control/client.hpp"
#include "transport/tls_certificates.hpp"
#include "transport/tls_context.hpp"

namespace nfx::control {
namespace {

using test::TemporaryFolder;
using testing::Authority;

testing::CertificateWish wish(const std::string& name, const std::string& names = "DNS:localhost,IP:127.0.0.1") {
  testing::CertificateWish wanted;
  wanted.name = name;
  wanted.alternative_names = names;
  return wanted;
}

class ControlTls : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!http_supported()) GTEST_SKIP() << http_unsupported;
    const Authority::Files own = authority.issue(wish("engine"));
    config.http = {"127.0.0.1", 0};
    config.tls_certificate = own.certificate;
    config.tls_key = own.key;
    config.tls_ca = authority.file();
    config.clients = folder.file("clients");
    std::ofstream{config.clients} << "# who may what\noperator Alice Example\nviewer grafana.example\n";
  }
  void TearDown() override {
    if (server) server->stop();
    if (thread.joinable()) thread.join();
  }
  void serve() {
    server = std::make_unique<HttpServer>(
        HttpServerOptions{.config = config, .answer = [this](const Request& request) { return api.answer(request); }});
    thread = std::thread{[this] { server->run(); }};
  }
  // A client with a certificate with this common name, or without one.
  [[nodiscard]] ControlAddress as(const std::string& name, Authority* by = nullptr) {
    ControlAddress address{.http = {"127.0.0.1", server->http_port()}};
    address.tls.emplace().ca = authority.file();
    if (name.empty()) return address;
    const Authority::Files files = (by == nullptr ? authority : *by).issue(wish(name, ""));
    address.tls->certificate = files.certificate;
    address.tls->key = files.key;
    return address;
  }

  TemporaryFolder folder;
  Authority authority{folder};
  Authority stranger{folder, "Other CA"};
  ControlConfig config;
  FakeTarget target;
  FakeAudit audit;
  Instant now{UtcTime{std::chrono::seconds{1'700'000'000}}, MonotonicTime{std::chrono::hours{1}}};
  Api api{target, audit, [this] { return now; }};
  std::unique_ptr<HttpServer> server;
  std::thread thread;
};

// The table of roles by routes, over the network.
TEST_F(ControlTls, each_certificate_may_what_its_role_may_and_nothing_else) {
  serve();
  const ControlAddress of_operator = as("Alice Example"), of_viewer = as("grafana.example"), of_nobody = as("mallory");
  for (const Route& route : routes()) {
    const auto status_of = [&](const ControlAddress& address) {
      const auto reply = ask_control(
          address, {.method = route.method, .target = path_of(route), .body = body_of(route), .if_match = "*"});
      EXPECT_TRUE(reply) << (reply ? "" : reply.error());
      return reply ? reply->status : 0U;
    };
    SCOPED_TRACE(std::string{route.method} + ' ' + route.path);
    target.changes = 0;
    EXPECT_EQ(status_of(of_nobody), route.role == Role::none ? 200U : 403U);
    EXPECT_EQ(status_of(of_viewer), route.role <= Role::viewer ? 200U : 403U);
    EXPECT_EQ(target.changes, 0);
    EXPECT_EQ(status_of(of_operator), 200U);
    EXPECT_EQ(target.changes, route.changes() ? 1 : 0);
    if (route.changes()) {
      EXPECT_NE(audit.lines.back().find(" Alice Example "), std::string::npos) << audit.lines.back();
    }
  }
}

TEST_F(ControlTls, without_a_certificate_or_with_one_of_another_authority_there_is_no_answer) {
  serve();
  for (const ControlAddress& address : {as(""), as("Alice Example", &stranger)}) {
    const auto reply = ask_control(address, {.method = "POST", .target = "/v1/engine/stop"});
    ASSERT_FALSE(reply);
    EXPECT_NE(reply.error().find("TLS"), std::string::npos) << reply.error();
  }
  ControlAddress plain{.http = {"127.0.0.1", server->http_port()}, .token = std::string(40, 't')};
  EXPECT_FALSE(ask_control(plain, {.target = "/healthz"})) << "not without TLS";
  EXPECT_EQ(target.changes, 0);
  EXPECT_TRUE(audit.lines.empty());
  const auto reply = ask_control(as("Alice Example"), {.target = "/v1/engine"});
  EXPECT_TRUE(reply) << "and it serves on";
}

TEST_F(ControlTls, a_revoked_certificate_has_no_answer) {
  const Authority::Files files = authority.issue(wish("Alice Example", ""));
  config.tls_crl = {authority.revocations({files.serial})};
  ControlAddress revoked{.http = {}};
  revoked.tls.emplace().ca = authority.file();
  revoked.tls->certificate = files.certificate;
  revoked.tls->key = files.key;
  serve();
  revoked.http = {"127.0.0.1", server->http_port()};
  EXPECT_FALSE(ask_control(revoked, {.target = "/v1/engine"}));
  EXPECT_TRUE(ask_control(as("grafana.example"), {.target = "/v1/engine"}));
}

TEST_F(ControlTls, a_client_does_not_speak_to_another_engine) {
  const Authority::Files other = stranger.issue(wish("engine2"));
  config.tls_certificate = other.certificate;
  config.tls_key = other.key;
  serve();
  const auto reply = ask_control(as("Alice Example"), {.method = "POST", .target = "/v1/engine/stop"});
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().find("--tls-ca"), std::string::npos) << reply.error();
  EXPECT_EQ(target.changes, 0);
}

TEST_F(ControlTls, a_client_requires_the_name_of_the_engine) {
  serve();
  ControlAddress address = as("Alice Example");
  address.tls->server_name = "elsewhere.example";
  EXPECT_FALSE(ask_control(address, {.target = "/v1/engine"}));
  address.tls->server_name = "localhost";
  EXPECT_TRUE(ask_control(address, {.target = "/v1/engine"}));
}

TEST_F(ControlTls, certificates_are_reloaded_for_the_next_connection) {
  serve();
  ASSERT_TRUE(ask_control(as("Alice Example"), {.target = "/v1/engine"}));
  const Authority::Files renewed = authority.issue(wish("engine", "DNS:renewed.example"));
  EXPECT_EQ(renewed.certificate, config.tls_certificate);
  EXPECT_EQ(server->reload()(), "");
  ControlAddress address = as("Alice Example");
  EXPECT_FALSE(ask_control(address, {.target = "/v1/engine"}));
  address.tls->server_name = "renewed.example";
  EXPECT_TRUE(ask_control(address, {.target = "/v1/engine"}));
}

TEST_F(ControlTls, a_certificate_that_is_no_client_any_more_has_no_role_after_a_reload) {
  serve();
  const ControlAddress alice = as("Alice Example");
  ASSERT_EQ(ask_control(alice, {.target = "/v1/engine"})->status, 200U);
  std::ofstream{config.clients} << "viewer grafana.example\n";
  EXPECT_EQ(server->reload()(), "");
  EXPECT_EQ(ask_control(alice, {.target = "/v1/engine"})->status, 403U);
}

TEST_F(ControlTls, a_wrong_certificate_of_the_engine_is_an_error_at_the_start) {
  config.tls_key = stranger.issue(wish("another")).key;
  try {
    serve();
    FAIL() << "the key belongs to another certificate";
  } catch (const ConfigError& error) {
    EXPECT_TRUE(std::string{error.what()}.starts_with("[control] ")) << error.what();
  }
}

TEST(ControlClients, are_read_from_lines_and_errors_name_the_line) {
  const auto error_of = [](std::string_view text) -> std::string {
    try {
      static_cast<void>(ClientCertificates::parse(text, "clients"));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_TRUE(error_of("").starts_with("clients:1: "));
  EXPECT_TRUE(error_of("# x\n\nadmin alice\n").starts_with("clients:3: expected"));
  EXPECT_TRUE(error_of("operator\n").starts_with("clients:1: expected"));
  EXPECT_TRUE(error_of("operator a\nviewer a\n").starts_with("clients:2: duplicate name"));
  EXPECT_EQ(error_of("operator a\nviewer b b\n"), "none");
  const ClientCertificates clients = ClientCertificates::parse("viewer  b b \noperator sha256:AB:CD\n", "clients");
  EXPECT_EQ(clients.caller({.names = {"x", "b b"}, .sha256 = {}}).role, Role::viewer);
  EXPECT_EQ(clients.caller({.names = {"b"}, .sha256 = "abcd"}).role, Role::operator_);
  EXPECT_EQ(clients.caller({.names = {"b"}, .sha256 = "ab"}).role, Role::none);
}

TEST_F(ControlTls, the_file_of_roles_must_not_be_changeable_by_others) {
  ::chmod(config.clients.c_str(), 0666);
  EXPECT_THROW(serve(), ConfigError);
}

}  // namespace
}  // namespace nfx::control
