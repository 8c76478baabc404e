// Creates rails by name: libfabric's, and the ones that need no library.
#include "fabric/bench_rail.hpp"

#include <stdexcept>
#include <utility>

#include "fabric/rail_bench_end.hpp"
#include "nexusfix/fabric/rail_kinds.hpp"

namespace nfx::app::fabric {
namespace {

using namespace nfx::fabric;

template <class R>
class Held : public BenchRail {
 public:
  Held(std::unique_ptr<R> rail, std::string place) : rail_(std::move(rail)), ref_(*rail_), place_(std::move(place)) {}
  [[nodiscard]] RailRef ref() const noexcept override { return ref_; }
  [[nodiscard]] std::string_view place() const noexcept override { return place_; }

 private:
  std::unique_ptr<R> rail_;
  RailRef ref_;
  std::string place_;
};

template <class R, class Options>
std::unique_ptr<BenchRail> hold(const Options& options, const std::string& place) {
  auto made = R::make(options);
  if (!made) throw std::runtime_error(made.error());
  std::string taken = place;
  if constexpr (requires { (*made)->place(); }) taken = (*made)->place();
  return std::make_unique<Held<R>>(std::move(*made), std::move(taken));
}

}  // namespace

std::unique_ptr<BenchRail> make_bench_rail(const std::string& provider, bool listens, const std::string& place) {
  const RailAddress address{listens ? RailEnd::listens : RailEnd::connects, place};
  if (provider == "ring") return hold<ShmRail>(ShmRailOptions{.address = address, .slots = 4 * max_window}, place);
  if (provider == "socket") {
    const RailAddress tcp{address.end, listens ? std::string{"127.0.0.1:0"} : place};
    return hold<TcpRail>(TcpRailOptions{.address = tcp, .slots = 4 * max_window, .send_buffer = 0, .receive_buffer = 0},
                         place);
  }
  return hold<LibfabricRail>(LibfabricRailOptions{.address = address,
                                                  .provider = provider,
                                                  .card = {},
                                                  .bind = {},
                                                  .slots = max_window,
                                                  .arrivals = 4 * max_window},
                             place);
}

}  // namespace nfx::app::fabric
