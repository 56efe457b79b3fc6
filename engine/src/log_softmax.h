// log softmax of a row of logits: the end of the process, where numbers become floating point. Computed with additions
// and multiplications in a fixed order (four interleaved partial sums), so that every platform gets the same bits; the
// maths library's exp and log would differ in the last digit between systems.
#pragma once

namespace octavo {

// x[j] -= log Σ exp(x).   x: (n), n a multiple of 4
void log_softmax(float* x, int n);

// e^x for x <= 0 and ln x for x >= 1, to about 1e-7 relative.
float exact_exp(float x);
float exact_log(float x);

}  // namespace octavo
