#include <algorithm>
#include <cstring>

#include "model_file.h"
#include "octavo/translator.h"
#include "targets.h"

namespace octavo::fuzz {
namespace {

AlignedBytes copy(Bytes data) {
  AlignedBytes bytes(std::max<size_t>(data.size(), 1));
  if (!data.empty()) std::memcpy(bytes.data(), data.data(), data.size());
  return bytes;
}

// What is accepted must also work: the network has to be safe with whatever the checks let through.
void try_out(AlignedBytes bytes) {
  auto translator = Translator::load(std::move(bytes));
  if (!translator) {
    require(!translator.error().empty(), "an error says what is wrong");
    return;
  }
  Options options;
  options.max_length = 12;
  options.scores = options.alignment = true;
  const auto results = (*translator)->translate({"The house is small.", "x"}, options);
  require(!results || results->size() == 2, "one result per segment");
}

}  // namespace

void model_file(Bytes data) {
  try_out(copy(data));
  if (data.size() < sizeof(FileHeader)) return;
  // Nothing gets past the checksum by chance: mend it, so that the checks behind it are reached.
  AlignedBytes mended = copy(data);
  FileHeader header;
  std::memcpy(&header, mended.data(), sizeof header);
  header.magic = kMagic;
  header.version = kFormatVersion;
  header.file_bytes = mended.size();
  header.checksum = 0;
  std::memcpy(mended.data(), &header, sizeof header);
  header.checksum = file_checksum({mended.data(), mended.size()});
  std::memcpy(mended.data(), &header, sizeof header);
  try_out(std::move(mended));
}

}  // namespace octavo::fuzz
