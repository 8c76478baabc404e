// Whatever the bytes of a recording are, reading them ends with an error within them or at their end; the same bytes in
// two chunks give the same events and the same error; and the books of these events are consistent and bounded. Inputs
// are pairs of hexadecimal digits; other characters are skipped. The first byte is the chunk boundary.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "fuzz_target.hpp"
#include "nexusfix/market/dbn.hpp"
#include "nexusfix/market/feed_books.hpp"
#include "nexusfix/market/order_book.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 20000};

namespace {

using namespace nfx::market;
using nfx::fuzz::require;

int value_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::vector<std::byte> bytes_of(std::string_view text) {
  std::vector<std::byte> bytes;
  int high = -1;
  for (const char c : text) {
    const int digit = value_of(c);
    if (digit < 0) continue;
    if (high >= 0) bytes.push_back(std::byte(high * 16 + digit));
    high = high < 0 ? digit : -1;
  }
  return bytes;
}

struct Reading {
  std::vector<Event> events;
  DbnError error;
};

Reading read(std::span<const std::byte> bytes, std::size_t split) {
  Reading reading;
  DbnReader reader;
  const auto sink = [&](const Event& event) {
    reading.events.push_back(event);
    return true;
  };
  (void)(reader.read(bytes.first(split), sink) && reader.read(bytes.subspan(split), sink));
  (void)reader.finish();
  reading.error = reader.error();
  return reading;
}

void check_books(const std::vector<Event>& events, std::string_view text) {
  OrderBooks books{{.instruments = 2, .orders = 6, .levels = 4, .orders_expected = 1, .expected_from = 0}};
  InstrumentTable instruments{2};
  for (const Event& event : events) {
    const auto index = instruments.index_of(event.instrument);
    if (!index) continue;
    books.apply(*index, event);
    require(books.consistent(), "books are consistent after each event", text);
    require(books.orders() <= 6 && books.levels() <= 4, "books stay within their limits", text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  std::vector<std::byte> bytes = bytes_of(text);
  if (bytes.empty()) return 0;
  const std::size_t split = std::to_integer<std::size_t>(bytes.front()) % bytes.size();
  bytes.erase(bytes.begin());
  const Reading whole = read(bytes, 0), parted = read(bytes, split);
  require(whole.error.offset <= bytes.size(), "an error is within the input", text);
  require(whole.error.problem == parted.error.problem && whole.error.offset == parted.error.offset,
          "chunks give the same error", text);
  require(whole.events.size() == parted.events.size(), "chunks give the same events", text);
  for (std::size_t i = 0; i < whole.events.size(); ++i) {
    require(std::memcmp(&whole.events[i], &parted.events[i], sizeof(Event)) == 0, "chunks give equal events", text);
  }
  check_books(whole.events, text);
  return 0;
}
