// Watches the translation of one sentence and writes down what there is to see.
#pragma once

#include <cstdint>
#include <vector>

#include "octavo/inspection.h"
#include "octavo/status.h"
#include "text/vocabulary.h"
#include "transformer.h"

namespace octavo {

// Greedy translation of one sentence, observed; or, if there is
// one, the reading of its translation. Tokens are without end mark.
Result<Inspection> inspect(Transformer& network, const Vocabulary& vocabulary, std::vector<int32_t> source,
                           std::vector<int32_t> translation);

}  // namespace octavo
