#include "kernels/kernel.h"

namespace octavo {
namespace {

constexpr const Kernel* kKernels[] = {
    &kReferenceKernel,
    &kSimd128Kernel,
#if !defined(__wasm__) || defined(__wasm_relaxed_simd__)
    &kRelaxedKernel,
    &kFusedKernel,
#endif
};

}  // namespace

const Kernel* find_kernel(std::string_view name) {
  for (const Kernel* kernel : kKernels) {
    if (name == kernel->name) return kernel;
  }
  return nullptr;
}

const Kernel& best_kernel() {
#if !defined(__wasm__) || defined(__wasm_relaxed_simd__)
  return fused_dot_is_native() ? kFusedKernel : kRelaxedKernel;
#else
  return kSimd128Kernel;
#endif
}

}  // namespace octavo
