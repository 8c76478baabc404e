// Prints the order book of each instrument in a recording: book_printer DAY, in DBN or of ITCH messages with lengths.
// Decompress a .dbn.zst first: zstd -d DAY.dbn.zst
#include <nexusfix/market.hpp>

#include <array>
#include <cstdio>
#include <fstream>
#include <span>
#include <utility>

using namespace nfx::market;

void print_side(const OrderBook& book, Side side, const char* name) {
  std::array<Level, 5> levels;
  for (const Level& level : std::span{levels}.first(book.levels(side, levels))) {
    std::printf("  %s %s  %llu in %u orders\n", name, to_string(level.price.decimal()).c_str(),
                static_cast<unsigned long long>(level.quantity), level.orders);
  }
}

template <class Reader>
int print_books(Reader reader, std::ifstream& file) {
  constexpr std::uint32_t most = 10'000;  // instruments
  InstrumentTable instruments{most};
  OrderBooks books{{.instruments = most}};
  const auto take = [&](const Event& event) {
    if (const auto index = instruments.index_of(event.instrument)) books.apply(*index, event);
    return true;  // false stops the reading
  };
  std::array<char, 65536> chunk;
  while (file.read(chunk.data(), chunk.size()) || file.gcount() > 0) {
    if (!reader.read(std::as_bytes(std::span{chunk}.first(static_cast<std::size_t>(file.gcount()))), take)) break;
  }
  for (std::uint32_t i = 0; i < instruments.size(); ++i) {
    const OrderBook book = books.book(InstrumentIndex{i});
    std::printf("instrument %u: %u orders\n", std::to_underlying(instruments.id(InstrumentIndex{i})), book.orders());
    print_side(book, Side::bid, "bid");
    print_side(book, Side::ask, "ask");
  }
  if (reader.finish()) return 0;
  std::fprintf(stderr, "%s, at byte %llu\n", to_string(reader.error().problem).data(),
               static_cast<unsigned long long>(reader.error().offset));
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: book_printer DAY\n", stderr), 2;
  std::ifstream file{argv[1], std::ios::binary};
  std::array<char, 3> begin{};
  file.read(begin.data(), begin.size()).seekg(0);
  if (ItchFileReader::begins_like_itch(std::as_bytes(std::span{begin}))) return print_books(ItchFileReader{{}}, file);
  return print_books(DbnReader{}, file);
}
