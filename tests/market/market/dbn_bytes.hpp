// Writes DBN: metadata of each version and records by order, for tests.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace nfx::market::test {

struct DbnRecord {
  std::uint32_t instrument = 7;
  std::uint64_t event_time = 1;
  std::uint64_t receive_time = 2;
  std::uint64_t order = 0;
  std::int64_t price = 0;
  std::uint32_t size = 0;
  std::uint8_t flags = 128;
  char action = 'A';
  char side = 'B';
  std::uint32_t sequence = 0;
};

class DbnBytes {
 public:
  explicit DbnBytes(std::uint8_t version, bool send_times = false, std::string_view symbol = "ESH4")
      : send_times_(send_times) {
    text("DBN", 3);
    number<std::uint8_t>(version);
    const std::size_t symbol_size = version == 1 ? 22 : 71;
    const std::size_t lists = 5 * 4 + symbol_size + (symbol_size + 4 + 8 + symbol_size);
    number<std::uint32_t>(static_cast<std::uint32_t>(100 + lists));
    text("GLBX.MDP3", 16);
    number<std::uint16_t>(0);
    number<std::uint64_t>(10);
    number<std::uint64_t>(20);
    number<std::uint64_t>(0);
    if (version == 1) number<std::uint64_t>(0);
    number<std::uint8_t>(1);
    number<std::uint8_t>(0);
    number<std::uint8_t>(send_times ? 1 : 0);
    if (version != 1) number<std::uint16_t>(static_cast<std::uint16_t>(symbol_size));
    text("", version == 1 ? 47 : 53);
    number<std::uint32_t>(0);
    number<std::uint32_t>(1);
    text(symbol, symbol_size);
    number<std::uint32_t>(0);
    number<std::uint32_t>(0);
    number<std::uint32_t>(1);
    text(symbol, symbol_size);
    number<std::uint32_t>(1);
    number<std::uint32_t>(20231225);
    number<std::uint32_t>(20231226);
    text("7", symbol_size);
  }

  void add(const DbnRecord& record) {
    number<std::uint8_t>(send_times_ ? 16 : 14);
    number<std::uint8_t>(0xA0);
    number<std::uint16_t>(1);
    number<std::uint32_t>(record.instrument);
    number<std::uint64_t>(record.event_time);
    number<std::uint64_t>(record.order);
    number<std::int64_t>(record.price);
    number<std::uint32_t>(record.size);
    number<std::uint8_t>(record.flags);
    number<std::uint8_t>(0);
    number<char>(record.action);
    number<char>(record.side);
    number<std::uint64_t>(record.receive_time);
    number<std::int32_t>(100);
    number<std::uint32_t>(record.sequence);
    if (send_times_) number<std::uint64_t>(3);
  }

  // A record of another type, of `words` words.
  void other(std::uint8_t type, std::uint8_t words) {
    number<std::uint8_t>(words);
    number<std::uint8_t>(type);
    text("", words * std::size_t{4} - 2);
  }

  template <class T>
  void number(T value) {
    if constexpr (std::endian::native == std::endian::big && sizeof(T) > 1) value = std::byteswap(value);
    const auto* const from = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  }
  void text(std::string_view value, std::size_t size) {
    const auto* const from = reinterpret_cast<const std::byte*>(value.data());
    bytes.insert(bytes.end(), from, from + value.size());
    bytes.resize(bytes.size() + size - value.size());
  }

  std::vector<std::byte> bytes;

 private:
  bool send_times_;
};

}  // namespace nfx::market::test
