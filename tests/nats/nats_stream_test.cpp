// What needs no server: names, addresses, and the message of a build without libnats. tests/nats_cluster has the rest.
#include "nexusfix/nats/nats_stream.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "nats_cluster/silent_server.hpp"
#include "nexusfix/base/clocks.hpp"

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

TEST(NatsStream, without_a_server_names_its_address) {
  if (!missing_package().empty()) GTEST_SKIP() << missing_package();
  const std::string error = error_of({.url = "nats://user:hidden@127.0.0.1:1,127.0.0.1:2"});
  EXPECT_TRUE(error.starts_with("nats://127.0.0.1:1,127.0.0.1:2: ")) << error;
  EXPECT_EQ(error.find("hidden"), std::string::npos) << error;
}

TEST(NatsStream, does_not_connect_to_a_server_at_which_an_attempt_has_not_ended) {
  if (!missing_package().empty()) GTEST_SKIP() << missing_package();
  using std::chrono::milliseconds;
  test::SilentServer silent;
  const std::string url = "nats://127.0.0.1:" + std::to_string(silent.port());
  const NatsOptions options{.url = url, .timeout = milliseconds{100}};
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::string error = error_of(options);
    EXPECT_TRUE(error.starts_with(url + ": a server accepts the connection and does not answer; restart it")) << error;
    EXPECT_EQ(silent.greeted(), 1);
  }
  silent.hang_up();
  // libnats ends the first attempt when it finds that out.
  for (const MonotonicTime end = read_monotonic() + std::chrono::seconds{10};
       silent.greeted() == 1 && read_monotonic() < end;)
    EXPECT_NE(error_of(options), "");
  EXPECT_EQ(silent.greeted(), 2);
}

TEST(NatsStream, refuses_a_stream_whose_name_is_not_a_token) {
  if (!missing_package().empty()) GTEST_SKIP() << missing_package();
  for (const char* name : {"", "a.b", "a b", "*", ">", "a\nb"})
    EXPECT_NE(error_of({.stream = name}).find("letters, digits, - and _"), std::string::npos) << name;
}

}  // namespace
}  // namespace nfx::nats
