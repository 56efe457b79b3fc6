#include "loop_guard.h"

#include <gtest/gtest.h>

#include "fake_transformer.h"

namespace octavo {
namespace {

Tokens repeated(const Tokens& phrase, int times) {
  Tokens tokens;
  for (int i = 0; i < times; ++i) tokens.insert(tokens.end(), phrase.begin(), phrase.end());
  return tokens;
}

TEST(LoopGuard, StopsRepeatedPhrases) {
  const Tokens long_phrase = {3, 4, 3, 5, 6, 3, 4, 7, 8, 3, 5, 4, 6, 7, 7, 8};
  for (const Tokens& phrase : {Tokens{5}, Tokens{3, 4}, Tokens{3, 4, 5, 6, 7}, long_phrase}) {
    FakeTransformer network(10, looping_model(phrase));
    Options options;
    options.max_length_extra = 200;
    const Hypothesis guarded = translate(network, {3, 4, 5}, options).alternatives[0];
    EXPECT_EQ(guarded.tokens, repeated(phrase, phrase.size() == 1 ? 4 : 3));
    EXPECT_TRUE(guarded.loop_stopped);
    EXPECT_FALSE(guarded.length_limited);

    options.beam = 3;
    const Hypothesis beam = translate(network, {3, 4, 5}, options).alternatives[0];
    Tokens with_nine = guarded.tokens;  // one more token, but a better mean
    with_nine.push_back(9);
    EXPECT_TRUE(beam.tokens == guarded.tokens || beam.tokens == with_nine);
    EXPECT_TRUE(beam.loop_stopped);

    options.beam = 1;
    options.loop_phrase = 0;
    const Hypothesis unguarded = translate(network, {3, 4, 5}, options).alternatives[0];
    EXPECT_TRUE(unguarded.length_limited);
    EXPECT_FALSE(unguarded.loop_stopped);
  }
}

TEST(LoopGuard, TakesTheNextBestAndGoesOn) {
  // After the fourth 5 in a row comes 6, then the chain may say 5 again.
  FakeTransformer network(10, markov(10, {{kEos, {{5, 1.0f}}}, {5, {{5, 0.8f}, {6, 0.2f}}}, {6, {{kEos, 1.0f}}}}));
  const Hypothesis found = translate(network, {3}, {}).alternatives[0];
  EXPECT_EQ(found.tokens, (Tokens{5, 5, 5, 5, 6}));
  EXPECT_TRUE(found.loop_stopped);
}

TEST(LoopGuard, LeavesOrdinaryTextAlone) {
  const Tokens text = {3, 3, 3, 4, 5, 4, 5, 4, 5, 6, 3, 3, 3, 3, 7, 8, 7, 8};
  FakeTransformer network(10, [&](const Tokens&, const Tokens& history) {
    std::vector<float> x(10, 0);
    x[static_cast<size_t>(history.size() < text.size() ? text[history.size()] : kEos)] = 5;
    return x;
  });
  Options options;
  options.max_length_extra = 40;
  const Hypothesis found = translate(network, {3}, options).alternatives[0];
  EXPECT_EQ(found.tokens, text);
  EXPECT_FALSE(found.loop_stopped);
}

TEST(LoopGuard, FollowsASourceThatRepeatsItself) {
  // A translation that is as long as its source: one token or a phrase for each.
  for (const Tokens& phrase : {Tokens{5}, Tokens{5, 6}}) {
    FakeTransformer network(10, [&](const Tokens& source, const Tokens& history) {
      std::vector<float> x(10, 0);
      const bool ends = history.size() >= source.size() * phrase.size();
      x[static_cast<size_t>(ends ? kEos : phrase[history.size() % phrase.size()])] = 5;
      return x;
    });
    for (const int times : {5, 20, 1000}) {
      Options options;
      options.max_length = 4000;
      const Hypothesis found = translate(network, repeated({7}, times), options).alternatives[0];
      EXPECT_EQ(found.tokens, repeated(phrase, times));
      EXPECT_FALSE(found.loop_stopped);
    }
  }
  // But no further than the source, give or take one.
  FakeTransformer network(10, looping_model({5}));
  Options options;
  options.max_length_extra = 100;
  EXPECT_EQ(translate(network, repeated({7}, 10), options).alternatives[0].tokens.size(), 11u);
  EXPECT_EQ(translate(network, repeated({7, 8, 3}, 10), options).alternatives[0].tokens.size(), 11u);
  EXPECT_EQ(translate(network, {7, 8, 7, 8, 4}, options).alternatives[0].tokens.size(), 4u);
}

}  // namespace
}  // namespace octavo
