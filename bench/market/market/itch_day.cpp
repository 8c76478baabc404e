// Writes the generator's messages with their lengths, and into packets.
#include "itch_day.hpp"

#include <array>
#include <fstream>
#include <stdexcept>

#include "harness/random.hpp"
#include "market/itch_generator.hpp"
#include "nexusfix/market/itch.hpp"
#include "nexusfix/market/itch_transport.hpp"

namespace nfx::bench {
namespace {

void append(std::vector<std::byte>& bytes, std::span<const std::byte> message) {
  std::array<std::byte, 2> size;
  nfx::market::store_big_endian(size.data(), static_cast<std::uint16_t>(message.size()));
  bytes.insert(bytes.end(), size.begin(), size.end());
  bytes.insert(bytes.end(), message.begin(), message.end());
}

}  // namespace

std::vector<std::byte> generate_itch_day(const ItchDayOptions& options) {
  nfx::market::ItchGenerator generator{{.seed = options.seed, .messages = options.messages, .stocks = options.stocks}};
  std::vector<std::byte> bytes;
  bytes.reserve(options.messages * 32);
  for (auto message = generator.next(); !message.empty(); message = generator.next()) append(bytes, message);
  return bytes;
}

std::vector<std::byte> read_whole_file(const std::string& file) {
  std::ifstream in{file, std::ios::binary | std::ios::ate};
  std::vector<std::byte> bytes(in ? static_cast<std::size_t>(in.tellg()) : 0);
  in.seekg(0);
  if (!in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()))) {
    throw std::runtime_error(file + ": cannot be read");
  }
  return bytes;
}

void write_whole_file(const std::string& file, std::span<const std::byte> bytes) {
  std::ofstream out{file, std::ios::binary};
  if (!out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()))) {
    throw std::runtime_error(file + ": cannot be written");
  }
}

MoldPackets::MoldPackets(std::span<const std::byte> day, std::uint64_t seed) {
  Random random{seed};
  nfx::market::MoldHeader header;
  header.session.fill('N');
  header.sequence = 1;
  std::vector<std::byte> messages;
  std::uint64_t wanted = random.between(1, 15);
  const auto finish = [&] {
    if (header.count == 0) return;
    const auto bytes = header.bytes();
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    bytes_.insert(bytes_.end(), messages.begin(), messages.end());
    ends_.push_back(bytes_.size());
    header.sequence += header.count;
    header.count = 0;
    messages.clear();
    wanted = random.between(1, 15);
  };
  bytes_.reserve(day.size() + day.size() / 8);
  nfx::market::itch::for_each_framed(day, [&](std::span<const std::byte> message) {
    append(messages, message);
    if (++header.count == wanted) finish();
  });
  finish();
}

}  // namespace nfx::bench
