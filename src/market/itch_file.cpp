// What happens at the edges of chunks, and at the end.
#include "nexusfix/market/itch_file.hpp"

namespace nfx::market {

std::string_view to_string(ItchFileProblem problem) noexcept {
  switch (problem) {
    case ItchFileProblem::none: return "no problem";
    case ItchFileProblem::wrong_length: return "has a message whose length is not that of its type";
    case ItchFileProblem::truncated: return "ends within a message";
  }
  return "unknown";
}

bool ItchFileReader::fail(ItchFileProblem problem) noexcept {
  error_ = {problem, offset_};
  stopped_ = true;
  return false;
}

bool ItchFileReader::finish() noexcept {
  if (error_.problem != ItchFileProblem::none) return false;
  if (partial_size_ != 0) return fail(ItchFileProblem::truncated);
  return true;
}

bool ItchFileReader::complete(const std::byte*& bytes, const std::byte* end, std::size_t size) noexcept {
  if (partial_size_ >= size) return true;
  const std::size_t count = std::min(size - partial_size_, static_cast<std::size_t>(end - bytes));
  if (count != 0) std::memcpy(partial_.data() + partial_size_, bytes, count);
  partial_size_ += count;
  bytes += count;
  return partial_size_ == size;
}

}  // namespace nfx::market
