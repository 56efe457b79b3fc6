// The engine as JavaScript sees it. Thin: types are converted here, and nothing else happens.
#include <emscripten/bind.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/vocabulary.h"

namespace {

using emscripten::val;
using octavo::Vocabulary;

// Names for the generated TypeScript types.
EMSCRIPTEN_DECLARE_VAL_TYPE(Ids);
EMSCRIPTEN_DECLARE_VAL_TYPE(VocabularyOrReason);

// Errors are values: the vocabulary, or a sentence that says why there is none.
VocabularyOrReason load_vocabulary(const std::string& bytes) {
  std::string error;
  auto vocabulary = Vocabulary::load(bytes, error);
  if (!vocabulary) return VocabularyOrReason(val(error));
  return VocabularyOrReason(val(std::make_unique<Vocabulary>(std::move(*vocabulary))));
}

Ids encode(const Vocabulary& vocabulary, const std::string& text) {
  const auto ids = vocabulary.encode(text);
  return Ids(val::global("Int32Array").new_(emscripten::typed_memory_view(ids.size(), ids.data())));
}

std::string decode(const Vocabulary& vocabulary, const Ids& ids) {
  return vocabulary.decode(emscripten::convertJSArrayToNumberVector<int>(ids));
}

std::string version() { return OCTAVO_VERSION; }

}  // namespace

EMSCRIPTEN_BINDINGS(octavo) {
  emscripten::register_type<Ids>("Int32Array");
  emscripten::register_type<VocabularyOrReason>("Vocabulary | string");

  emscripten::function("version", &version);
  emscripten::function("loadVocabulary", &load_vocabulary);

  emscripten::class_<Vocabulary>("Vocabulary")
      .property("size", &Vocabulary::size)
      .function("encode", &encode)
      .function("decode", &decode);
}
