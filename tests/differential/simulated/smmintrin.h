// See immintrin.h.
#pragma once
#include "immintrin.h"
