#include "kernels.hpp"

#include "nexusfix/wire/scan.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {
namespace kernels {

const KernelTable& kernels() noexcept { return scalar; }

std::int32_t data_tag_behind(std::int32_t length_tag) noexcept { return value(data_tag_of(Tag{length_tag})); }

}  // namespace kernels

const char* scan_soh_scalar(std::span<const char> bytes) noexcept {
  return kernels::scalar.scan_soh(bytes.data(), bytes.size());
}

const char* scan_soh(std::span<const char> bytes) noexcept {
  return kernels::kernels().scan_soh(bytes.data(), bytes.size());
}

std::string_view active_kernel_name() noexcept { return kernels::kernels().name; }

}  // namespace nfx
