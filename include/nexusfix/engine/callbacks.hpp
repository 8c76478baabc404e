// The program's side of an engine: its application, who watches, and who decides about Logons. Made from an application
// alone; an application that is also an Observer or an Authenticator is used as these too:
//
//   struct Venue : nfx::Application, nfx::Authenticator { ... } venue;
//   nfx::Engine engine{config, venue};
//
// The static type of the argument counts: a function that passes `Application&` on passes the application alone, so it
// should take Callbacks. Lifetime: all of them outlive the engine. With several poll threads their callbacks run on all
// of them.
#pragma once

#include <concepts>
#include <vector>

#include "nexusfix/engine/application.hpp"

namespace nfx {

class Authenticator;
class Observer;

struct Callbacks {
  template <std::derived_from<Application> Program>
  Callbacks(Program& program) : application(&program) {
    if constexpr (std::derived_from<Program, Observer>) observers.push_back(&program);
    if constexpr (std::derived_from<Program, Authenticator>) authenticator = &program;
  }

  Application* application;
  std::vector<Observer*> observers;
  Authenticator* authenticator = nullptr;  // null: every Logon that the configuration allows
};

}  // namespace nfx
