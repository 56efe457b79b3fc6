#include "kernels/kernel.h"

#include <iterator>

namespace octavo {
namespace {

constexpr const Kernel* kKernels[] = {
    &kReferenceKernel,
    &kSimd128Kernel,
#if !defined(__wasm__) || defined(__wasm_relaxed_simd__)
    &kRelaxedKernel,
#endif
};

}  // namespace

const Kernel* find_kernel(std::string_view name) {
  for (const Kernel* kernel : kKernels) {
    if (name == kernel->name) return kernel;
  }
  return nullptr;
}

const Kernel& best_kernel() { return **(std::end(kKernels) - 1); }

}  // namespace octavo
