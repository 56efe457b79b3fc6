// Sentences for people, put together from pieces without iostreams
// or printf: the engine has a size budget in WebAssembly.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "octavo/status.h"

namespace octavo {

inline std::string concat(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

inline Error problem(std::initializer_list<std::string_view> parts) { return Error{concat(parts)}; }

}  // namespace octavo
