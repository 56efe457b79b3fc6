// The seam between the network and the machine: a handful of row and matrix functions, each with a plain reference (the
// specification) and SIMD implementations that give the same bits. Nothing outside this folder knows about SIMD.
//
// Elements: INT8 between operations, INT32 inside products, wide rows (INT16, 13 bits, see fixed_point.h) between a
// product and its re-scaling. Lengths: n and k are multiples of 16; `count` (keys of an attention) is arbitrary.
#pragma once

#include <cstdint>
#include <string_view>

namespace octavo {

// Weights are 7-bit magnitudes stored with an offset, u = w + 64 in 1..127, packed in panels
// of 8 outputs: inside a panel four consecutive inputs of one output are adjacent, then the
// 8 outputs, then the next four inputs. All SIMD kernels read this strictly forward, and
// 0..127 is the range in which the relaxed dot product means the same on every CPU.
//   u[panel = j/8][k/4][j%8][k%4]
constexpr int kPanel = 8;
constexpr int kWeightOffset = 64;
constexpr int kWeightMax = 63;

// Position of weight (output j, input k) in a packed matrix with `inputs` inputs.
constexpr int64_t panel_index(int64_t j, int64_t k, int64_t inputs) {
  return (j / kPanel) * kPanel * inputs + (k / 4) * 4 * kPanel + (j % kPanel) * 4 + k % 4;
}

// What arrays over the keys of an attention are padded to.
constexpr int padded_keys(int count) { return (count + 15) / 16 * 16; }

enum class Nonlinearity : int32_t { kNone, kRelu };

// What happens to one row of products on its way back to a wide row:
//   y_j = acc_j·2^-shift·column_j · m + bias_j · m_bias + residual_j·2^6 · m_residual, then ReLU
// where every · is a rounded Q15 product. residual may be null.
struct WriteBack {
  int shift;
  const uint16_t* column;  // (n) Q15, <= 32767
  int32_t m;
  const int16_t* bias;  // (n) wide
  int32_t m_bias;
  const int8_t* residual;  // (n)
  int32_t m_residual;
  Nonlinearity nonlinearity;
};

struct Kernel {
  const char* name;

  // c[i][j] = Σ_k a[i][k]·(u[k][j] - 64);  max[i] = max_j |c[i][j]|.  Range: k <= 65536 keeps |c| <= k·127·63 < 2^30.
  // scratch: at least 2·m·k bytes, 16-byte aligned.
  void (*product)(const int8_t* a, const uint8_t* panels, int32_t* c, int m, int k, int n, void* scratch, int32_t* max);

  // out = row `j` of a packed matrix with k inputs, offset removed: an embedding.
  void (*unpack_row)(const uint8_t* panels, int j, int k, int8_t* out);

  // One row of products to a wide row; returns max|y|. Range: three terms of at most 8191.
  int32_t (*write_back)(const int32_t* acc, const WriteBack& how, int16_t* y, int n);

  // y = a·m_a + b·m_b for wide rows; returns max|y| <= 16382.
  int32_t (*match_add)(const int16_t* a, int32_t m_a, const int16_t* b, int32_t m_b, int16_t* y, int n);

  // y = x·2^shift: INT8 to a wide row (127·2^6 and 63·2^7 both fit 13 bits).
  void (*widen)(const int8_t* x, int shift, int16_t* y, int n);

  // R: y = round(x·m/2^15) for n a multiple of 16; the caller chose m so that |y| <= 127.
  void (*rescale)(const int16_t* x, int32_t m, int8_t* y, int n);

  // L1 layer norm, first half: c = n·x - Σx; returns max|c|.  Range: |c| <= 2·n·127 < 2^31 for n < 2^22.
  int32_t (*centre)(const int8_t* x, int32_t* c, int n);
  // Second half: y = narrow(c)·gain/2^15 with signed gain (|gain| <= 32767); returns Σ|narrow(c)| <= n·8191 (n < 2^18).
  int32_t (*gain)(const int32_t* c, int shift, const int16_t* gain, int16_t* y, int n);

  // Attention, one query of one head. q: (width); keys, values: `count` rows, `stride` bytes apart; width a multiple
  // of 8. Arrays over the keys have room for count rounded up to 16: what is behind `count` is not looked at, and of
  // wide rows and weights it is written as 0.
  // out[j] = q·key_j; returns max|out|.  Range: width·127² < 2^31.
  int32_t (*scores)(const int8_t* q, const int8_t* keys, int stride, int count, int width, int32_t* out);
  // y_j = ReLU(x_j·2^-shift·match_j·m + b); returns max y <= 16382.
  int32_t (*shifted_relu)(const int32_t* x, int shift, const uint16_t* match, int32_t m, int32_t b, int16_t* y,
                          int count);
  // y_j = n_j·match_j with n_j = narrow(polynomial_power(v_j, degree) + delta) for v in 0..127; returns max y and adds
  // up n_j in *sum.  Range: 127⁴ < 2^28, delta <= 2^30; count < 2^18.
  int32_t (*weigh)(const int8_t* v, int degree, int32_t delta, int shift, const uint16_t* match, int16_t* y,
                   int32_t* sum, int count);
  // out[c] = Σ_j w_j·values[j][c] for w in 0..127; returns max|out|.  Range: count·127² < 2^31.
  int32_t (*weighted_sum)(const int8_t* w, const int8_t* values, int stride, int count, int width, int32_t* out);
  // y = x·2^-shift·m: one head's sums to the scale all heads share; returns max|y|.
  int32_t (*narrow)(const int32_t* x, int shift, int32_t m, int16_t* y, int n);

  // logits[j] = round(acc_j·2^-shift)·column_j, comparable integers; returns the index of the first maximum.
  // Range: the caller's shift leaves 15 bits, times 15 bits of column.
  int32_t (*logits)(const int32_t* acc, int shift, const uint16_t* column, int32_t* out, int n);
};

extern const Kernel kReferenceKernel;
extern const Kernel kSimd128Kernel;
// These two exist natively and in the relaxed wasm build.
extern const Kernel kRelaxedKernel;
extern const Kernel kFusedKernel;

// Whether this CPU has an instruction for what the fused kernel does.
bool fused_dot_is_native();

// The kernels of this build, and the fastest of them on this CPU.
const Kernel* find_kernel(std::string_view name);
const Kernel& best_kernel();

}  // namespace octavo
