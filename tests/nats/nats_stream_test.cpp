// What needs no server: names, addresses, and the message of a build without libnats. tests/nats_cluster has the rest.
#include "nexusfix/nats/nats_stream.hpp"

#include <gtest/gtest.h>

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

TEST(NatsStream, refuses_a_stream_whose_name_is_not_a_token) {
  if (!missing_package().empty()) GTEST_SKIP() << missing_package();
  for (const char* name : {"", "a.b", "a b", "*", ">", "a\nb"})
    EXPECT_NE(error_of({.stream = name}).find("letters, digits, - and _"), std::string::npos) << name;
}

}  // namespace
}  // namespace nfx::nats
