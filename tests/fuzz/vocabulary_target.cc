#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "targets.h"
#include "text/vocabulary.h"

namespace octavo::fuzz {

void vocabulary(Bytes data) {
  Reader reader(data);
  const std::string text = reader.text(reader.byte());
  const Bytes model = reader.rest();
  std::string error;
  const auto vocabulary = Vocabulary::load({reinterpret_cast<const char*>(model.data()), model.size()}, error);
  if (!vocabulary) {
    require(!error.empty(), "an error says what is wrong");
    return;
  }
  std::vector<uint32_t> offsets;
  const auto check_offsets = [&offsets](size_t pieces, std::string_view of) {
    require(offsets.size() == pieces + 1 && std::ranges::is_sorted(offsets), "offsets never decrease");
    require(offsets.back() <= of.size(), "offsets stay inside the text");
  };
  const std::vector<int> ids = vocabulary->encode(text, &offsets);
  for (const int id : ids) require(id >= 0 && id < vocabulary->size(), "pieces are in the vocabulary");
  check_offsets(ids.size(), text);
  const std::string decoded = vocabulary->decode(ids, &offsets);
  require(valid_utf8(decoded), "decoded text is UTF-8");
  check_offsets(ids.size(), decoded);
}

}  // namespace octavo::fuzz
