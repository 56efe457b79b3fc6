// What the benchmark needs of the engine and the package does not have: kernels alone, the CPU's limits, a profile.
#include <emscripten/bind.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "integer_transformer.h"
#include "kernels/float_kernel.h"
#include "kernels/kernel.h"
#include "kernels/peak.h"
#include "model_file.h"
#include "profiler.h"
#include "search.h"

namespace {

using emscripten::val;
using octavo::AlignedBytes;

// One matrix product, to be repeated.
class Product {
 public:
  // kernel: "reference", "simd128", "relaxed", "fused" or "float".
  Product(const std::string& kernel, int m, int k, int n)
      : kernel_(octavo::find_kernel(kernel)),
        m_(m),
        k_(k),
        n_(n),
        a_(size_t(m) * k * 4),
        w_(size_t(k) * n * (kernel_ ? 1 : 4)),
        c_(size_t(m) * (n + 1) * 4),
        scratch_(size_t(m) * k * 2) {
    uint32_t state = 1;
    const auto next = [&](AlignedBytes& bytes, int lowest, int count) {
      for (size_t i = 0; i < bytes.size(); ++i) {
        state = state * 1664525 + 1013904223;
        bytes.data()[i] = static_cast<std::byte>(lowest + static_cast<int>(state >> 8) % count);
      }
    };
    if (kernel_) {
      next(a_, -127, 255);
      next(w_, 1, 127);
    } else {
      std::fill_n(reinterpret_cast<float*>(a_.data()), a_.size() / 4, 0.5f);
      std::fill_n(reinterpret_cast<float*>(w_.data()), w_.size() / 4, 0.25f);
    }
  }
  void run(int times) {
    for (int i = 0; i < times; ++i) {
      if (kernel_) {
        kernel_->product(reinterpret_cast<const int8_t*>(a_.data()), reinterpret_cast<const uint8_t*>(w_.data()),
                         reinterpret_cast<int32_t*>(c_.data()), m_, k_, n_, scratch_.data(),
                         reinterpret_cast<int32_t*>(c_.data()) + size_t(m_) * n_);
      } else {
        octavo::fp32::product(reinterpret_cast<const float*>(a_.data()), reinterpret_cast<const float*>(w_.data()),
                              nullptr, reinterpret_cast<float*>(c_.data()), m_, k_, n_, octavo::fp32::Into::kStore);
      }
    }
  }
  // Reads the weights as often, and does nothing else.
  int read(int times) const {
    int32_t result = 0;
    for (int i = 0; i < times; ++i) result |= octavo::peak::read(w_.data(), w_.size());
    return result;
  }

 private:
  const octavo::Kernel* kernel_;
  int m_, k_, n_;
  AlignedBytes a_, w_, c_, scratch_;
};

// Operations of one time; 0 without such a kernel.
double peak(const std::string& kernel, int times) { return static_cast<double>(octavo::peak::compute(kernel, times)); }

// Where the model's bytes are put.
AlignedBytes model;
val reserve(double size) {
  model = AlignedBytes(static_cast<size_t>(size));
  return val(emscripten::typed_memory_view(model.size(), reinterpret_cast<unsigned char*>(model.data())));
}

// Translates `sentences` sentences of `tokens` tokens into as many and says where the time went, as JSON.
std::string profile(int sentences, int tokens) {
  octavo::Result<octavo::ModelFile> opened = octavo::ModelFile::open(std::move(model));
  if (!opened) return opened.error();
  auto file = std::make_shared<const octavo::ModelFile>(std::move(*opened));
  const octavo::Kernel& kernel = octavo::profiler::start(octavo::best_kernel(), *file);
  auto network = octavo::IntegerTransformer::create(file, kernel);
  if (!network) return network.error();
  const int32_t vocabulary = static_cast<int32_t>(file->shape().vocabulary);
  std::vector<std::vector<int32_t>> sources(sentences);
  for (int s = 0; s < sentences; ++s) {
    for (int i = 0; i + 1 < tokens; ++i) sources[s].push_back((s * 131 + i * 17 + 300) % vocabulary);
  }
  octavo::Options options;
  options.max_length_factor = 1;
  options.max_length_extra = 1;
  options.loop_phrase = 0;
  octavo::Search search(**network);
  for (int warm_up = 0; warm_up < 2; ++warm_up) {
    const auto translated = search.translate(sources, options);
    if (!translated) return translated.error();
    if (warm_up == 0) octavo::profiler::start(octavo::best_kernel(), *file);
  }
  return octavo::profiler::report();
}

}  // namespace

EMSCRIPTEN_BINDINGS(probe) {
  emscripten::class_<Product>("Product")
      .constructor<std::string, int, int, int>()
      .function("run", &Product::run)
      .function("read", &Product::read);
  emscripten::function("peak", &peak);
  emscripten::function("reserve", &reserve);
  emscripten::function("profile", &profile);
}
