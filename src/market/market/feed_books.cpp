// Books by level, and the hash of all books.
#include "nexusfix/market/feed_books.hpp"

#include <utility>

namespace nfx::market {
namespace {

// Only one of the two shapes takes memory.
BookLimits limits_of(const FeedBooksOptions& options) {
  if (options.shape == BookShape::by_order) return options.limits;
  return {.instruments = 1, .orders = 2, .levels = 2, .orders_expected = 2};
}

std::uint64_t mixed(std::uint64_t hash, InstrumentId id) noexcept {
  std::uint64_t sum = (hash ^ std::to_underlying(id)) * 0x9E3779B97F4A7C15;
  sum ^= sum >> 32;
  return sum * 0xD6E8FEB86659FD93;
}

}  // namespace

FeedBooks::FeedBooks(const FeedBooksOptions& options, BookHashes* hashes)
    : options_(options),
      hashes_(hashes),
      instruments_(options.limits.instruments),
      books_(limits_of(options)),
      level_books_(options.shape == BookShape::by_level ? options.limits.instruments : 0) {}

void FeedBooks::apply_level(InstrumentIndex index, const Event& event) noexcept {
  std::unique_ptr<LevelBook>& book = level_books_[std::to_underlying(index)];
  if (!book) [[unlikely]]
    book = std::make_unique<LevelBook>(options_.depth);
  if (book->apply(event) > Applied::other_kind) [[unlikely]]
    ++counters_.misfits;
}

// A sum: instruments are numbered in the order in which they appear, which differs between a publisher and one who
// joined late.
std::uint64_t FeedBooks::hash() const noexcept {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < instruments_.size(); ++i) {
    const InstrumentIndex index{i};
    if (options_.shape == BookShape::by_order) {
      const OrderBook book = books_.book(index);
      if (book.orders() != 0) sum += mixed(book.hash(), instruments_.id(index));
    } else if (const LevelBook* const book = levels(index)) {
      const bool empty = book->level_count(Side::bid) + book->level_count(Side::ask) == 0;
      if (!empty) sum += mixed(book->hash(), instruments_.id(index));
    }
  }
  return sum;
}

std::optional<Level> FeedBooks::best(InstrumentIndex index, Side side) const noexcept {
  if (options_.shape == BookShape::by_order) return books_.book(index).best(side);
  const LevelBook* const book = levels(index);
  return book == nullptr ? std::nullopt : book->best(side);
}

void FeedBooks::report() noexcept {
  if (hashes_ != nullptr) hashes_->hashed(counters_.events, hash());
}

}  // namespace nfx::market
