// What this CPU can do with the instructions of each matrix product: the same arithmetic on registers, without memory.
// And what it can read: the bound of a product with a single row, which uses every weight once. For the benchmark.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace octavo::peak {

// Runs the inner loop of the kernel's product so many times; returns the multiplications and additions of one time.
// Kernels: "simd128", "relaxed", "fused", "float". 0 if this build has no such kernel.
int64_t compute(std::string_view kernel, int times);

// Reads so many bytes (a multiple of 128) once; returns something that depends on all of them.
int32_t read(const std::byte* bytes, size_t count);

}  // namespace octavo::peak
