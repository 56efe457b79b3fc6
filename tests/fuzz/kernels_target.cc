#include "../engine/kernel_cases.h"
#include "targets.h"

namespace octavo::fuzz {

void kernels(Bytes data) {
  for (const Kernel* kernel : {&kSimd128Kernel, &kRelaxedKernel, &kFusedKernel}) {
    Reader reader(data);
    using Cases = KernelCases<Reader>;
    const auto function = Cases::kAll[reader.uniform(0, static_cast<int>(std::size(Cases::kAll)) - 1)];
    Cases cases(*kernel, reader);
    (cases.*function)();
    require(cases.equal(), kernel->name);
  }
}

}  // namespace octavo::fuzz
