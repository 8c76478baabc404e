// FIX messages without an engine: parsing, reading, writing, dictionaries and validation. The classes of FIX 4.4's
// messages are in <nexusfix/fix44.hpp>, and other versions have such a header too.
#pragma once

#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/dictionary/validator.hpp"
#include "nexusfix/wire/encoder.hpp"
#include "nexusfix/wire/framer.hpp"
#include "nexusfix/wire/group_view.hpp"
#include "nexusfix/wire/message_template.hpp"
#include "nexusfix/wire/message_view.hpp"
