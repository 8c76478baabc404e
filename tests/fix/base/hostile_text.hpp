// Texts for testing parsers that read several characters with one load: next to guard pages, with every byte at every
// place, and random ones.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/seeded.hpp"

namespace nfx::test {

// One page of memory between two guard pages.
class GuardedText {
 public:
  GuardedText() {
    page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* const mapped = mmap(nullptr, 3 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) std::abort();
    base_ = static_cast<char*>(mapped);
    if (mprotect(base_ + page_, page_, PROT_READ | PROT_WRITE) != 0) std::abort();
  }
  GuardedText(const GuardedText&) = delete;
  GuardedText& operator=(const GuardedText&) = delete;
  ~GuardedText() { munmap(base_, 3 * page_); }

  // Copies of `text` that begin directly after the first guard page, and that end directly before the second.
  [[nodiscard]] std::string_view at_start(std::string_view text) { return copy(base_ + page_, text); }
  [[nodiscard]] std::string_view at_end(std::string_view text) { return copy(base_ + 2 * page_ - text.size(), text); }

 private:
  static std::string_view copy(char* at, std::string_view text) {
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    return {at, text.size()};
  }

  char* base_ = nullptr;
  std::size_t page_ = 0;
};

// Calls `check` with `text` after replacing each of its characters in turn by each of the 256 bytes.
template <typename Check>
void with_every_byte_everywhere(std::string text, Check check) {
  for (char& place : text) {
    const char before = place;
    for (int byte = 0; byte < 256; ++byte) {
      place = static_cast<char>(byte);
      check(std::string_view{text});
    }
    place = before;
  }
}

// Calls `check` with every text of up to `longest` characters, all taken from `alphabet`.
template <typename Check>
void every_text_of(std::string_view alphabet, std::size_t longest, Check check, std::string front = {}) {
  check(std::string_view{front});
  if (longest == 0) return;
  for (const char c : alphabet) every_text_of(alphabet, longest - 1, check, front + c);
}

// The characters of numbers, their neighbours in ASCII, and bytes with the top bit set.
inline constexpr std::string_view number_alphabet{"019-.+/: e\0\x7F\x80\xB0\xB9\xAE\xFF", 17};

// Random texts that look almost like numbers: digits, sometimes many leading zeros, and up to three other characters.
class RandomNumberText {
 public:
  [[nodiscard]] std::string_view next(Seeded& random) {
    const std::size_t size = random.below(8) == 0 ? random.below(text_.size() + 1) : random.below(22);
    const std::size_t zeros = random.below(4) == 0 ? random.below(size + 1) : 0;
    for (std::size_t i = 0; i < size; ++i) text_[i] = i < zeros ? '0' : static_cast<char>('0' + random.below(10));
    if (size == 0) return {};
    if (random.below(3) == 0) text_[0] = '-';
    if (random.below(2) == 0) text_[random.below(size)] = '.';
    for (std::uint64_t i = random.below(16); i > 13; --i) {
      text_[random.below(size)] = number_alphabet[random.below(number_alphabet.size())];
    }
    return {text_.data(), size};
  }

 private:
  std::array<char, 48> text_{};
};

}  // namespace nfx::test
