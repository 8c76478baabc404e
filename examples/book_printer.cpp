// Prints the order book of each instrument in a recording: book_printer DAY.dbn
// Decompress a .dbn.zst first: zstd -d DAY.dbn.zst
#include <array>
#include <cstdio>
#include <fstream>
#include <span>
#include <utility>

#include "nexusfix/market/dbn.hpp"
#include "nexusfix/market/instrument_table.hpp"
#include "nexusfix/market/order_book.hpp"

using namespace nfx::market;

void print_side(const OrderBook& book, Side side, const char* name) {
  std::array<Level, 5> levels;
  const std::size_t count = book.levels(side, levels);
  for (const Level& level : std::span{levels}.first(count)) {
    std::array<char, nfx::Decimal::max_text_size> price;
    const auto size = static_cast<int>(level.price.decimal().write(price.data()));
    std::printf("  %s %.*s  %llu in %u orders\n", name, size, price.data(),
                static_cast<unsigned long long>(level.quantity), level.orders);
  }
}

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: book_printer DAY.dbn\n", stderr), 2;
  constexpr std::uint32_t most = 1000;  // instruments
  InstrumentTable instruments{most};
  OrderBooks books{{.instruments = most}};
  DbnReader reader;

  std::ifstream file{argv[1], std::ios::binary};
  std::array<char, 65536> chunk;
  while (file.read(chunk.data(), chunk.size()) || file.gcount() > 0) {
    const auto bytes = std::as_bytes(std::span{chunk}.first(static_cast<std::size_t>(file.gcount())));
    const bool good = reader.read(bytes, [&](const Event& event) {
      if (const auto index = instruments.index_of(event.instrument)) books.apply(*index, event);
      return true;
    });
    if (!good) break;
  }
  if (!reader.finish()) {
    std::fprintf(stderr, "%s %s, at byte %llu\n", argv[1], to_string(reader.error().problem).data(),
                 static_cast<unsigned long long>(reader.error().offset));
  }
  for (std::uint32_t i = 0; i < instruments.size(); ++i) {
    const OrderBook book = books.book(InstrumentIndex{i});
    std::printf("instrument %u: %u orders\n", std::to_underlying(instruments.id(InstrumentIndex{i})), book.orders());
    print_side(book, Side::bid, "bid");
    print_side(book, Side::ask, "ask");
  }
  return reader.error().problem == DbnProblem::none ? 0 : 1;
}
