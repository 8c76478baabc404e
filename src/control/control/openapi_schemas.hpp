// The parts of the OpenAPI description: what the documents of documents.cpp have, and what a route can answer.
// Thread: any. Cost: makes JSON; for the description alone.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "control/routes.hpp"

namespace nfx::control {

// components/schemas: each document, closed, with all its members.
[[nodiscard]] nlohmann::ordered_json document_schemas();

// components/headers, components/responses and the schemas of these: what is refused, once for each status and reason.
[[nodiscard]] nlohmann::ordered_json refusal_schemas();
[[nodiscard]] nlohmann::ordered_json answer_headers();
[[nodiscard]] nlohmann::ordered_json refusal_responses();

// The responses of a route, by status.
[[nodiscard]] nlohmann::ordered_json responses_of(const Route& route);

}  // namespace nfx::control
