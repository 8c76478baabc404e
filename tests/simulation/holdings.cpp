// Replaces operator new and delete to count the bytes held by engines and networks of the simulation.
#include "simulation/holdings.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace nfx::simulation {
namespace {

constinit Holder current = Holder::world;
constinit std::array<Holdings, holder_count> holdings{};

// Before every allocation.
struct alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) Label {
  std::size_t size;
  std::uint32_t offset;  // distance from the start of the memory to the program's pointer
  Holder holder;
};
static_assert(sizeof(Label) == 16 && alignof(Label) <= alignof(std::max_align_t));

[[nodiscard]] void* allocate(std::size_t size, std::size_t alignment) {
  const std::size_t offset = std::max(alignment, sizeof(Label));
  const std::size_t whole = (size + offset + alignment - 1) / alignment * alignment;
  void* const memory = whole < size ? nullptr : std::aligned_alloc(alignment, whole);
  if (memory == nullptr) throw std::bad_alloc{};
  char* const given = static_cast<char*>(memory) + offset;
  ::new (given - sizeof(Label)) Label{size, static_cast<std::uint32_t>(offset), current};
  Holdings& held = holdings[static_cast<std::size_t>(current)];
  held.bytes += size;
  held.most = std::max(held.most, held.bytes);
  return given;
}

void give_back(void* given) noexcept {
  if (given == nullptr) return;
  const Label label = *std::launder(reinterpret_cast<const Label*>(static_cast<char*>(given) - sizeof(Label)));
  holdings[static_cast<std::size_t>(label.holder)].bytes -= label.size;
  std::free(static_cast<char*>(given) - label.offset);
}

}  // namespace

Holding::Holding(Holder holder) noexcept : before_(std::exchange(current, holder)) {}
Holding::~Holding() { current = before_; }

Holdings held_by(Holder holder) noexcept { return holdings[static_cast<std::size_t>(holder)]; }

std::size_t held_by_engines_and_networks() noexcept {
  std::size_t sum = 0;
  for (const Side side : {Side::venue, Side::trader})
    sum += held_by(engine_of(side)).bytes + held_by(network_of(side)).bytes;
  return sum;
}

void forget_most() noexcept {
  for (Holdings& each : holdings) each.most = each.bytes;
}

}  // namespace nfx::simulation

// Not inlined: the compiler would report the memory inside as a mismatch with delete. The other forms call these.
[[gnu::noinline]] void* operator new(std::size_t size) {
  return nfx::simulation::allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return nfx::simulation::allocate(
      size, std::max<std::size_t>(static_cast<std::size_t>(alignment), __STDCPP_DEFAULT_NEW_ALIGNMENT__));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { nfx::simulation::give_back(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { nfx::simulation::give_back(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { nfx::simulation::give_back(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  nfx::simulation::give_back(memory);
}
