// FIX messages without an engine: parsing, reading, writing, dictionaries and validation. Messages with a class each,
// those of FIX 4.4 for example, are in <nexusfix/fix44.hpp>.
#pragma once

#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/dictionary/validator.hpp"
#include "nexusfix/wire/encoder.hpp"
#include "nexusfix/wire/framer.hpp"
#include "nexusfix/wire/group_view.hpp"
#include "nexusfix/wire/message_template.hpp"
#include "nexusfix/wire/message_view.hpp"
