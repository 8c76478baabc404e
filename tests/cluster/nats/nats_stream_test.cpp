// Tests that need no server: names, addresses, and the message of a build without libnats. tests/nats_cluster has the
// rest.
#include "nats/nats_stream.hpp"

#include <gtest/gtest.h>
#include <openssl/crypto.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "nats/hostile_server.hpp"
#include "nats_cluster/silent_server.hpp"

namespace nfx::nats {
namespace {

std::string error_of(const NatsOptions& options) {
  try {
    const NatsStream stream{options};
    return {};
  } catch (const NatsError& error) {
    return error.what();
  }
}

TEST(NatsStream, names_the_package_where_it_is_missing) {
  if (missing_package().empty()) GTEST_SKIP() << "built with libnats";
  EXPECT_NE(missing_package().find("libnats-dev"), std::string_view::npos);
  EXPECT_EQ(error_of({}), missing_package());
}

// Handlers run in the reverse of their order: this one after the handlers of a library that is used later.
void end_without_openssl() {
  if (::OPENSSL_init_crypto(0, nullptr) != 1) ::_exit(1);
}

// Threads of libnats end after their connection does, also while the process exits.
TEST(NatsStream, openssl_stays_usable_until_the_process_has_ended) {
  if (!missing_package().empty()) GTEST_SKIP() << missing_package();
  EXPECT_EXIT(
      {
        std::atexit(end_without_openssl);
        ::OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CRYPTO_STRINGS, nullptr);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(NatsStream, without_a_server_names_its_address) {
  if (!missing_package().empty()) GTEST_SKIP() << missing_package();
  const std::string error = error_of({.url = "nats://user:hidden@127.0.0.1:1,127.0.0.1:2"});
  EXPECT_TRUE(error.starts_with("nats://127.0.0.1:1,127.0.0.1:2: ")) << error;
  EXPECT_EQ(error.find("hidden"), std::string::npos) << error;
}

TEST(NatsStream, gives_up_a_server_that_accepts_and_does_not_answer_and_may_try_it_again) {
  if (!missing_package().empty()) GTEST_SKIP() << missing_package();
  test::SilentServer silent;
  const std::string url = "nats://127.0.0.1:" + std::to_string(silent.port());
  const NatsOptions options{.url = url, .timeout = std::chrono::milliseconds{100}};
  for (int attempt = 1; attempt <= 3; ++attempt) {
    const std::string error = error_of(options);
    EXPECT_TRUE(error.starts_with(url + ": a server accepts the connection and does not answer; restart it")) << error;
    EXPECT_EQ(silent.greeted(), attempt) << "the attempt before has not ended";
  }
}

// libnats 3.4 to 3.14 add the size that a server states to an index of type int, and allocate it.
TEST(NatsStream, a_server_that_states_a_size_without_bound_ends_its_connection_and_not_the_process) {
  if (!missing_package().empty()) GTEST_SKIP() << missing_package();
  for (const char* answer :
       {"MSG a 1 2147483647\r\n", "MSG a 1 2147483600\r\nxxxx", "MSG a 1 1073741824\r\nxx",
        "HMSG a 1 12 2147483647\r\nNATS/1.0\r\n\r\n", "HMSG a 1 2147483647 2147483647\r\nx", "MSG a 1 -1\r\n"}) {
    const test::HostileServer server{{.answer = answer}};
    const std::string error = error_of({.url = server.url(), .timeout = std::chrono::milliseconds{300}});
    EXPECT_NE(error, "") << answer;
  }
}

TEST(NatsStream, a_server_that_never_ends_a_line_is_left) {
  if (!missing_package().empty()) GTEST_SKIP() << missing_package();
  const std::string endless(std::size_t{1} << 20, 'x');
  const std::chrono::milliseconds timeout{300};
  const test::HostileServer greets{{.greeting = "INFO {" + endless}};
  EXPECT_NE(error_of({.url = greets.url(), .timeout = timeout}), "");
  const test::HostileServer pongs{{.pong = "PON" + endless}};
  EXPECT_NE(error_of({.url = pongs.url(), .timeout = timeout}), "");
  const test::HostileServer answers{{.answer = "MSG " + endless}};
  EXPECT_NE(error_of({.url = answers.url(), .timeout = timeout}), "");
}

TEST(NatsStream, refuses_a_stream_whose_name_is_not_a_token) {
  if (!missing_package().empty()) GTEST_SKIP() << missing_package();
  for (const char* name : {"", "a.b", "a b", "*", ">", "a\nb"})
    EXPECT_NE(error_of({.stream = name}).find("letters, digits, - and _"), std::string::npos) << name;
}

}  // namespace
}  // namespace nfx::nats
