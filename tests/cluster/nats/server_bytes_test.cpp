// A server's bytes are checked before libnats reads them.
#include "nats/server_bytes.hpp"

#include <gtest/gtest.h>

#include <string>

namespace nfx::nats {
namespace {

constexpr std::string_view info = "INFO {\"server_id\":\"X\"}\r\n";

bool takes(std::string_view bytes, std::size_t step = 1 << 20) {
  ServerBytes check;
  for (std::size_t at = 0; at < bytes.size(); at += step)
    if (!check.take(bytes.substr(at, step))) return false;
  return true;
}

TEST(ServerBytes, takes_what_nats_server_sends_however_it_arrives) {
  const std::string session = std::string{info} +
                              "PING\r\nPONG\r\n+OK\r\n-ERR 'Authorization Violation'\r\n"
                              "MSG NEXUSFIX.s.A 1 5\r\nhello\r\nMSG a 18 _INBOX.x.y 0\r\n\r\n"
                              "HMSG a 1 12 14\r\nNATS/1.0\r\n\r\nhi\r\nHMSG a 1 r 12 12\r\nNATS/1.0\r\n\r\n\r\n"
                              "MSG a 1 6\r\nMSG\r\nx\r\nPONG\r\n";
  for (std::size_t step = 1; step <= session.size(); ++step) EXPECT_TRUE(takes(session, step)) << step;
}

TEST(ServerBytes, a_size_above_the_bound_is_refused_before_its_message) {
  EXPECT_TRUE(takes("MSG a 1 " + std::to_string(ServerBytes::message_max) + "\r\n"));
  for (const char* size : {"16777217", "2147483647", "2147483648", "4294967296", "99999999999999999999", "-1", "+1", "",
                           "0x10", "1e9", "1.0"}) {
    EXPECT_FALSE(takes("MSG a 1 " + std::string{size} + "\r\n")) << size;
    EXPECT_FALSE(takes("MSG a 1 reply " + std::string{size} + "\r\n")) << size;
    EXPECT_FALSE(takes("HMSG a 1 12 " + std::string{size} + "\r\n")) << size;
    EXPECT_FALSE(takes("HMSG a 1 " + std::string{size} + " 12\r\n")) << size;
  }
}

TEST(ServerBytes, a_header_longer_than_its_message_or_than_its_bound_is_refused) {
  EXPECT_FALSE(takes("HMSG a 1 13 12\r\n"));
  EXPECT_TRUE(takes("HMSG a 1 16384 16384\r\n"));
  EXPECT_FALSE(takes("HMSG a 1 16385 20000\r\n"));
}

TEST(ServerBytes, what_libnats_would_read_in_another_way_is_refused) {
  for (const std::string line :
       {"msg a 1 1\r\nx\r\n", "MSG a 1 1\nx\r\n", "MSG a 1 1\r\nx\n", "MSG a 1 1\r\nxy\r\n", "MSG a\r 1 1\r\n",
        "MSG a b c d 1\r\n", "MSG a 1\r\n", "MSG a x 1\r\n", "MSG a 1234567890123456789 1\r\n", "PINGS\r\n",
        "PUB a 1\r\n", "\r\n", "-ERR\r\n", "+OK \r\n"})
    EXPECT_FALSE(takes(line)) << line;
  EXPECT_FALSE(takes(std::string{"INFO {\0}\r\n", 11}));
}

TEST(ServerBytes, a_line_without_an_end_is_refused_at_its_bound) {
  EXPECT_FALSE(takes("MSG " + std::string(ServerBytes::line_max, 'a')));
  EXPECT_FALSE(takes("-ERR " + std::string(ServerBytes::line_max, 'a'), 7));
  EXPECT_TRUE(takes("INFO " + std::string(ServerBytes::info_max - 6, 'a') + "\r\n"));
  EXPECT_FALSE(takes("INFO " + std::string(ServerBytes::info_max, 'a'), 100));
}

TEST(ServerBytes, nothing_is_taken_after_a_refusal) {
  ServerBytes check;
  EXPECT_FALSE(check.take("X\r\n"));
  EXPECT_FALSE(check.take("PING\r\n"));
}

}  // namespace
}  // namespace nfx::nats
