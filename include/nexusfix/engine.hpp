// Everything that a program of nfx::run() includes, except its messages: <nexusfix/fix44.hpp> has the ones of FIX 4.4.
// A program with its own main, which starts and stops the engine itself, also includes <nexusfix/engine/program.hpp>.
#pragma once

#include "nexusfix/engine/application.hpp"
#include "nexusfix/engine/authenticator.hpp"
#include "nexusfix/engine/engine_counters.hpp"
#include "nexusfix/engine/observer.hpp"
#include "nexusfix/engine/run.hpp"
#include "nexusfix/engine/session_handle.hpp"
#include "nexusfix/engine/submit.hpp"
