// Scratch memory that the layers share, cut from the transformer's arena; nothing in it outlives one call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernel.h"

namespace octavo {

// Rows that go through a matrix product together: enough to reuse each weight many times, few enough to stay in cache.
constexpr int kRowBlock = 32;

struct Workspace {
  const Kernel* kernel;
  std::byte* packed;  // (kRowBlock, widest input) INT16: the product's own scratch
  int32_t* products;  // (kRowBlock, widest output)
  int32_t* maxima;    // (kRowBlock) of the rows of products
  int16_t* wide;      // (widest output, or keys)
  int16_t* wide2;     // (width)
  // attention, one query of one head at a time; keys padded (padded_keys)
  int32_t* scores;       // (keys)
  int8_t* weights;       // (keys)
  int32_t* head_sums;    // (width)
  float* head_scales;    // (heads)
  int32_t* head_shifts;  // (heads)
};

}  // namespace octavo
