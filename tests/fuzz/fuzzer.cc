// One libFuzzer program per target: the build says which.
#include "targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  octavo::fuzz::OCTAVO_FUZZ_TARGET({data, size});
  return 0;
}
