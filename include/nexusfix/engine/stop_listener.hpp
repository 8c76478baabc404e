// A program that has something to do before its engine stops, such as canceling its orders: an application that is also
// a StopListener decides when the stop begins.
// Thread: delays_stop() from any, also within a signal handler: it takes no lock and allocates nothing. Errors: none.
// Bounds: the program's own. It must end the delay, because nothing else does.
#pragma once

#include "nexusfix/base/language.hpp"

namespace nfx {

class Engine;

class StopListener {
 public:
  virtual ~StopListener() = default;
  // Engine::stop() was called. True: the engine goes on, its poll threads wake, and the program calls stop() again when
  // it is done, for example in on_turn(). False: the sessions log out now.
  virtual bool delays_stop(Engine& engine) noexcept = 0;
};

}  // namespace nfx
