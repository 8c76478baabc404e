// The edges of chunks, and the end of a file.
#include "nexusfix/market/itch_parser.hpp"

#include "market/partial_bytes.hpp"

namespace nfx::market {

std::string_view to_string(ItchFileProblem problem) noexcept {
  switch (problem) {
    case ItchFileProblem::none: return "no problem";
    case ItchFileProblem::wrong_length: return "has a message whose length does not match its type";
    case ItchFileProblem::truncated: return "ends within a message";
  }
  return "unknown";
}

bool ItchFileReader::fail(ItchFileProblem problem) noexcept {
  error_ = {problem, offset_};
  stopped_ = true;
  return false;
}

void ItchFileReader::keep_partial(const std::byte* bytes, const std::byte* end) noexcept {
  partial_size_ = market::keep_partial(partial_, bytes, end);
}

bool ItchFileReader::complete_partial(const std::byte*& bytes, const std::byte* end, std::size_t size) noexcept {
  return market::complete_partial(partial_, partial_size_, bytes, end, size);
}

bool ItchFileReader::finish() noexcept {
  if (error_.problem != ItchFileProblem::none) return false;
  if (partial_size_ != 0) return fail(ItchFileProblem::truncated);
  return true;
}

}  // namespace nfx::market
