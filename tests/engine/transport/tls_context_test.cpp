// Errors in files, reported in one line; reloading while connections continue.
#include "transport/tls_context.hpp"

#include <gtest/gtest.h>
#include <openssl/crypto.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "transport/tls_testing.hpp"

namespace nfx {
namespace {

using namespace testing;

std::string load_error(const TlsOptions& options) {
  try {
    (void)TlsContext(options);
  } catch (const TlsError& error) {
    return error.what();
  }
  return "loaded";
}

void expect_error(const TlsOptions& options, const std::string& start, const std::string& part) {
  const std::string text = load_error(options);
  EXPECT_TRUE(text.starts_with(start)) << text;
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << text << "\" lacks \"" << part << "\"";
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST(TlsContext, names_the_file_that_is_missing_or_holds_something_else) {
  TlsOptions options = certificates().server_options();
  options.certificate = certificates().folder.file("nowhere.crt");
  expect_error(options, "cannot read " + options.certificate + ": ", "No such file or directory");
  options.certificate = options.key;
  expect_error(options, options.certificate + ": ", "holds no certificate");
  options = certificates().server_options();
  options.key = options.certificate;
  expect_error(options, options.key + ": ", "holds no private key");
  options = certificates().server_options();
  options.ca = certificates().folder.file("nowhere.pem");
  expect_error(options, "cannot read " + options.ca + ": ", "No such file or directory");
  options = certificates().server_options();
  options.crl = {options.certificate};
  expect_error(options, options.certificate + ": ", "holds no revocation list");
}

TEST(TlsContext, private_keys_are_in_memory_that_is_not_written_to_cores) {
  const TlsContext first{certificates().server_options()};
  const std::size_t with_one = CRYPTO_secure_used();
  EXPECT_GT(with_one, 0U);
  const TlsContext second{certificates().server_options()};
  EXPECT_GT(CRYPTO_secure_used(), with_one);
}

TEST(TlsContext, a_fifo_or_a_device_in_place_of_a_file_is_refused_without_waiting) {
  TlsOptions options = certificates().server_options();
  const std::string fifo = certificates().folder.file("fifo");
  ::unlink(fifo.c_str());
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& file : {fifo, std::string{"/dev/zero"}}) {
    options = certificates().server_options();
    options.key = file;
    expect_error(options, "cannot read " + file + ": ", "not a regular file");
    options = certificates().server_options();
    options.certificate = file;
    expect_error(options, "cannot read " + file + ": ", "not a regular file");
    options = certificates().server_options();
    options.crl = {file};
    expect_error(options, "cannot read " + file + ": ", "not a regular file");
  }
}

TEST(TlsContext, refuses_a_key_that_belongs_to_another_certificate) {
  TlsOptions options = certificates().server_options();
  options.key = certificates().client.key;
  expect_error(options, options.key + ": the key does not belong to the certificate in " + options.certificate,
               "CN=server");
}

TEST(TlsContext, refuses_a_certificate_out_of_its_time) {
  CertificateWish wish;
  wish.name = "old";
  wish.valid_from_s = -7200;
  wish.valid_until_s = -3600;
  TlsOptions options = certificates().server_options();
  auto files = certificates().authority.issue(wish);
  options.certificate = files.certificate;
  options.key = files.key;
  expect_error(options, files.certificate + ": the certificate of CN=old expired on ", "install a renewed one");
  wish.name = "early";
  wish.valid_from_s = 3600;
  wish.valid_until_s = 7200;
  files = certificates().authority.issue(wish);
  options.certificate = files.certificate;
  options.key = files.key;
  expect_error(options, files.certificate + ": the certificate of CN=early is valid only from ", "clock right?");
}

TEST(TlsContext, opens_an_encrypted_key_with_its_password_only) {
  CertificateWish wish;
  wish.name = "locked";
  wish.password = "open sesame";
  const auto files = certificates().authority.issue(wish);
  TlsOptions options = certificates().server_options();
  options.certificate = files.certificate;
  options.key = files.key;
  expect_error(options, files.key + ": the key is encrypted", "tls_key_password_env");
  options.key_password = [] { return std::string("wrong"); };
  expect_error(options, files.key + ": the password does not open the key", "");
  options.key_password = [] { return std::string("open sesame"); };
  EXPECT_EQ(load_error(options), "loaded");
  options.key_password = nullptr;
  options.key_password_env = "NFX_TEST_KEY_PASSWORD";
  ::unsetenv("NFX_TEST_KEY_PASSWORD");
  expect_error(options, "tls_key_password_env: the environment variable NFX_TEST_KEY_PASSWORD is not set", "set it");
  ::setenv("NFX_TEST_KEY_PASSWORD", "open sesame", 1);
  EXPECT_EQ(load_error(options), "loaded");
}

TEST(TlsContext, refuses_a_revocation_list_that_is_out_of_date) {
  TlsOptions options = certificates().server_options();
  options.crl = {certificates().authority.revocations({}, -3600, "stale.crl")};
  expect_error(options, options.crl[0] + ": the revocation list was to be replaced by ", "current one");
}

TEST(TlsContext, refuses_wishes_that_contradict_each_other) {
  const auto with = [](auto change) {
    TlsOptions options = certificates().server_options();
    change(options);
    return options;
  };
  expect_error(with([](TlsOptions& o) { o.certificate.clear(); }), "tls_key without tls_certificate", "");
  expect_error(with([](TlsOptions& o) {
                 o.min_version = TlsVersion::tls_1_3;
                 o.max_version = TlsVersion::tls_1_2;
               }),
               "tls_min_version is above tls_max_version", "");
  expect_error(with([](TlsOptions& o) {
                 o.client_certificate = ClientCertificate::require;
                 o.ca.clear();
               }),
               "tls_client_certificate without tls_ca", "");
  expect_error(with([](TlsOptions& o) {
                 o.client_certificate = ClientCertificate::require;
                 o.verify = false;
               }),
               "tls_client_certificate without tls_verify", "");
  expect_error(with([](TlsOptions& o) {
                 o.client_certificate = ClientCertificate::request;
                 o.peer_names = {"desk"};
               }),
               "tls_peer_names with tls_client_certificate \"request\"", "");
  expect_error(with([](TlsOptions& o) {
                 o.verify = false;
                 o.crl = {"x"};
               }),
               "tls_crl without tls_verify", "");
  expect_error(with([](TlsOptions& o) {
                 o.verify = false;
                 o.peer_names = {"x"};
               }),
               "tls_peer_names without tls_verify", "");
  expect_error(with([](TlsOptions& o) { o.ciphers = "NONSENSE"; }), "tls_ciphers \"NONSENSE\"", "openssl ciphers");
  expect_error(with([](TlsOptions& o) { o.ciphersuites = "NONSENSE"; }), "tls_ciphersuites \"NONSENSE\"", "");
}

TEST(TlsContext, reads_authorities_from_a_folder) {
  const test::TemporaryFolder folder;
  TlsOptions options;
  options.ca = folder.file("");
  expect_error(options, options.ca + ": holds no files", "");
  const Authority one(folder, "One");
  EXPECT_EQ(load_error(options), "loaded");
}

// A pair in one thread over the loopback network; the client's name for the server's certificate is an argument.
std::string subject_seen(const std::shared_ptr<TlsContext>& server_context) {
  TlsTcpPair pair;
  pair.socket.tls = server_context;
  const auto ids = pair.join();
  const auto facts = pair.client.tls_facts(ids.client);
  return facts && !facts->chain.empty() ? facts->chain[0].subject : "nobody";
}

TEST(TlsContext, loads_anew_for_connections_to_come_and_keeps_the_old_when_that_fails) {
  const test::TemporaryFolder folder;
  Authority authority(folder);
  CertificateWish wish;
  wish.name = "current";
  const auto files = authority.issue(wish);
  TlsOptions options;
  options.certificate = files.certificate;
  options.key = files.key;
  options.ca = authority.file();
  const auto context = tls(options);

  TlsTcpPair standing;
  standing.socket.tls = context;
  const auto ids = standing.join();

  wish.name = "next";
  const auto next = authority.issue(wish);
  std::filesystem::rename(next.certificate, files.certificate);
  const auto half = context->reload();  // the certificate has been replaced, its key not yet
  ASSERT_FALSE(half.has_value());
  EXPECT_NE(half.error().find("the key does not belong"), std::string::npos) << half.error();
  EXPECT_EQ(subject_seen(context), "CN=current");
  std::filesystem::rename(next.key, files.key);
  EXPECT_TRUE(context->reload().has_value());
  EXPECT_EQ(subject_seen(context), "CN=next");

  EXPECT_EQ(standing.client.try_send(ids.client, bytes_of("still here")).sent, 10U);
  EXPECT_TRUE(standing.turn_until([&] { return standing.server_sink.received[ids.server] == "still here"; }));
}

TEST(TlsContext, loads_anew_on_one_thread_while_connections_begin_on_another) {
  const auto context = tls(certificates().server_options());
  std::atomic<bool> stop{false};
  std::atomic<int> reloads{0};
  std::thread reloader([&] {
    while (!stop) {
      EXPECT_TRUE(context->reload().has_value());
      ++reloads;
    }
  });
  TlsTcpPair pair;
  pair.socket.tls = context;
  for (int i = 0; i < 20 || reloads < 20; ++i) {
    const auto ids = pair.join();
    pair.client.close(ids.client);
  }
  stop = true;
  reloader.join();
  EXPECT_EQ(pair.server.counters().handshakes_failed, 0U);
}

TEST(TlsFacts, tells_a_certificate) {
  const auto facts = read_certificates(certificates().server.certificate);
  ASSERT_TRUE(facts.has_value());
  ASSERT_EQ(facts->size(), 1U);
  const CertificateFacts& server = facts->front();
  EXPECT_EQ(server.subject, "CN=server");
  EXPECT_EQ(server.issuer, "CN=Test CA");
  EXPECT_EQ(server.key, "EC 256");
  EXPECT_EQ(server.key_security_bits, 128);
  EXPECT_EQ(server.signature, "ecdsa-with-SHA256");
  EXPECT_EQ(server.not_after - server.not_before, std::chrono::seconds(86400 + 3600));
  EXPECT_EQ(server.sha256.size(), 64U);
  EXPECT_FALSE(server.authority || server.self_signed);
  const auto authority = read_certificates(certificates().authority.file());
  ASSERT_TRUE(authority.has_value());
  EXPECT_TRUE(authority->front().authority && authority->front().self_signed);
}

TEST(TlsFacts, tells_a_revocation_list) {
  const auto lists = read_revocations(certificates().authority.revocations({7, 8}, 3600, "told.crl"));
  ASSERT_TRUE(lists.has_value());
  ASSERT_EQ(lists->size(), 1U);
  EXPECT_EQ(lists->front().issuer, "CN=Test CA");
  EXPECT_EQ(lists->front().revoked, 2U);
  EXPECT_EQ(lists->front().next_update - lists->front().this_update, std::chrono::seconds(3600 + 7200));
}

TEST(TlsFacts, matches_names_as_certificates_do) {
  EXPECT_TRUE(matches_peer_name("fix.example", "FIX.example"));
  EXPECT_TRUE(matches_peer_name("*.example", "fix.example"));
  EXPECT_FALSE(matches_peer_name("*.example", "a.fix.example"));
  EXPECT_FALSE(matches_peer_name("*.example", "example"));
  EXPECT_FALSE(matches_peer_name("*.example", ".example"));
  EXPECT_FALSE(matches_peer_name("fix.example", "fix.example.org"));
  EXPECT_FALSE(matches_peer_name("", ""));
}

TEST(TlsFacts, verifies_our_own_chain_for_the_side_it_is_for) {
  CertificateWish wish;
  wish.name = "for clients only";
  wish.usage = "clientAuth";
  const auto files = certificates().authority.issue(wish);
  TlsOptions options = certificates().server_options();
  options.certificate = files.certificate;
  options.key = files.key;
  const TlsContext context(options);
  EXPECT_TRUE(verify_own_chain(context, false).empty());
  const auto problems = verify_own_chain(context, true);
  ASSERT_FALSE(problems.empty());
  EXPECT_NE(problems[0].find("extended key usage"), std::string::npos) << problems[0];
  EXPECT_TRUE(certificate_is_for(context, "localhost"));
  EXPECT_TRUE(certificate_is_for(context, "127.0.0.1"));
  EXPECT_FALSE(certificate_is_for(context, "fix.example"));
}

TEST(TlsFacts, says_why_the_kernel_offers_no_encryption_or_that_it_does) { EXPECT_FALSE(kernel_tls().why.empty()); }

}  // namespace
}  // namespace nfx
