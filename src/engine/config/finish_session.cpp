// Completes a session when all its keys are read: schedule, validation, store and password depend on several keys.
#include "base/error_text.hpp"
#include "config/keys.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx::config {
namespace {

// store_directory without a store means a journal.
void finish_store(SessionSettings& settings) {
  if (settings.store_kind == StoreKind::unset && !settings.journal.directory.empty())
    settings.store_kind = StoreKind::journal;
}

// A session with TLS settings but without tls = true would be unencrypted by mistake.
void finish_tls(const SessionDraft& draft) {
  if (!draft.tls_mentioned && draft.settings.tls != TlsOptions{})
    throw KeyProblem("tls", "there are tls_ keys: write tls = true to encrypt, or tls = false to connect without TLS");
}

}  // namespace

SessionDraft::SessionDraft() = default;  // out of line: if inlined, g++ 12 reports uninitialised settings

void finish(SessionDraft& draft) {
  SessionConfig& session = draft.settings.session;
  try {
    draft.settings.schedule = make_schedule(draft.schedule);
  } catch (const ScheduleError& error) {
    throw KeyProblem(error.key(), error.text());
  }
  session.validation = ValidationPolicy{draft.checks, draft.validation};
  for (const ValidationOverride& each : draft.validation_overrides) session.validation.set(each);
  finish_store(draft.settings);
  finish_tls(draft);
  NFX_ASSERT(draft.settings.journal.directory.empty() || draft.settings.store_kind != StoreKind::unset);
  if (draft.password_env.empty()) return;
  if (!session.password.empty()) throw KeyProblem("password_env", "password is given too: remove one of them");
  session.password = environment_secret(draft.password_env);
  if (session.password.empty())
    throw KeyProblem("password_env", not_set(draft.password_env) + "; set it, or remove this key");
}

}  // namespace nfx::config
