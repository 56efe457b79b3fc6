// The one format that sentencepiece asks for, "<0x%02X>", without printf.
#pragma once

#include <string>

namespace absl {

inline std::string StrFormat(const char* /* "<0x%02X>" */, unsigned char byte) {
  constexpr char kHex[] = "0123456789ABCDEF";
  return {'<', '0', 'x', kHex[byte >> 4], kHex[byte & 15], '>'};
}

}  // namespace absl
