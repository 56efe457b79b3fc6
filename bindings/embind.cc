// The engine as JavaScript sees it. Thin: types are converted here, and nothing else happens.
//
// Errors are values: a function that can fail returns what was asked for, or a sentence that says why not.
#include <emscripten/bind.h>
#include <emscripten/emscripten.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kernel.h"
#include "model_file.h"
#include "octavo/translator.h"

namespace {

using emscripten::val;
using octavo::TranslationJob;
using octavo::Translator;

// Names for the generated TypeScript types.
EMSCRIPTEN_DECLARE_VAL_TYPE(Bytes);
EMSCRIPTEN_DECLARE_VAL_TYPE(Strings);
EMSCRIPTEN_DECLARE_VAL_TYPE(EngineOrReason);
EMSCRIPTEN_DECLARE_VAL_TYPE(JobOrReason);
EMSCRIPTEN_DECLARE_VAL_TYPE(MoreOrReason);
EMSCRIPTEN_DECLARE_VAL_TYPE(Segments);
EMSCRIPTEN_DECLARE_VAL_TYPE(Info);
EMSCRIPTEN_DECLARE_VAL_TYPE(InspectionOrReason);

// A copy of numbers as a typed array that JavaScript owns.
template <class T>
val copied(const char* type, const std::vector<T>& numbers) {
  return val::global(type).new_(emscripten::typed_memory_view(numbers.size(), numbers.data()));
}

// Where JavaScript puts the bytes of a model: written once, straight into the memory that the engine then keeps.
class ModelBuffer {
 public:
  explicit ModelBuffer(double size) : bytes_(static_cast<size_t>(size)) {}
  bool allocated() const { return !bytes_.empty(); }
  Bytes view() {
    return Bytes(val(emscripten::typed_memory_view(bytes_.size(), reinterpret_cast<unsigned char*>(bytes_.data()))));
  }
  octavo::AlignedBytes take() { return std::exchange(bytes_, {}); }

 private:
  octavo::AlignedBytes bytes_;
};

class Job {
 public:
  Job(std::shared_ptr<Translator> translator, std::unique_ptr<TranslationJob> job)
      : translator_(std::move(translator)), job_(std::move(job)) {}

  // Works for about so many milliseconds. True: there is more to do.
  MoreOrReason advance(double milliseconds) {
    const double end = emscripten_get_now() + milliseconds;
    for (;;) {
      const octavo::Result<bool> more = job_->advance();
      if (!more) return MoreOrReason(val(more.error()));
      if (!*more || emscripten_get_now() >= end) return MoreOrReason(val(*more));
    }
  }

  Segments finish() {
    val segments = val::array();
    for (const octavo::TranslatedSegment& segment : job_->finish()) {
      val alternatives = val::array();
      for (const octavo::TranslatedText& text : segment.alternatives) alternatives.call<void>("push", translated(text));
      val object = val::object();
      object.set("alternatives", alternatives);
      object.set("sourceTokens", segment.source_tokens);
      object.set("sourceOffsets", copied("Uint32Array", segment.source_offsets));
      segments.call<void>("push", object);
    }
    return Segments(segments);
  }

 private:
  static val translated(const octavo::TranslatedText& text) {
    std::vector<int32_t> alignment;  // (target pieces, source pieces), row after row
    for (const std::vector<int32_t>& row : text.alignment) alignment.insert(alignment.end(), row.begin(), row.end());
    val object = val::object();
    object.set("text", text.text);
    object.set("score", text.score);
    object.set("tokenScores", copied("Float32Array", text.token_scores));
    object.set("offsets", copied("Uint32Array", text.offsets));
    object.set("alignment", copied("Int32Array", alignment));
    object.set("loopStopped", text.loop_stopped);
    object.set("lengthLimited", text.length_limited);
    return object;
  }

  std::shared_ptr<Translator> translator_;  // works for the job, even if JavaScript has deleted its engine
  std::unique_ptr<TranslationJob> job_;
};

class Engine {
 public:
  explicit Engine(std::unique_ptr<Translator> translator) : translator_(std::move(translator)) {}

  JobOrReason start(const Strings& segments, const octavo::Options& options) {
    auto job = translator_->start(emscripten::vecFromJSArray<std::string>(segments), options);
    if (!job) return JobOrReason(val(job.error()));
    return JobOrReason(val(std::make_unique<Job>(translator_, std::move(*job))));
  }
  InspectionOrReason inspect(const std::string& sentence, const std::string& translation) {
    const auto seen = translator_->inspect(sentence, translation);
    if (!seen) return InspectionOrReason(val(seen.error()));
    val stations = val::array();
    for (const octavo::Station& station : seen->stations) {
      val object = val::object();
      object.set("part", val(station.decoder ? "decoder" : "encoder"));
      object.set("layer", station.layer);
      object.set("name", val(station.name));
      object.set("scales", copied("Float32Array", station.scales));
      stations.call<void>("push", object);
    }
    val attention = val::array();
    for (const octavo::AttentionHead& head : seen->attention) {
      val object = val::object();
      object.set("layer", head.layer);
      object.set("head", head.head);
      object.set("weights", copied("Int8Array", head.weights));
      attention.call<void>("push", object);
    }
    val object = val::object();
    object.set("source", val::array(seen->source));
    object.set("target", val::array(seen->target));
    object.set("stations", stations);
    object.set("attention", attention);
    return InspectionOrReason(object);
  }
  size_t count_tokens(const std::string& text) const { return translator_->count_tokens(text); }
  size_t max_tokens() const { return translator_->max_tokens(); }
  Info info() const {
    const octavo::EngineInfo info = translator_->info();
    val object = val::object();
    object.set("kernel", info.kernel);
    object.set("description", info.description);
    object.set("modelBytes", static_cast<double>(info.model_bytes));
    object.set("activationBytes", static_cast<double>(info.memory_bytes));
    return Info(object);
  }

 private:
  std::shared_ptr<Translator> translator_;
};

// Takes the buffer's bytes. `kernel` is a name, or empty for the best one of this build.
EngineOrReason load_engine(ModelBuffer& buffer, const std::string& kernel) {
  auto translator = Translator::load(buffer.take(), kernel);
  if (!translator) return EngineOrReason(val(translator.error()));
  return EngineOrReason(val(std::make_unique<Engine>(std::move(*translator))));
}

std::string version() { return OCTAVO_VERSION; }
std::string best_kernel() { return octavo::best_kernel().name; }

}  // namespace

EMSCRIPTEN_BINDINGS(octavo) {
  emscripten::register_type<Bytes>("Uint8Array");
  emscripten::register_type<Strings>("string[]");
  emscripten::register_type<EngineOrReason>("Engine | string");
  emscripten::register_type<JobOrReason>("Job | string");
  emscripten::register_type<MoreOrReason>("boolean | string");
  emscripten::register_type<Segments>(
      "{ alternatives: { text: string; score: number; tokenScores: Float32Array; offsets: Uint32Array; alignment: "
      "Int32Array; "
      "loopStopped: boolean; lengthLimited: boolean }[]; sourceTokens: number; sourceOffsets: Uint32Array }[]");
  emscripten::register_type<Info>(
      "{ kernel: string; description: string; modelBytes: number; activationBytes: number }");

  emscripten::register_type<InspectionOrReason>(
      "string | { source: string[]; target: string[]; stations: { part: 'encoder' | 'decoder'; layer: number; name: "
      "'embedding' | 'attention' | 'cross' | 'ffn' | 'norm'; scales: Float32Array }[]; attention: { layer: number; "
      "head: number; weights: Int8Array }[] }");

  emscripten::value_object<octavo::Options>("SearchOptions")
      .field("beam", &octavo::Options::beam)
      .field("alternatives", &octavo::Options::alternatives)
      .field("lengthPenalty", &octavo::Options::length_penalty)
      .field("maxLengthFactor", &octavo::Options::max_length_factor)
      .field("maxLengthExtra", &octavo::Options::max_length_extra)
      .field("loopPhrase", &octavo::Options::loop_phrase)
      .field("scores", &octavo::Options::scores)
      .field("alignment", &octavo::Options::alignment);

  emscripten::function("version", &version);
  emscripten::function("bestKernel", &best_kernel);
  emscripten::function("loadEngine", &load_engine);

  emscripten::class_<ModelBuffer>("ModelBuffer")
      .constructor<double>()
      .property("allocated", &ModelBuffer::allocated)
      .function("view", &ModelBuffer::view);
  emscripten::class_<Engine>("Engine")
      .function("start", &Engine::start)
      .function("inspect", &Engine::inspect)
      .function("countTokens", &Engine::count_tokens)
      .property("maxTokens", &Engine::max_tokens)
      .function("info", &Engine::info);
  emscripten::class_<Job>("Job").function("advance", &Job::advance).function("finish", &Job::finish);
}
