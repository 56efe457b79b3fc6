// Where the time of a translation goes: a kernel that measures another one. Every loop over elements is behind the seam
// of kernels/kernel.h, so nothing else has to be touched.
#pragma once

#include <string>

#include "kernels/kernel.h"
#include "model_file.h"

namespace octavo::profiler {

// Starts a profile of `inner` on the weights of `file`. The kernel returned works until the next start.
const Kernel& start(const Kernel& inner, const ModelFile& file);

// What was measured since, without the clock's own cost. JSON:
// [{"layer": …, "operation": …, "calls": …, "milliseconds": …}]
std::string report();

}  // namespace octavo::profiler
