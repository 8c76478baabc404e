// Chooses the kernel at start: the best one for the processor, or the one named by NFX_ISA.
#include "kernels.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

#include "length_tags.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "wire/scan.hpp"

namespace nfx {
namespace kernels {
namespace {

constexpr LengthTags make_length_tags() noexcept {
  LengthTags tags{};
  for (std::uint32_t tag = 0; tag < LengthTags::count; ++tag) {
    tags.is_length[tag] = data_tag_of(Tag{static_cast<std::int32_t>(tag)}) != Tag{0} ? 1 : 0;
  }
  return tags;
}

KernelList find_available() noexcept {
  KernelList list{{&scalar}, 1};
#if defined(__x86_64__)
  __builtin_cpu_init();
#endif
#define NFX_HAS(feature) (__builtin_cpu_supports(feature) != 0)
#define NFX_ADD_KERNEL(architecture, name, options, present) \
  if (present) list.tables[list.count++] = &name;
  NFX_KERNEL_ROWS(NFX_ADD_KERNEL, NFX_HAS)
#undef NFX_ADD_KERNEL
#undef NFX_HAS
  NFX_ASSERT(list.count <= kernel_count);
  return list;
}

constexpr const char* override_variable = "NFX_ISA";

const KernelTable* find_named(std::string_view name) noexcept {
  for (const KernelTable* table : available_kernels()) {
    if (name == table->name) return table;
  }
  return nullptr;
}

const KernelTable& choose() noexcept {
  const char* const wanted = std::getenv(override_variable);
  const KernelTable* const named = wanted != nullptr ? find_named(wanted) : nullptr;
  const KernelList list = available_kernels();
  return named != nullptr ? *named : *list.tables[list.count - 1];
}

}  // namespace

// Code that runs before this file's initialisation gets the portable table.
constinit const KernelTable* table_in_use = &scalar;
namespace {
[[maybe_unused]] const bool chosen = (table_in_use = &choose(), true);
}  // namespace

const LengthTags length_tags = make_length_tags();

KernelList available_kernels() noexcept {
  static const KernelList list = find_available();
  return list;
}

void use_kernels(const KernelTable& table) noexcept { table_in_use = &table; }

std::int32_t data_tag_after(std::int32_t length_tag) noexcept { return value(data_tag_of(Tag{length_tag})); }

}  // namespace kernels

const char* scan_soh_scalar(std::span<const char> bytes) noexcept {
  return kernels::scalar.scan_soh(bytes.data(), bytes.size());
}

const char* scan_soh(std::span<const char> bytes) noexcept {
  return kernels::kernels().scan_soh(bytes.data(), bytes.size());
}

std::optional<const char*> scan_soh(std::string_view isa, std::span<const char> bytes) noexcept {
  const kernels::KernelTable* const table = kernels::find_named(isa);
  if (table == nullptr) return std::nullopt;
  return table->scan_soh(bytes.data(), bytes.size());
}

std::string_view active_kernel_name() noexcept { return kernels::kernels().name; }

std::string available_kernel_names() {
  std::string names;
  for (const kernels::KernelTable* table : kernels::available_kernels()) {
    names += (names.empty() ? "" : ", ") + std::string{table->name};
  }
  return names;
}

std::string kernel_override_error() {
  const char* const wanted = std::getenv(kernels::override_variable);
  if (wanted == nullptr || kernels::find_named(wanted) != nullptr) return {};
  return std::string{kernels::override_variable} + "=" + wanted + ": this machine runs " + available_kernel_names() +
         "; unset the variable to take the last";
}

}  // namespace nfx
