// The rows of the speed gate. Each does the work of one part of the library on 1,024 different messages, and has a
// reference: plain code of the same kind, compiled into the benchmark and independent of the library.
// Thread: the calling one; rows with a second thread own it. Errors: WrongAnswerError.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/measure.hpp"
#include "harness/random.hpp"
#include "nexusfix/dictionary/dictionary.hpp"
#include "wire/corpus.hpp"

namespace nfx::bench {

inline constexpr std::uint32_t gate_messages = 1024;

// The input of all rows, created once.
struct GateInputs {
  explicit GateInputs(std::uint64_t seed);

  Corpus orders, reports;
  std::vector<std::string> order_bodies, report_bodies;  // the fields after the header, without CheckSum
  std::shared_ptr<const Dictionary> dictionary;          // FIX 4.4
  std::filesystem::path folder;                          // for files
};

class GateRow {
 public:
  GateRow() = default;
  GateRow(const GateRow&) = delete;
  GateRow& operator=(const GateRow&) = delete;
  virtual ~GateRow() = default;

  // Compares the answers for all messages with an independent reading. Throws WrongAnswerError.
  virtual void check() = 0;
  // Untimed, before each block: chooses and creates its messages.
  virtual void prepare() = 0;
  // Timed: one block.
  virtual void work() = 0;
  // Untimed, after work(): throws WrongAnswerError if its work is wrong or incomplete.
  virtual void verify() = 0;
  // Timed: the reference's work for the same block.
  virtual void reference() = 0;

 protected:
  // For check(), if verify() compares every answer.
  void check_blocks(std::uint32_t blocks) {
    for (std::uint32_t i = 0; i < blocks; ++i) {
      prepare();
      work();
      verify();
    }
  }
};

template <class Row>
std::unique_ptr<GateRow> make_row(const GateInputs& inputs) {
  return std::make_unique<Row>(inputs);
}

struct GateEntry {
  std::string name;
  // Increased when the row measures something different; only equal revisions are compared.
  std::uint32_t revision;
  std::string what;
  std::string reference;
  std::uint32_t block_ops;     // operations between two readings of the clock
  std::uint32_t batch_blocks;  // blocks whose sum is one sample
  std::function<std::unique_ptr<GateRow>(const GateInputs&)> make;
};

[[nodiscard]] std::vector<GateEntry> wire_gate_entries();
[[nodiscard]] std::vector<GateEntry> session_gate_entries();
[[nodiscard]] std::vector<GateEntry> memory_gate_entries();
[[nodiscard]] std::vector<GateEntry> network_gate_entries();
[[nodiscard]] std::vector<GateEntry> engine_gate_entries();

// 0 to count - 1 in random order, dealt in blocks; reshuffled after all were dealt.
class Deal {
 public:
  explicit Deal(std::uint32_t count) : order_(count), at_(count) { std::iota(order_.begin(), order_.end(), 0U); }
  [[nodiscard]] Order next(std::uint32_t block) {
    if (at_ + block > order_.size()) {
      random_.shuffle(std::span{order_});
      at_ = 0;
    }
    at_ += block;
    return Order{order_}.subspan(at_ - block, block);
  }

 private:
  std::vector<std::uint32_t> order_;
  std::size_t at_;
  Random random_{3};
};

// Copies and hashes the bytes one by one: a chain of multiplications as long as the message.
[[nodiscard]] inline std::uint64_t reference_by_bytes(std::string_view bytes, std::span<char> copy) noexcept {
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  std::uint64_t hash = 0xCBF29CE484222325;
  for (std::size_t i = 0; i < bytes.size(); ++i) hash = (hash ^ static_cast<unsigned char>(copy[i])) * 0x100000001B3;
  return hash;
}

inline void wrong_unless(bool right, const char* what) {
  if (!right) throw WrongAnswerError(what);
}

}  // namespace nfx::bench
