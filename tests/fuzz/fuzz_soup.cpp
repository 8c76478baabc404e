// Whatever a SoupBinTCP server sends, the client reads the same in pieces of every size, numbers messages without a
// gap, and reads nothing after a failure or the end of the session. Each line of the input is a packet, whose first
// character is the type; a line that begins with '\' is sent unchanged, without a length.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fuzz_target.hpp"
#include "market/mold_packets.hpp"
#include "nexusfix/market/itch_feed.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 10000};

namespace {

using namespace nfx::market;
using nfx::fuzz::require;
using test::Bytes;

struct Outcome {
  std::vector<Bytes> messages;
  SoupState state{};
  SoupFailure failure{};
  std::uint64_t next = 0;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome read_in_pieces(const Bytes& stream, std::size_t piece, std::string_view text) {
  struct Sink {
    Outcome& outcome;
    const SoupClient& client;
    std::string_view text;
    void message(std::uint64_t sequence, std::span<const std::byte> bytes) {
      require(client.state() == SoupState::logged_in, "messages come when logged in", text);
      require(sequence + 1 == client.next_sequence(), "messages are numbered without a gap", text);
      outcome.messages.emplace_back(bytes.begin(), bytes.end());
      static_cast<void>(glimpse_end(bytes));
    }
    void send(std::span<const std::byte>) {}
  };
  Outcome outcome;
  SoupClient client;
  const nfx::MonotonicTime now{std::chrono::seconds{1}};
  client.connected({"user", "secret", "", 1}, now, Sink{outcome, client, text});
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    const Bytes bytes(stream.begin() + static_cast<std::ptrdiff_t>(at),
                      stream.begin() + static_cast<std::ptrdiff_t>(std::min(stream.size(), at + piece)));
    client.received(bytes, now, Sink{outcome, client, text});
  }
  require((client.state() == SoupState::failed) == (client.failure() != SoupFailure::none), "a failure has a reason",
          text);
  outcome.state = client.state();
  outcome.failure = client.failure();
  outcome.next = client.next_sequence();
  return outcome;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = nfx::fuzz::text_of(data, size);
  Bytes stream;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.empty()) continue;
    const Bytes payload = test::bytes_of(line.substr(1));
    const Bytes packet = line.front() == '\\' ? payload : test::soup_packet(line.front(), payload);
    stream.insert(stream.end(), packet.begin(), packet.end());
  }
  const Outcome whole = read_in_pieces(stream, std::max<std::size_t>(1, stream.size()), text);
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 64U}) {
    require(read_in_pieces(stream, piece, text) == whole, "pieces read as the whole does", text);
  }
  return 0;
}
