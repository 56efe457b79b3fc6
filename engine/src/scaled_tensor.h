// {x, s}: the one data type of scale propagation. Integers x
// and one positive scale per row s stand for the numbers x / s.
#pragma once

#include <cstdint>

namespace octavo {

// INT8 rows, as tensors are between operations. A view; |x| <= 127.
struct ScaledRows {
  int8_t* x;  // (rows, width)
  float* s;   // (rows)
  int width;

  int8_t* row(int i) const { return x + static_cast<int64_t>(i) * width; }
};

// A row inside an operation, before it is re-scaled: INT16 of at most 13 bits (sums: 15), see fixed_point.h.
struct WideRow {
  int16_t* x;   // (width)
  float s;      // its scale
  int32_t max;  // max|x|
};

}  // namespace octavo
