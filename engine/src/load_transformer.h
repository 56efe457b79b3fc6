// The transformer that fits a model file: INT8 or its FP32 twin.
#pragma once

#include <memory>

#include "kernels/kernel.h"
#include "model_file.h"
#include "octavo/status.h"
#include "transformer.h"

namespace octavo {

// `kernel` matters to INT8 files only.
Result<std::unique_ptr<Transformer>> load_transformer(std::shared_ptr<const ModelFile> file,
                                                      const Kernel& kernel = best_kernel());

}  // namespace octavo
