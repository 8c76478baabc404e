// A set of CPUs, numbered as the kernel numbers them, with the kernel's two spellings: "0-3,8" and "ff,00000001".
// Thread: a value. Cost: allocates for CPUs from 0 to the highest member. Errors: the parsers return a text that names
// the place. Source: Documentation/admin-guide/cputopology.rst and the bitmap formats of the kernel's lib/bitmap-str.c.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/language.hpp"

namespace nfx {

class CpuSet {
 public:
  // No kernel supports more.
  static constexpr int max_cpus = 8192;

  CpuSet() = default;
  CpuSet(std::initializer_list<int> cpus);
  // first to last, both included; empty when last < first.
  [[nodiscard]] static CpuSet range(int first, int last);

  // "0-3,8,16-31:2/8" as in cpulists, "" for none. Blanks around it are ignored.
  [[nodiscard]] static std::expected<CpuSet, std::string> parse_list(std::string_view text);
  // "3" or "ff,ffffffff": hexadecimal words of 32 bits, highest first.
  [[nodiscard]] static std::expected<CpuSet, std::string> parse_mask(std::string_view text);

  // CPUs outside 0 to max_cpus - 1 are not CPUs: never contained, not inserted.
  void insert(int cpu);
  void erase(int cpu) noexcept;
  [[nodiscard]] bool contains(int cpu) const noexcept;
  [[nodiscard]] bool empty() const noexcept { return words_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] int first() const noexcept;  // -1 when empty
  [[nodiscard]] int last() const noexcept;   // -1 when empty
  [[nodiscard]] std::vector<int> members() const;

  [[nodiscard]] bool contains_all(const CpuSet& other) const noexcept;
  [[nodiscard]] bool intersects(const CpuSet& other) const noexcept;

  [[nodiscard]] std::string to_list() const;
  // As wide as needed for `cpus` CPUs, in words of 32 bits as the kernel prints them.
  [[nodiscard]] std::string to_mask(int cpus = 1) const;

  CpuSet& operator|=(const CpuSet& other);
  CpuSet& operator&=(const CpuSet& other);
  CpuSet& operator-=(const CpuSet& other);
  friend CpuSet operator|(CpuSet a, const CpuSet& b) { return a |= b; }
  friend CpuSet operator&(CpuSet a, const CpuSet& b) { return a &= b; }
  friend CpuSet operator-(CpuSet a, const CpuSet& b) { return a -= b; }
  friend bool operator==(const CpuSet&, const CpuSet&) = default;

 private:
  void trim() noexcept;

  std::vector<std::uint64_t> words_;  // without zero words at the end, so that equal sets are equal
};

}  // namespace nfx
