// One block of memory, cut into 64-byte aligned pieces. A layout function takes the same pieces twice:
// from an arena without memory, to learn the size, and from one with memory, to get the pointers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace octavo {

class Arena {
 public:
  Arena() = default;  // measures only: take() returns null
  explicit Arena(std::byte* memory) : memory_(memory) {}

  template <class T>
  T* take(int64_t count) {
    T* piece = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + used_);
    used_ += (static_cast<uint64_t>(count) * sizeof(T) + 63) / 64 * 64;
    return piece;
  }

  // More than an address space holds is reported as half of it: no allocation of that size succeeds.
  size_t used() const { return static_cast<size_t>(std::min<uint64_t>(used_, std::numeric_limits<size_t>::max() / 2)); }

 private:
  std::byte* memory_ = nullptr;
  uint64_t used_ = 0;  // 64 bits in WebAssembly too, where a hostile capacity would wrap around 32
};

}  // namespace octavo
