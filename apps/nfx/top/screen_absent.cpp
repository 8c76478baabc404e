// Replaces screen.cpp in a build without ncurses.
#include <stdexcept>

#include "top/screen.hpp"

namespace nfx::app::top {

std::unique_ptr<Screen> make_screen(bool) {
  throw std::runtime_error("built without ncurses: install the package libncurses-dev and build again, or use --once");
}

}  // namespace nfx::app::top
