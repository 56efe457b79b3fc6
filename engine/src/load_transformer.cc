#include "load_transformer.h"

#include <utility>

#include "float_transformer.h"
#include "integer_transformer.h"

namespace octavo {
namespace {

template <class T>
Result<std::unique_ptr<Transformer>> as_transformer(Result<std::unique_ptr<T>> made) {
  if (!made) return Error{made.error()};
  return std::unique_ptr<Transformer>(std::move(*made));
}

}  // namespace

Result<std::unique_ptr<Transformer>> load_transformer(std::shared_ptr<const ModelFile> file, const Kernel& kernel) {
  if (file->flavour() == Flavour::kFloat32) {
    return as_transformer(FloatTransformer::create(std::move(file)));
  }
  return as_transformer(IntegerTransformer::create(std::move(file), kernel));
}

}  // namespace octavo
