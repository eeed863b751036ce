// SPDX-License-Identifier: MIT
// The library, unused.
#include <calque/calque.hpp>
