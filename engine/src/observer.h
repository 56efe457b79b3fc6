// Whoever watches a network at work. Watching changes nothing.
#pragma once

#include <cstdint>

namespace octavo {

class Observer {
 public:
  // The residual stream has passed a station (see octavo/inspection.h) with these scales: (rows).
  virtual void passed(bool decoder, int layer, const char* station, const float* scales, int rows) = 0;
  // A target token has looked at the source: weights 0..127 of each head (heads, count).
  virtual void attended(int layer, const int8_t* weights, int heads, int count) = 0;

 protected:
  ~Observer() = default;
};

}  // namespace octavo
