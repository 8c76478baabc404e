// Compiled with AVX-512: includes nothing whose inline functions could end up in the rest of the program.
#include "wire/index_peer.hpp"

#include NFX_BENCH_INDEX_PEER_HEADER

#include "wire/readings.hpp"

namespace nfx::bench {
namespace {

fl::Index fields;

template <const Reading (&readings)[reading_count], std::size_t place>
[[gnu::always_inline]] inline void read_from(Fold& fold, const char* message, PeerReadTime read_time) noexcept {
  if constexpr (place < reading_count) {
    constexpr ReadAs as = readings[place].as;
    const int i = fl::find(fields, static_cast<unsigned>(readings[place].tag));
    if (i < 0) {
      fold.unreadable(place);
    } else if constexpr (as == ReadAs::text) {
      fold.text(place, message + fields.off(i), fields.len(i));
    } else if constexpr (as == ReadAs::character) {
      fields.len(i) == 1 ? fold.character(place, message[fields.off(i)]) : fold.unreadable(place);
    } else if constexpr (as == ReadAs::integer) {
      std::int64_t number;
      fl::geti(message, fields, i, number) ? fold.integer(place, number) : fold.unreadable(place);
    } else if constexpr (as == ReadAs::decimal) {
      std::int64_t mantissa;
      int scale;
      fl::getd(message, fields, i, mantissa, scale) ? fold.decimal(place, mantissa, static_cast<unsigned>(scale))
                                                    : fold.unreadable(place);
    } else {
      fold.integer(place, read_time(message + fields.off(i), fields.len(i)));
    }
    read_from<readings, place + 1>(fold, message, read_time);
  }
}

template <const Reading (&readings)[reading_count]>
[[gnu::always_inline]] inline std::uint64_t read_eight(const char* message, PeerReadTime read_time) noexcept {
  Fold fold;
  read_from<readings, 0>(fold, message, read_time);
  return fold.sum();
}

[[gnu::always_inline]] inline void read_decimal(Fold& fold, std::size_t place, const char* message, int i) noexcept {
  std::int64_t mantissa;
  int scale;
  fl::getd(message, fields, i, mantissa, scale) ? fold.decimal(place, mantissa, static_cast<unsigned>(scale))
                                                : fold.unreadable(place);
}

// An entry starts at MDUpdateAction; its other fields may follow in any order.
[[gnu::always_inline]] inline std::uint64_t read_entries(const char* message, PeerReadTime) noexcept {
  Fold fold;
  const int count = fl::find(fields, 268);
  if (count < 0) return 0;
  std::size_t place = 0;
  std::size_t next_place = 0;
  for (int i = count + 1; i < fields.n; ++i) {
    switch (fields.tag[i]) {
      case 279:
        place = next_place;
        next_place += 3;
        break;
      case 269: fold.character(place, message[fields.off(i)]); break;
      case 270: read_decimal(fold, place + 1, message, i); break;
      case 271: read_decimal(fold, place + 2, message, i); break;
      default: break;
    }
  }
  return fold.sum();
}

template <typename Read>
[[gnu::always_inline]] inline std::uint64_t over(const PeerCorpus& corpus, PeerOrder order, const Read& read) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < order.count; ++k) {
    const std::uint32_t m = order.messages[k];
    const char* const message = corpus.bytes + corpus.offsets[m];
    if (fl::parse2<true>(message, corpus.offsets[m + 1] - corpus.offsets[m], fields) == 0) sum += read(message);
  }
  return sum;
}

}  // namespace

bool index_peer_available() noexcept {
  return __builtin_cpu_supports("avx512vbmi2") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("bmi2") != 0;
}

std::uint64_t index_peer_count(const PeerCorpus& corpus, PeerOrder order) noexcept {
  return over(corpus, order, [](const char*) { return std::uint64_t{fields.n}; });
}

std::uint64_t index_peer_read_reports(const PeerCorpus& corpus, PeerOrder order, PeerReadTime read_time) noexcept {
  return over(corpus, order, [read_time](const char* m) { return read_eight<report_readings>(m, read_time); });
}

std::uint64_t index_peer_read_orders(const PeerCorpus& corpus, PeerOrder order, PeerReadTime read_time) noexcept {
  return over(corpus, order, [read_time](const char* m) { return read_eight<order_readings>(m, read_time); });
}

std::uint64_t index_peer_read_entries(const PeerCorpus& corpus, PeerOrder order, PeerReadTime read_time) noexcept {
  return over(corpus, order, [read_time](const char* m) { return read_entries(m, read_time); });
}

int index_peer_fields(const char* message, std::size_t size, PeerField* out, int capacity) noexcept {
  if (fl::parse2<true>(message, size, fields) != 0 || fields.n > capacity) return -1;
  for (int i = 0; i < fields.n; ++i) out[i] = {fields.tag[i], fields.off(i), fields.len(i)};
  return fields.n;
}

}  // namespace nfx::bench
