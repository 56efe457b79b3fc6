// Darts-clone, the double-array trie that sentencepiece brings, with one promise added: a prefix
// search returns no more results than it was given room for. (The original returns how many there
// would be, and sentencepiece reads that many.)
#pragma once

#define DoubleArray UnboundedDoubleArray
#include_next <third_party/darts_clone/darts.h>
#undef DoubleArray

namespace Darts {

class DoubleArray : public UnboundedDoubleArray {
 public:
  std::size_t commonPrefixSearch(const char* key, result_pair_type* results, std::size_t room,
                                 std::size_t length) const {
    const std::size_t found = UnboundedDoubleArray::commonPrefixSearch(key, results, room, length);
    return found < room ? found : room;
  }
};

}  // namespace Darts
