// CRC-32C for journals: an implementation for each instruction set, chosen at start, and tables for all others.
#include "base/crc32c.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "nexusfix/base/assert.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace nfx {

namespace {

constexpr std::uint32_t polynomial = 0x82F63B78;  // bits in reverse order, as in all values below

constexpr std::uint32_t times_x(std::uint32_t value) noexcept { return (value >> 1) ^ ((value & 1) * polynomial); }

// tables[n][b]: the effect of byte b on the checksum if n bytes follow it.
constexpr auto tables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> all{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = times_x(value);
    all[0][byte] = value;
  }
  for (std::size_t n = 1; n < 8; ++n) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t value = all[n - 1][byte];
      all[n][byte] = (value >> 8) ^ all[0][value & 0xFF];
    }
  }
  return all;
}();

std::uint64_t load(const char* from) noexcept {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

std::uint32_t step_byte(std::uint32_t crc, char byte) noexcept {
  return (crc >> 8) ^ tables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
}

using Kernel = std::uint32_t (*)(const char*, std::size_t, std::uint32_t) noexcept;

std::uint32_t table_kernel(const char* at, std::size_t size, std::uint32_t crc) noexcept {
  for (; size >= 8; size -= 8, at += 8) {
    const std::uint64_t word = load(at) ^ crc;
    crc = 0;
    for (unsigned n = 0; n < 8; ++n) crc ^= tables[7 - n][(word >> (8 * n)) & 0xFF];
  }
  for (; size > 0; --size, ++at) crc = step_byte(crc, *at);
  return crc;
}

#if defined(__x86_64__)

// The instruction has a latency of three cycles and a throughput of one, so three streams run in parallel. Their sums
// are multiplied by x to the power of the number of following bits, and combined: powers[w] is the factor for w words,
// less the 33 bits that the multiplication and the reduction by the instruction add.
constexpr std::size_t words_max = 64;  // of one stream, before the sums are combined
constexpr auto powers = [] {
  std::array<std::uint32_t, 2 * words_max + 1> all{};
  std::uint32_t value = 0x80000000;  // 1
  for (std::size_t exponent = 0; exponent <= 64 * 2 * words_max - 33; ++exponent) {
    if ((exponent + 33) % 64 == 0) all[(exponent + 33) / 64] = value;
    value = times_x(value);
  }
  return all;
}();

[[gnu::target("sse4.2,pclmul")]] inline std::uint64_t shifted(std::uint64_t crc, std::size_t words) noexcept {
  NFX_ASSERT(words < powers.size());
  const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(crc)),
                                               _mm_cvtsi32_si128(static_cast<int>(powers[words])), 0);
  return _mm_crc32_u64(0, static_cast<std::uint64_t>(_mm_cvtsi128_si64(product)));
}

[[gnu::target("sse4.2,pclmul")]] std::uint32_t instruction_kernel(const char* at, std::size_t size,
                                                                  std::uint32_t crc) noexcept {
  std::uint64_t first = crc;
  while (size >= 96) {
    const std::size_t words = size / 24 < words_max ? size / 24 : words_max;
    const char* const second_at = at + 8 * words;
    const char* const third_at = second_at + 8 * words;
    NFX_ASSERT(24 * words <= size);
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t offset = 0; offset < 8 * words; offset += 8) {
      first = _mm_crc32_u64(first, load(at + offset));
      second = _mm_crc32_u64(second, load(second_at + offset));
      third = _mm_crc32_u64(third, load(third_at + offset));
    }
    first = shifted(first, 2 * words) ^ shifted(second, words) ^ third;
    at = third_at + 8 * words;
    size -= 24 * words;
  }
  for (; size >= 8; size -= 8, at += 8) first = _mm_crc32_u64(first, load(at));
  auto last = static_cast<std::uint32_t>(first);
  for (; size > 0; --size, ++at) last = _mm_crc32_u8(last, static_cast<unsigned char>(*at));
  return last;
}

bool has_instruction() noexcept {
  __builtin_cpu_init();
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}

#elif defined(__aarch64__)

// The assembler enables the extension by name; the compiler's flags remain valid for every ARMv8.
std::uint32_t instruction_kernel(const char* at, std::size_t size, std::uint32_t crc) noexcept {
  for (; size >= 8; size -= 8, at += 8) {
    asm(".arch_extension crc\n\tcrc32cx %w0, %w0, %1" : "+r"(crc) : "r"(load(at)));
  }
  for (; size > 0; --size, ++at) {
    asm(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"(static_cast<unsigned char>(*at)));
  }
  return crc;
}

// Reads the register of instruction set features, which the operating system emulates.
bool has_instruction() noexcept {
  std::uint64_t sets;
  asm("mrs %0, ID_AA64ISAR0_EL1" : "=r"(sets));
  return ((sets >> 16) & 0xF) != 0;
}

#else

constexpr Kernel instruction_kernel = table_kernel;
bool has_instruction() noexcept { return false; }

#endif

// Constant-initialised to the portable one, so that it can be called before main.
constinit Kernel kernel = table_kernel;
const bool chosen = [] {
  const bool by_instruction = has_instruction();
  if (by_instruction) kernel = instruction_kernel;
  return by_instruction;
}();

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) noexcept {
  return ~kernel(bytes.data(), bytes.size(), ~before);
}

std::uint32_t crc32c_by_table(std::string_view bytes, std::uint32_t before) noexcept {
  return ~table_kernel(bytes.data(), bytes.size(), ~before);
}

bool crc32c_has_instruction() noexcept { return chosen; }

}  // namespace nfx
