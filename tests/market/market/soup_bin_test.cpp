// SoupBinTCP: the login, messages in any pieces, heartbeats, and servers that break the protocol.
#include "nexusfix/market/itch_transport.hpp"

#include <gtest/gtest.h>

#include "mold_packets.hpp"

namespace nfx::market {
namespace {

using namespace std::chrono_literals;
using test::Bytes;

struct Client {
  struct Sink {
    Client& owner;
    void message(std::uint64_t sequence, std::span<const std::byte> bytes) {
      owner.sequences.push_back(sequence);
      owner.messages.emplace_back(bytes.begin(), bytes.end());
    }
    void send(std::span<const std::byte> bytes) { owner.sent.insert(owner.sent.end(), bytes.begin(), bytes.end()); }
  };

  void connect(const SoupLogin& login = {"user", "secret", "", 1}) { soup.connected(login, now, Sink{*this}); }
  void log_in() {
    connect();
    receive(test::soup_login_accepted("S1", 1));
    sent.clear();
  }
  void receive(const Bytes& bytes) { soup.received(bytes, now, Sink{*this}); }
  void wait(Duration time) {
    now += time;
    soup.tick(now, Sink{*this});
  }

  SoupClient soup;
  MonotonicTime now{50s};
  std::vector<std::uint64_t> sequences;
  std::vector<Bytes> messages;
  Bytes sent;
};

Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(SoupBin, writes_a_login_with_padded_texts_and_a_right_justified_number) {
  Client client;
  client.connect({"user", "secret", "S1", 42});
  EXPECT_EQ(client.sent, joined({Bytes{std::byte{0}, std::byte{47}},
                                 test::bytes_of("Luser  secret    S1                          42")}));
  EXPECT_EQ(client.soup.state(), SoupState::logging_in);
}

TEST(SoupBin, reads_numbers_with_spaces_or_zeros_and_refuses_what_is_none) {
  const auto read = [](std::string_view text) {
    const Bytes bytes = test::bytes_of(text);
    return soup::read_number(std::span{bytes}.first<20>());
  };
  EXPECT_EQ(read("                   0"), 0U);
  EXPECT_EQ(read("                 123"), 123U);
  EXPECT_EQ(read("00000000000000000123"), 123U);
  EXPECT_EQ(read("00000000000000000000"), 0U);
  EXPECT_EQ(read(" 9999999999999999999"), 9'999'999'999'999'999'999U);
  EXPECT_EQ(read("99999999999999999999"), std::nullopt);
  EXPECT_EQ(read("                    "), std::nullopt);
  EXPECT_EQ(read("                 1 3"), std::nullopt);
  EXPECT_EQ(read("                  -3"), std::nullopt);
  EXPECT_EQ(read("                 12 "), std::nullopt);
}

TEST(SoupBin, numbers_messages_from_the_one_that_the_server_says) {
  Client client;
  client.connect();
  client.receive(
      joined({test::soup_packet('+', test::bytes_of("hello")), test::soup_login_accepted("S7", 1000),
              test::soup_packet('S', test::bytes_of("one")), test::soup_packet('H'), test::soup_packet('S', {}),
              test::soup_packet('U', test::bytes_of("aside")), test::soup_packet('S', test::bytes_of("three"))}));
  EXPECT_EQ(client.soup.state(), SoupState::logged_in);
  EXPECT_EQ(client.soup.session(), "S7        ");
  EXPECT_EQ(client.sequences, (std::vector<std::uint64_t>{1000, 1001, 1002}));
  EXPECT_EQ(client.messages, (std::vector<Bytes>{test::bytes_of("one"), {}, test::bytes_of("three")}));
  EXPECT_EQ(client.soup.next_sequence(), 1003U);
}

TEST(SoupBin, takes_bytes_in_pieces_of_every_size) {
  Bytes stream = test::soup_login_accepted("S1", 1);
  std::vector<Bytes> wanted;
  for (std::size_t i = 0; i < 30; ++i) {
    wanted.emplace_back(i * 7 % 61, static_cast<std::byte>(i));
    const Bytes packet = test::soup_packet('S', wanted.back());
    stream.insert(stream.end(), packet.begin(), packet.end());
  }
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    Client client;
    client.connect();
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      const auto begin = stream.begin() + static_cast<std::ptrdiff_t>(at);
      client.receive(Bytes(begin, begin + static_cast<std::ptrdiff_t>(std::min(piece, stream.size() - at))));
    }
    ASSERT_EQ(client.messages, wanted) << piece;
  }
}

TEST(SoupBin, takes_the_longest_packet_in_two_pieces) {
  Client client;
  client.log_in();
  const Bytes payload(65534, std::byte{7});
  const Bytes packet = test::soup_packet('S', payload);
  client.receive(Bytes(packet.begin(), packet.end() - 1));
  EXPECT_TRUE(client.messages.empty());
  client.receive(Bytes(packet.end() - 1, packet.end()));
  ASSERT_EQ(client.messages.size(), 1U);
  EXPECT_EQ(client.messages[0], payload);
}

TEST(SoupBin, says_why_a_login_is_rejected) {
  const auto rejected = [](std::string_view reason) {
    Client client;
    client.connect();
    client.receive(test::soup_packet('J', test::bytes_of(reason)));
    EXPECT_EQ(client.soup.state(), SoupState::failed);
    client.receive(test::soup_login_accepted("S1", 1));
    EXPECT_EQ(client.soup.state(), SoupState::failed) << "nothing more is read";
    return client.soup.failure();
  };
  EXPECT_EQ(rejected("A"), SoupFailure::not_authorised);
  EXPECT_EQ(rejected("S"), SoupFailure::session_unavailable);
  EXPECT_EQ(rejected("?"), SoupFailure::rejected);
  EXPECT_EQ(rejected(""), SoupFailure::malformed);
}

TEST(SoupBin, fails_on_packets_that_break_the_protocol) {
  const auto failure = [](bool logged_in, const Bytes& bytes) {
    Client client;
    logged_in ? client.log_in() : client.connect();
    client.receive(bytes);
    return client.soup.failure();
  };
  for (const bool logged_in : {false, true}) {
    EXPECT_EQ(failure(logged_in, {std::byte{0}, std::byte{0}}), SoupFailure::malformed) << "a packet without a type";
    EXPECT_EQ(failure(logged_in, test::soup_packet('X')), SoupFailure::unexpected);
    EXPECT_EQ(failure(logged_in, test::soup_packet('+')), SoupFailure::none);
  }
  EXPECT_EQ(failure(false, test::soup_packet('S', test::bytes_of("x"))), SoupFailure::unexpected);
  EXPECT_EQ(failure(true, test::soup_login_accepted("S1", 1)), SoupFailure::unexpected);
  EXPECT_EQ(failure(true, test::soup_packet('J', test::bytes_of("A"))), SoupFailure::unexpected);
  EXPECT_EQ(failure(false, test::soup_packet('A', test::bytes_of("short"))), SoupFailure::malformed);
  EXPECT_EQ(failure(false, test::soup_packet('A', Bytes(30, std::byte{'x'}))), SoupFailure::malformed);
}

TEST(SoupBin, ends_with_the_session_and_reads_nothing_after_it) {
  Client client;
  client.log_in();
  client.receive(joined({test::soup_packet('Z'), test::soup_packet('S', test::bytes_of("late"))}));
  EXPECT_EQ(client.soup.state(), SoupState::ended);
  EXPECT_TRUE(client.messages.empty());
}

TEST(SoupBin, sends_a_heartbeat_each_second_and_gives_a_silent_server_up_after_15) {
  Client client;
  client.log_in();
  const Bytes heartbeat = test::soup_packet('R');
  client.wait(999ms);
  EXPECT_TRUE(client.sent.empty());
  client.wait(1ms);
  EXPECT_EQ(client.sent, heartbeat);
  client.receive(test::soup_packet('H'));
  for (int i = 0; i < 14; ++i) client.wait(1s);
  EXPECT_EQ(client.sent.size(), 15 * heartbeat.size());
  EXPECT_EQ(client.soup.state(), SoupState::logged_in);
  client.wait(1s);
  EXPECT_EQ(client.soup.state(), SoupState::failed);
  EXPECT_EQ(client.soup.failure(), SoupFailure::silence);
  client.wait(10s);
  EXPECT_EQ(client.sent.size(), 15 * heartbeat.size());
}

TEST(SoupBin, forgets_the_beginning_of_a_packet_when_the_connection_is_lost) {
  Client client;
  client.log_in();
  const Bytes packet = test::soup_packet('S', test::bytes_of("lost"));
  client.receive(Bytes(packet.begin(), packet.begin() + 4));
  client.soup.disconnected();
  EXPECT_EQ(client.soup.state(), SoupState::closed);
  client.receive(packet);
  EXPECT_TRUE(client.messages.empty());
  client.connect();
  client.receive(joined({test::soup_login_accepted("S1", 5), test::soup_packet('S', test::bytes_of("again"))}));
  EXPECT_EQ(client.messages, (std::vector<Bytes>{test::bytes_of("again")}));
  EXPECT_EQ(client.sequences, (std::vector<std::uint64_t>{5}));
}

TEST(SoupBin, logs_out_only_when_logged_in) {
  Client client;
  client.connect();
  client.sent.clear();
  client.soup.logout(Client::Sink{client});
  EXPECT_TRUE(client.sent.empty());
  client.receive(test::soup_login_accepted("S1", 1));
  client.soup.logout(Client::Sink{client});
  EXPECT_EQ(client.sent, test::soup_packet('O'));
}

}  // namespace
}  // namespace nfx::market
