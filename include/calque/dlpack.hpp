// SPDX-License-Identifier: MIT
// Arrays from and for other libraries of the same process: DLPack, in its structures of 0.6 and of 1.x.
#pragma once

#include <calque/interop/dlpack.hpp>
