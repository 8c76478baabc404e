// The header of the PROXY protocol: written headers are parsed, and nothing else is.
#include "transport/proxy_header.hpp"

#include <gtest/gtest.h>

#include "transport/tcp_testing.hpp"

namespace nfx {
namespace {

using namespace testing;
using enum ProxyHeader::Status;

TEST(ProxyHeader, names_the_peer_of_an_accepted_connection) {
  ServerOver<EpollKind> server;
  RawClient client(server.port);
  ASSERT_TRUE(server.poll_until([&] { return !server.sink.accepted.empty(); }));
  server.transport.hold(server.sink.accepted.front(), true);
  std::string received;
  const auto socket = server.transport.detach(server.sink.accepted.front(), received);
  ASSERT_TRUE(socket.has_value());
  const std::string header = proxy_header(*socket);
  ::close(*socket);
  const ProxyHeader read = read_proxy_header(header + "8=FIX.4.4");
  EXPECT_EQ(read.status, complete) << header;
  EXPECT_EQ(read.size, header.size());
  EXPECT_EQ(read.peer, server.sink.peer);
  EXPECT_TRUE(header.ends_with(' ' + std::to_string(server.port) + "\r\n")) << header;
}

TEST(ProxyHeader, is_empty_for_a_socket_without_a_peer) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(proxy_header(socket), "");
  ::close(socket);
}

TEST(ProxyHeader, is_incomplete_until_its_last_byte) {
  const std::string header = "PROXY TCP4 192.0.2.7 10.0.0.11 51234 9878\r\n";
  for (std::size_t size = 0; size < header.size(); ++size)
    EXPECT_EQ(read_proxy_header(header.substr(0, size)).status, incomplete) << size;
  EXPECT_EQ(read_proxy_header(header).peer, "192.0.2.7:51234");
}

TEST(ProxyHeader, states_an_ipv6_address_in_brackets) {
  EXPECT_EQ(read_proxy_header("PROXY TCP6 2001:db8::7 ::1 51234 9878\r\n").peer, "[2001:db8::7]:51234");
}

TEST(ProxyHeader, is_absent_before_a_fix_message) {
  EXPECT_EQ(read_proxy_header("8=FIX.4.4\x01").status, absent);
  EXPECT_EQ(read_proxy_header("PROXX").status, absent);
}

TEST(ProxyHeader, is_wrong_without_tcp_addresses_and_ports) {
  for (const char* text :
       {"PROXY UNKNOWN\r\n", "PROXY TCP4 192.0.2.7 10.0.0.11 51234\r\n", "PROXY TCP4 2001:db8::7 ::1 1 2\r\n",
        "PROXY TCP6 192.0.2.7 10.0.0.11 1 2\r\n", "PROXY TCP4 192.0.2.7 10.0.0.11 51234 98780\r\n",
        "PROXY TCP4 192.0.2.7 10.0.0.11  51234 9878\r\n", "PROXY TCP4 192.0.2.7 10.0.0.11 51234 9878 \r\n",
        "PROXY TCP4 host 10.0.0.11 51234 9878\r\n"})
    EXPECT_EQ(read_proxy_header(text).status, wrong) << text;
}

TEST(ProxyHeader, is_wrong_with_more_than_an_address_in_the_place_of_one) {
  using namespace std::string_view_literals;
  EXPECT_EQ(read_proxy_header("PROXY TCP4 192.0.2.7\0 10.0.0.11 51234 9878\r\n"sv).status, wrong);
  EXPECT_EQ(read_proxy_header("PROXY TCP4 192.0.2.7 10.0.0.11\0line 51234 9878\r\n"sv).status, wrong);
}

TEST(ProxyHeader, is_wrong_when_it_does_not_end_in_time) {
  EXPECT_EQ(read_proxy_header("PROXY " + std::string(longest_proxy_header - 7, 'x')).status, incomplete);
  EXPECT_EQ(read_proxy_header("PROXY " + std::string(longest_proxy_header - 6, 'x')).status, wrong);
}

}  // namespace
}  // namespace nfx
