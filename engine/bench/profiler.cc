#include "profiler.h"

#include <emscripten/emscripten.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "message.h"

namespace octavo::profiler {
namespace {

struct Entry {
  double milliseconds = 0;
  int calls = 0;
};

constexpr int kFunctions = 15;  // of a kernel
using Layer = std::array<Entry, kFunctions>;

struct State {
  const Kernel* inner = nullptr;
  std::map<const uint8_t*, size_t> layers;  // by the address of their weights
  std::vector<std::string> names;           // e.g. "encoder.3.ffn.w1"
  std::vector<Layer> entries;
  size_t current = 0;  // the layer of the latest product
  double clock_cost = 0;
} state;

std::array<const char*, kFunctions> function_names;
int known_functions = 0;

// Measures one function of the kernel. What is not a product is counted to the layer of the product before it.
template <auto kFunction, class Signature>
struct Timed;

template <auto kFunction, class R, class... Arguments>
struct Timed<kFunction, R (*)(Arguments...)> {
  static inline int number = 0;
  static R call(Arguments... arguments) {
    const auto function = state.inner->*kFunction;
    const double start = emscripten_get_now();
    if constexpr (std::is_void_v<R>) {
      function(arguments...);
      record(start);
    } else {
      const R result = function(arguments...);
      record(start);
      return result;
    }
  }
  static void record(double start) {
    const double end = emscripten_get_now();
    Entry& entry = state.entries[state.current][static_cast<size_t>(number)];
    entry.milliseconds += end - start;
    ++entry.calls;
  }
};

template <auto kFunction>
auto timed(const char* name) {
  using Function = std::remove_cvref_t<decltype(state.inner->*kFunction)>;
  Timed<kFunction, Function>::number = known_functions;
  function_names[static_cast<size_t>(known_functions++)] = name;
  return &Timed<kFunction, Function>::call;
}

void product(const int8_t* a, const uint8_t* panels, int32_t* c, int m, int k, int n, void* scratch, int32_t* max) {
  state.current = std::prev(state.layers.upper_bound(panels))->second;  // a product may take a part of a matrix
  Timed<&Kernel::product, decltype(Kernel::product)>::call(a, panels, c, m, k, n, scratch, max);
}

}  // namespace

const Kernel& start(const Kernel& inner, const ModelFile& file) {
  state = {};
  state.inner = &inner;
  for (const TensorEntry& entry : file.tensors()) {
    std::string name(name_of(entry));
    if (!name.ends_with(".weight")) continue;
    name.resize(name.size() - 7);
    state.layers[static_cast<const uint8_t*>(file.data(entry))] = state.names.size();
    state.names.push_back(std::move(name));
  }
  state.entries.resize(state.names.size());
  state.current = state.layers.at(static_cast<const uint8_t*>(file.data(*file.find("embedding.weight"))));
  // The clock's cost: the least of several attempts, of which others may be disturbed.
  constexpr int kCalls = 500;
  state.clock_cost = 1;
  for (int attempt = 0; attempt < 20; ++attempt) {
    const double start = emscripten_get_now();
    for (int i = 0; i < kCalls; ++i) emscripten_get_now();
    state.clock_cost = std::min(state.clock_cost, (emscripten_get_now() - start) / kCalls);
  }

  static const Kernel kernel = {
      "profiled",
      (timed<&Kernel::product>("product"), product),
      timed<&Kernel::unpack_row>("unpack_row"),
      timed<&Kernel::write_back>("write_back"),
      timed<&Kernel::match_add>("match_add"),
      timed<&Kernel::widen>("widen"),
      timed<&Kernel::rescale>("rescale"),
      timed<&Kernel::centre>("centre"),
      timed<&Kernel::gain>("gain"),
      timed<&Kernel::scores>("scores"),
      timed<&Kernel::shifted_relu>("shifted_relu"),
      timed<&Kernel::weigh>("weigh"),
      timed<&Kernel::weighted_sum>("weighted_sum"),
      timed<&Kernel::narrow>("narrow"),
      timed<&Kernel::logits>("logits"),
  };
  return kernel;
}

std::string report() {
  std::string json = "[";
  for (size_t layer = 0; layer < state.entries.size(); ++layer) {
    for (size_t i = 0; i < kFunctions; ++i) {
      const Entry& entry = state.entries[layer][i];
      if (entry.calls == 0) continue;
      if (json.size() > 1) json += ',';
      const double net = std::max(0.0, entry.milliseconds - entry.calls * state.clock_cost);
      json += concat({R"({"layer":")", state.names[layer], R"(","operation":")", function_names[i], R"(","calls":)",
                      std::to_string(entry.calls), R"(,"milliseconds":)", std::to_string(net), "}"});
    }
  }
  return json + "]";
}

}  // namespace octavo::profiler
