// Which servers a warning names: servers on other hosts that are connected to without TLS.
#include <gtest/gtest.h>

#include "nats/nats_stream.hpp"

namespace nfx::nats {
namespace {

TEST(PlainServers, are_those_of_other_hosts_without_tls_and_without_their_passwords) {
  EXPECT_EQ(plain_servers({.url = "nats://127.0.0.1:4222,localhost,nats://[::1]:4222"}), "");
  EXPECT_EQ(plain_servers({.url = "tls://10.0.0.1,tls://nats-1:4222"}), "");
  EXPECT_EQ(plain_servers({.url = "nats://10.0.0.1", .certificate_authority = "ca.pem"}), "");
  EXPECT_EQ(plain_servers({.url = "nats://user:secret@10.0.0.1:4222,tls://10.0.0.2,nats-3"}), "10.0.0.1:4222, nats-3");
  EXPECT_EQ(plain_servers({.url = "nats://127.0.0.1.evil.example"}), "127.0.0.1.evil.example");
}

}  // namespace
}  // namespace nfx::nats
