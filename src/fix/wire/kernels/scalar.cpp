// The portable kernel: eight bytes at a time in a 64-bit word. Every other kernel must give the same results.
#include "field_indexer.hpp"
#include "kernels.hpp"

namespace nfx::kernels {
namespace {

constexpr std::uint64_t ones = 0x0101010101010101;
constexpr std::uint64_t low_bits = 0x7F7F7F7F7F7F7F7F;
constexpr std::uint64_t even_bytes = 0x00FF00FF00FF00FF;

// Makes the first byte in memory the lowest byte of the word.
std::uint64_t in_memory_order(std::uint64_t word) noexcept {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

std::uint64_t load(const char* p) noexcept {
  std::uint64_t word;
  __builtin_memcpy(&word, p, sizeof word);
  return in_memory_order(word);
}

// The last bytes of a buffer, padded with zeros, which are neither SOH nor change the sum.
std::uint64_t load_tail(const char* p, std::size_t size) noexcept {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < size; ++i) {
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(p[i])) << (8 * i);
  }
  return word;
}

// The top bit of every byte that is SOH. Exact, unlike the shorter form that borrows across bytes.
std::uint64_t soh_bits(std::uint64_t word) noexcept {
  const std::uint64_t x = word ^ ones;  // SOH is 1, and becomes 0
  return ~(((x & low_bits) + low_bits) | x | low_bits);
}

std::size_t first_byte(std::uint64_t bits) noexcept { return static_cast<std::size_t>(__builtin_ctzll(bits)) / 8; }

// Four 16-bit sums. Only their low bytes matter, so the mask prevents overflow.
std::uint64_t add_bytes(std::uint64_t sums, std::uint64_t word) noexcept {
  return (sums & even_bytes) + (word & even_bytes) + (word >> 8 & even_bytes);
}

std::uint8_t total(std::uint64_t sums) noexcept {
  return static_cast<std::uint8_t>((sums & even_bytes) * 0x0001000100010001 >> 48);
}

// Reports every SOH of one word; false stops.
template <class Arrays>
[[gnu::always_inline]] inline bool index_word(FieldIndexer<Arrays>& fields, std::uint64_t word,
                                              std::size_t base) noexcept {
  for (std::uint64_t bits = soh_bits(word); bits != 0; bits &= bits - 1) {
    if (!fields.on_soh(base + first_byte(bits))) return false;
  }
  return true;
}

template <class Arrays>
IndexResult index_any(const char* message, std::size_t size, const Arrays& out) noexcept {
  FieldIndexer<Arrays> fields{message, size, out};
  std::uint64_t sums = 0;
  std::size_t at = 0;
  for (; size - at >= 8; at += 8) {
    const std::uint64_t word = load(message + at);
    sums = add_bytes(sums, word);
    if (!index_word(fields, word, at)) return fields.result(0);
  }
  const std::uint64_t word = load_tail(message + at, size - at);
  sums = add_bytes(sums, word);
  if (!index_word(fields, word, at)) return fields.result(0);
  return fields.result(total(sums));
}

std::uint8_t check_sum(const char* bytes, std::size_t size) noexcept {
  std::uint64_t sums = 0;
  std::size_t at = 0;
  for (; size - at >= 8; at += 8) sums = add_bytes(sums, load(bytes + at));
  return total(add_bytes(sums, load_tail(bytes + at, size - at)));
}

const char* scan_soh(const char* bytes, std::size_t size) noexcept {
  std::size_t at = 0;
  for (; size - at >= 8; at += 8) {
    if (const std::uint64_t bits = soh_bits(load(bytes + at))) return bytes + at + first_byte(bits);
  }
  const std::uint64_t bits = soh_bits(load_tail(bytes + at, size - at));
  return bits != 0 ? bytes + at + first_byte(bits) : bytes + size;
}

}  // namespace

const KernelTable scalar{"scalar", index_any<FieldArrays>, index_any<WideFieldArrays>, check_sum, scan_soh};

}  // namespace nfx::kernels
