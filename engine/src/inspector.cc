#include "inspector.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "observer.h"
#include "search.h"

namespace octavo {
namespace {

class Inspector final : public Observer {
 public:
  // The encoder passes a station once with all its rows, the decoder once per row.
  void passed(bool decoder, int layer, const char* name, const float* scales, int rows) override {
    const auto same = [&](const Station& station) {
      return station.decoder == decoder && station.layer == layer && std::strcmp(station.name, name) == 0;
    };
    auto station = std::find_if(seen.stations.begin(), seen.stations.end(), same);
    if (station == seen.stations.end()) {
      station = seen.stations.insert(station, {decoder, layer, name, {}});
    }
    station->scales.insert(station->scales.end(), scales, scales + rows);
  }

  void attended(int layer, const int8_t* weights, int heads, int count) override {
    const size_t first = static_cast<size_t>(layer) * heads;
    for (int h = 0; h < heads; ++h, weights += count) {
      if (seen.attention.size() <= first + h) seen.attention.push_back({layer, h, {}});
      std::vector<int8_t>& rows = seen.attention[first + h].weights;
      rows.insert(rows.end(), weights, weights + count);
    }
  }

  Inspection seen;
};

std::vector<std::string> pieces(const Vocabulary& vocabulary, std::span<const int32_t> tokens) {
  std::vector<std::string> names;
  for (const int32_t token : tokens) names.emplace_back(vocabulary.piece(token));
  return names;
}

// The tokens of the greedy translation; with the end mark, if it has come to one.
Result<std::vector<int32_t>> translate(Transformer& network, const Vocabulary& vocabulary,
                                       const std::vector<int32_t>& source, int32_t end) {
  const std::vector<int32_t> forbidden = vocabulary.without_text(static_cast<int>(network.shape().vocabulary));
  Result<std::vector<Translation>> found = Search(network).translate({&source, 1}, {.forbidden = forbidden});
  if (!found) return Error{found.error()};
  Hypothesis& best = found->front().alternatives.front();
  if (!best.length_limited) best.tokens.push_back(end);
  return std::move(best.tokens);
}

// Lets the network read a translation as if it had written it. Tokens are with end mark.
Status read(Transformer& network, std::span<const int32_t> source, std::span<const int32_t> target) {
  const int length = static_cast<int>(source.size());
  if (Status status = network.reserve({1, length, 1, static_cast<int>(target.size())})) return status;
  network.encode(source, std::array{0, length});
  int32_t previous = source.back();
  for (int position = 0; position < static_cast<int>(target.size()); ++position) {
    const StepRow row{.sentence = 0, .slot = 0, .position = position, .token = previous};
    network.step({&row, 1});
    previous = target[position];
  }
  return {};
}

}  // namespace

Result<Inspection> inspect(Transformer& network, const Vocabulary& vocabulary, std::vector<int32_t> source,
                           std::vector<int32_t> translation) {
  const auto end = static_cast<int32_t>(network.shape().eos);  // the vocabulary may know of none
  const bool given = !translation.empty();
  Inspector inspector;
  if (!network.observe(&inspector)) return Error{"only an INT8 model can be inspected"};
  Status failed;
  if (given) {
    source.push_back(end);
    translation.push_back(end);
    failed = read(network, source, translation);
  } else {
    Result<std::vector<int32_t>> found = translate(network, vocabulary, source, end);
    source.push_back(end);
    if (found)
      translation = std::move(*found);
    else
      failed = Error{found.error()};
  }
  network.observe(nullptr);
  if (failed) return *failed;

  Inspection& seen = inspector.seen;
  seen.source = pieces(vocabulary, source);
  seen.target = pieces(vocabulary, translation);
  return std::move(seen);
}

}  // namespace octavo
