#include <string_view>

#include "targets.h"
#include "text/segments.h"
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
  const std::vector<int> ids = vocabulary->encode(text);
  for (const int id : ids) require(id >= 0 && id < vocabulary->size(), "pieces are in the vocabulary");
  require(valid_utf8(vocabulary->decode(ids)), "decoded text is UTF-8");
  const auto offsets = token_offsets(*vocabulary, text, ids);
  require(offsets.size() == ids.size() + 1 && offsets.back() <= text.size(), "offsets stay inside the text");
}

}  // namespace octavo::fuzz
