// The paper's tables from one model and one test set: what each choice of scale propagation costs.
#pragma once

#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "model_file.h"
#include "octavo/status.h"

namespace octavo {

struct AblationInput {
  std::shared_ptr<const ModelFile> int8, fp32;  // the same network
  std::span<const std::string> sources, references;
};

// Translates the test set greedily in every variant and prints Markdown as it goes; several minutes
// for a few hundred sentences. Progress goes to standard error.
Status print_ablation(const AblationInput& input, std::FILE* out);

}  // namespace octavo
