#include "targets.h"

namespace octavo::fuzz {

bool valid_utf8(const std::string& text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<uint8_t>(text[i]);
    const int length = lead < 0x80            ? 1
                       : lead >> 5 == 0b110   ? 2
                       : lead >> 4 == 0b1110  ? 3
                       : lead >> 3 == 0b11110 ? 4
                                              : 0;
    if (length == 0 || i + length > text.size()) return false;
    uint32_t point = length == 1 ? lead : lead & (0x7f >> length);
    for (int n = 1; n < length; ++n) {
      const auto next = static_cast<uint8_t>(text[i + n]);
      if (next >> 6 != 0b10) return false;
      point = point << 6 | (next & 0x3f);
    }
    constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    if (point < kLeast[length] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return false;
    i += length;
  }
  return true;
}

}  // namespace octavo::fuzz
