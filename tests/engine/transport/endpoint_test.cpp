// Endpoints as text.
#include <gtest/gtest.h>

#include "transport/transport.hpp"

namespace nfx {
namespace {

TEST(Endpoint, reads_host_and_port) {
  EXPECT_EQ(Endpoint::parse("fix.example:9880"), (Endpoint{"fix.example", 9880}));
  EXPECT_EQ(Endpoint::parse("[::1]:65535"), (Endpoint{"::1", 65535}));
  EXPECT_EQ(Endpoint::parse("[fe80::1%eth0]:1"), (Endpoint{"fe80::1%eth0", 1}));
  EXPECT_EQ(Endpoint::parse("0.0.0.0:0"), (Endpoint{"0.0.0.0", 0}));
}

TEST(Endpoint, writes_what_it_reads) {
  for (const char* text : {"fix.example:9880", "[::1]:1", "127.0.0.1:65535"}) {
    const auto endpoint = Endpoint::parse(text);
    ASSERT_TRUE(endpoint.has_value()) << text;
    EXPECT_EQ(to_string(*endpoint), text);
  }
}

TEST(Endpoint, refuses_anything_else) {
  for (const char* text : {"", "host", ":80", "host:", "host:65536", "host:-1", "host:80x", "::1:80", "[::1]", "[]:80",
                           "[::1:80", "a b:80", "host: 80", "[10.0.0.1:5]:80"}) {
    EXPECT_EQ(Endpoint::parse(text), std::nullopt) << text;
  }
}

TEST(CloseReason, has_a_name_for_each) {
  EXPECT_EQ(to_string(CloseReason::peer_closed), "peer closed");
  EXPECT_EQ(to_string(CloseReason::reset), "reset");
  EXPECT_EQ(to_string(CloseReason::refused), "refused");
  EXPECT_EQ(to_string(CloseReason::timed_out), "timed out");
  EXPECT_EQ(to_string(CloseReason::unreachable), "unreachable");
  EXPECT_EQ(to_string(CloseReason::local_error), "local error");
  EXPECT_EQ(to_string(CloseReason::tls_failed), "TLS failed");
}

TEST(ConnectionId, holds_slot_and_generation_apart) {
  constexpr auto id = detail::make_id<ConnectionId>(5, 7);
  static_assert(slot_of(id) == 5 && detail::id_generation(id) == 7);
  EXPECT_NE(id, detail::make_id<ConnectionId>(5, 8));
}

}  // namespace
}  // namespace nfx
