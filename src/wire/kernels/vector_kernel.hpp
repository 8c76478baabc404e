// The generic body of the kernels with vectors of 16 or 32 bytes. A thin layer per instruction set, Vector, supplies
// the type and a dozen operations; see avx2.cpp. Unusual and malformed messages are left to the sequential indexer.
//
// A tag is computed at every byte, as if an '=' were there, and used where there is one:
//
//   bytes         |  5  4  1  =  |       '=' at p
//   digits  w     0  5  4  1  0  0       zero outside of tags
//   pairs   w(p) + 10 w(p-1)             pair(p-1) = 41, pair(p-3) = 5: the tag is 100 x 5 + 41
#pragma once

#include "field_masks.hpp"

namespace nfx::kernels {
namespace {

// 64 zero bytes, then 64 of all ones: loaded at offset n, the last n of 64 bytes are preserved and those before become
// zero.
struct TailMask {
  alignas(64) std::uint8_t bytes[128];
};

constexpr TailMask make_tail_mask() noexcept {
  TailMask mask{};
  for (int i = 64; i < 128; ++i) mask.bytes[i] = 0xFF;
  return mask;
}

constexpr TailMask tail_mask = make_tail_mask();

// 64 bytes in registers.
template <class Vector>
struct Block {
  static constexpr int parts = 64 / Vector::width;
  typename Vector::type part[parts];

  [[gnu::always_inline]] static Block load(const void* bytes) noexcept {
    Block block;
    for (int i = 0; i < parts; ++i) block.part[i] = Vector::load(static_cast<const char*>(bytes) + i * Vector::width);
    return block;
  }

  [[gnu::always_inline]] std::uint64_t equal_to(char c) const noexcept {
    std::uint64_t bits = 0;
    for (int i = 0; i < parts; ++i) bits |= Vector::equal_bits(part[i], c) << (i * Vector::width);
    return bits;
  }

  // Adds all bytes but the first `seen`.
  [[gnu::always_inline]] void add_to(typename Vector::type& sums, unsigned seen) const noexcept {
    for (int i = 0; i < parts; ++i) {
      const auto rest =
          seen == 0 ? part[i] : Vector::both(part[i], Vector::load(tail_mask.bytes + 64 - seen + i * Vector::width));
      sums = Vector::add(sums, rest);
    }
  }
};

// Calls f(block, seen) for each 64 bytes; false stops. The last block begins inside the one before when the size is not
// a multiple of 64, and its first `seen` bytes were seen before. `size` is at least 64.
template <class Vector, class F>
[[gnu::always_inline]] inline bool for_each_block(const char* bytes, std::size_t size, F&& f) noexcept {
  NFX_ASSERT(size >= 64);
  std::size_t at = 0;
  for (; size - at >= 64; at += 64) {
    if (!f(Block<Vector>::load(bytes + at), 0u)) return false;
  }
  return at == size || f(Block<Vector>::load(bytes + size - 64), static_cast<unsigned>(at + 64 - size));
}

[[gnu::always_inline]] inline std::uint32_t lowest_bit(std::uint64_t bits) noexcept {
  // Without bits it is 63 or 64: what is written with it is overwritten, or is after the last field.
#if defined(__BMI__)
  return static_cast<std::uint32_t>(__builtin_ia32_tzcnt_u64(bits));
#else
  return static_cast<std::uint32_t>(__builtin_ctzll(bits | std::uint64_t{1} << 63));
#endif
}

// Calls f(which, position) for every bit, and for up to seven more: cheaper than a mispredicted branch.
template <class F>
[[gnu::always_inline]] inline void for_each_bit_or_so(std::uint64_t bits, std::uint32_t count, F&& f) noexcept {
  const auto eight = [&](std::uint32_t from) __attribute__((always_inline)) {
    for (std::uint32_t i = 0; i < 8; ++i) {
      f(from + i, lowest_bit(bits));
      bits &= bits - 1;
    }
  };
  eight(0);
  if (count > 8) [[unlikely]] {
    for (std::uint32_t from = 8; from < count; from += 8) eight(from);
  }
}

template <class Vector, class Arrays>
class VectorIndexer {
 public:
  // `pairs` are 128 bytes of scratch, outside the object so that its members can stay in registers.
  [[gnu::always_inline]] VectorIndexer(const char* message, Arrays out, std::uint8_t* pairs) noexcept
      : message_(message),
        tags_(out.tags),
        begins_(out.begins),
        ends_(out.ends),
        capacity_(out.capacity),
        pairs_(pairs) {}

  // False when the sequential indexer must decide.
  [[gnu::always_inline]] bool operator()(const Block<Vector>& block, unsigned seen) noexcept {
    block.add_to(sums_, seen);
    const std::uint64_t tags_before = masker_.tags();
    const std::uint64_t soh = block.equal_to('\x01') >> seen;
    const FieldMasks masks = masker_(soh, block.equal_to('=') >> seen, ~std::uint64_t{0} >> seen);
    empty_ |= masks.empty;
    put_pairs(block, seen == 0 ? masks.tags : masks.tags << seen | tags_before >> (64 - seen), seen);

    const auto end_count = static_cast<std::uint32_t>(__builtin_popcountll(soh));
    const auto begin_count = static_cast<std::uint32_t>(__builtin_popcountll(masks.first));
    auto* const ends = ends_ + end_count_;
    for_each_bit_or_so(soh, end_count, [&](std::uint32_t i, std::uint32_t bit) __attribute__((always_inline)) {
      ends[i] = static_cast<Position>(at_ + bit);
    });
    auto* const begins = begins_ + begin_count_;
    auto* const tags = tags_ + begin_count_;
    const std::uint8_t* const pairs = pairs_ + 64;
    std::uint8_t data = 0;
    for_each_bit_or_so(masks.first, begin_count,
                       [&](std::uint32_t i, std::uint32_t bit) __attribute__((always_inline)) {
                         const std::uint32_t tag = *(pairs + bit - 1) + *(pairs + bit - 3) * 100u;
                         begins[i] = static_cast<Position>(at_ + bit + 1);
                         tags[i] = static_cast<TagNumber>(tag);
                         data |= length_tags.is_length[tag];
                       });
    data_ |= data;
    if (masks.long_tags != 0) [[unlikely]] {
      if (!put_long_tags(message_, at_, masks.long_tags, masks.first, tags)) return false;
      data_ = 1;  // some of FIX 5.0 SP2's are length tags
    }
    end_count_ += end_count;
    begin_count_ += begin_count;
    at_ += 64 - seen;
    return end_count_ <= capacity_ && begin_count_ <= capacity_ + 1;
  }

  [[gnu::always_inline]] bool ok() const noexcept {
    return begin_count_ == end_count_ && empty_ == 0 && Vector::is_zero(wrong_) &&
           (data_ == 0 || data_lengths_agree(message_, Arrays{tags_, begins_, ends_, capacity_}, end_count_));
  }
  [[gnu::always_inline]] IndexResult result() const noexcept {
    return {WireError::none, Vector::total(sums_), false, end_count_};
  }

 private:
  using TagNumber = typename Arrays::tag_type;
  using Position = typename Arrays::position_type;

  // Puts the pairs of the block's new bytes at pairs_ + 64, after the last four of the block before.
  [[gnu::always_inline]] void put_pairs(const Block<Vector>& block, std::uint64_t tags, unsigned seen) noexcept {
    std::uint32_t last_four;
    __builtin_memcpy(&last_four, pairs_ + 124, sizeof last_four);
    for (int i = 0; i < Block<Vector>::parts; ++i) {
      const auto keep = Vector::from_bits(tags >> (i * Vector::width));
      const auto digits = Vector::both(Vector::subtract(block.part[i], '0'), keep);
      wrong_ = Vector::either(wrong_, Vector::above_nine(digits));
      const auto pairs = Vector::add(digits, Vector::times_ten(Vector::shift_in(before_, digits)));
      before_ = digits;
      Vector::store(pairs_ + 64 - seen + i * Vector::width, pairs);
    }
    __builtin_memcpy(pairs_ + 60, &last_four, sizeof last_four);
  }

  const char* message_;
  TagNumber* tags_;
  Position* begins_;
  Position* ends_;
  std::uint32_t capacity_;
  FieldMasker masker_;
  typename Vector::type sums_ = Vector::zero();
  typename Vector::type wrong_ = Vector::zero();
  typename Vector::type before_ = Vector::zero();
  std::uint64_t empty_ = 0;
  std::size_t at_ = 0;  // of the block's first new byte
  std::uint32_t end_count_ = 0;
  std::uint32_t begin_count_ = 0;
  std::uint8_t data_ = 0;
  std::uint8_t* pairs_;
};

template <class Vector, class Arrays>
[[gnu::always_inline]] inline IndexResult index_by_vectors(const char* message, std::size_t size, const Arrays& out,
                                                           IndexResult (*sequential)(const char*, std::size_t,
                                                                                     const Arrays&) noexcept) noexcept {
  if (size < 64 || message[size - 1] != '\x01') return sequential(message, size, out);
  alignas(64) std::uint8_t pairs[128] = {};
  VectorIndexer<Vector, Arrays> indexer{message, out, pairs};
  if (!for_each_block<Vector>(message, size, indexer) || !indexer.ok()) [[unlikely]]
    return sequential(message, size, out);
  return indexer.result();
}

// The whole table of a kernel whose vectors are Vector.
template <class Vector>
struct VectorKernel {
  static IndexResult index_fields(const char* message, std::size_t size, const FieldArrays& out) noexcept {
    return index_by_vectors<Vector>(message, size, out, scalar.index_fields);
  }

  static IndexResult index_wide_fields(const char* message, std::size_t size, const WideFieldArrays& out) noexcept {
    return index_by_vectors<Vector>(message, size, out, scalar.index_wide_fields);
  }

  static std::uint8_t check_sum(const char* bytes, std::size_t size) noexcept {
    if (size < 64) return scalar.check_sum(bytes, size);
    auto sums = Vector::zero();
    for_each_block<Vector>(bytes, size, [&](const Block<Vector>& block, unsigned seen) __attribute__((always_inline)) {
      block.add_to(sums, seen);
      return true;
    });
    return Vector::total(sums);
  }

  static const char* scan_soh(const char* bytes, std::size_t size) noexcept {
    if (size < 64) return scalar.scan_soh(bytes, size);
    const char* at = bytes;
    for_each_block<Vector>(bytes, size, [&](const Block<Vector>& block, unsigned seen) __attribute__((always_inline)) {
      const std::uint64_t soh = block.equal_to('\x01') >> seen;
      at += soh != 0 ? static_cast<unsigned>(__builtin_ctzll(soh)) : 64 - seen;
      return soh == 0;
    });
    return at;
  }

  static constexpr KernelTable table(const char* name) noexcept {
    return {name, index_fields, index_wide_fields, check_sum, scan_soh};
  }
};

}  // namespace
}  // namespace nfx::kernels
