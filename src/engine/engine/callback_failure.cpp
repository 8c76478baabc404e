// Reads the exception that is being handled.
#include "engine/callback_failure.hpp"

#include <algorithm>
#include <exception>

namespace nfx {

CallbackFailure::CallbackFailure(std::string_view callback) noexcept : callback_(callback) {
  add(callback);
  add(": ");
  try {
    throw;
  } catch (const std::exception& error) {
    add(error.what());
  } catch (...) {
    add("an exception that is not a std::exception");
  }
}

void CallbackFailure::add(std::string_view part) noexcept {
  const std::string_view fits = part.substr(0, text_.size() - size_);
  std::ranges::copy(fits, text_.begin() + static_cast<std::ptrdiff_t>(size_));
  size_ += fits.size();
}

}  // namespace nfx
