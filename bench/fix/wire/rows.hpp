// The groups of the wire benchmark, all with the same corpora. Lifetime: rows borrow the inputs, which must outlive
// them.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "harness/measure.hpp"
#include "wire/corpus.hpp"
#include "wire/kernels/kernels.hpp"
#include "wire/plain_reading.hpp"
#include "wire/quickfix_peer.hpp"

namespace nfx::bench {

struct Inputs {
  std::vector<Corpus> corpora;                   // one of each kind, in the order of the enumeration
  std::vector<std::vector<PlainMessage>> plain;  // the same messages, read by the plain code
  std::unique_ptr<QuickFixPeer> quickfix;        // null without the package
  std::uint64_t seed = 0;

  [[nodiscard]] const Corpus& of(Kind kind) const { return corpora[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] const std::vector<PlainMessage>& plain_of(Kind kind) const {
    return plain[static_cast<std::size_t>(kind)];
  }
};

[[nodiscard]] Group index_group(const Inputs& inputs);
[[nodiscard]] Group reads_group(const Inputs& inputs);
[[nodiscard]] Group encode_group(const Inputs& inputs);
[[nodiscard]] Group stream_group(const Inputs& inputs);

// QuickFIX's rows, added to the groups above.
void add_quickfix_index_rows(std::vector<Row>& rows, const Inputs& inputs, Kind kind);
void add_quickfix_read_rows(std::vector<Row>& rows, const Inputs& inputs, Kind kind);
void add_quickfix_encode_rows(std::vector<Row>& rows, const Inputs& inputs, Kind kind);

// The kernel tables of this machine, best last.
[[nodiscard]] inline std::vector<const kernels::KernelTable*> all_kernels() {
  const kernels::KernelList list = kernels::available_kernels();
  return {list.begin(), list.end()};
}
inline void use_best_kernel() { kernels::use_kernels(*all_kernels().back()); }

// "ExecutionReport, 253 bytes".
[[nodiscard]] std::string section_of(const Corpus& corpus);

}  // namespace nfx::bench
