#include "search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "fake_transformer.h"

namespace octavo {
namespace {

// Predictions that look random but depend on nothing except source and history. Tokens 0 and 2 never come.
FakeTransformer::Model random_model(uint32_t vocabulary, float end = 0) {
  return [=](const Tokens& source, const Tokens& history) {
    uint32_t seed = 2166136261u;
    for (const int32_t t : source) seed = (seed ^ static_cast<uint32_t>(t + 1)) * 16777619u;
    for (const int32_t t : history) seed = (seed ^ static_cast<uint32_t>(t + 101)) * 16777619u;
    std::vector<float> x;
    for (uint32_t t = 0; t < vocabulary; ++t) {
      uint32_t h = (seed ^ t) * 2654435761u;
      h = (h ^ (h >> 15)) * 2246822519u;
      x.push_back(static_cast<float>((h >> 8) % 4000) / 1000.0f);
    }
    x[kEos] += end;
    x[0] = x[2] = kNever;
    return x;
  };
}

struct Complete {
  Tokens tokens;
  double log_probability, score;
};

// Every complete translation of fewer than `limit` tokens, best first.
std::vector<Complete> exhaustive(const FakeTransformer& network, const Tokens& source, int limit, double penalty) {
  std::vector<Complete> all;
  const std::function<void(const Tokens&, double)> visit = [&](const Tokens& history, double sum) {
    const auto p = network.predict(source, history);
    const double end = sum + p[kEos];
    all.push_back({history, end, end / std::pow(static_cast<double>(history.size() + 1), penalty)});
    if (static_cast<int>(history.size()) + 1 == limit) return;
    for (size_t t = 3; t < p.size(); ++t) {
      Tokens longer = history;
      longer.push_back(static_cast<int32_t>(t));
      visit(longer, sum + p[t]);
    }
  };
  visit({}, 0);
  std::ranges::stable_sort(all, [](const Complete& a, const Complete& b) { return a.score > b.score; });
  return all;
}

TEST(Search, AWideBeamFindsWhatExhaustiveSearchFinds) {
  // Two words, an end: at most 16 · 3 = 48 continuations in a step, so that a beam of 64 leaves nothing out.
  for (int32_t seed = 0; seed < 100; ++seed) {
    for (const float penalty : {0.0f, 0.6f, 1.0f}) {
      FakeTransformer network(5, random_model(5));
      Options options = unguarded(kMaxBeam, 5);
      options.length_penalty = penalty;
      options.alternatives = kMaxBeam;
      const Translation found = translate(network, {seed % 5, 3}, options);
      const auto all = exhaustive(network, {seed % 5, 3}, 5, penalty);
      ASSERT_EQ(all.size(), 31u);
      size_t complete = 0;
      for (const Hypothesis& hypothesis : found.alternatives) {
        if (hypothesis.length_limited) continue;
        EXPECT_NEAR(hypothesis.score, all[complete].score, 1e-4);
        if (complete == 0) {
          EXPECT_EQ(hypothesis.tokens, all[0].tokens);
        }
        ++complete;
      }
      EXPECT_EQ(complete, all.size());
    }
  }
}

TEST(Search, ANarrowBeamIsNoBetterThanExhaustiveSearchAndNoWorseThanGreedy) {
  int better = 0;
  for (int32_t seed = 3; seed < 60; ++seed) {
    FakeTransformer network(8, random_model(8, 1));
    Options options = unguarded(4, 6);
    options.length_penalty = 0;
    options.scores = true;
    const Hypothesis beam = translate(network, {seed % 8, seed / 8}, options).alternatives[0];
    options.beam = 1;
    const Hypothesis greedy = translate(network, {seed % 8, seed / 8}, options).alternatives[0];
    const auto all = exhaustive(network, {seed % 8, seed / 8}, 6, 0);
    EXPECT_LE(beam.score, all[0].score + 1e-4);
    if (greedy.length_limited) continue;
    EXPECT_GE(beam.score, greedy.score - 1e-4);
    better += beam.score > greedy.score + 1e-4;
  }
  EXPECT_GT(better, 0);
}

TEST(Search, GreedyTakesTheBestTokenOfEachStep) {
  for (int32_t seed = 3; seed < 40; ++seed) {
    FakeTransformer network(40, random_model(40, 1));
    const Hypothesis found = translate(network, {seed, 5}, unguarded(1, 20)).alternatives[0];
    Tokens expected;
    bool ended = false;
    while (!ended && expected.size() < 20) {
      auto p = network.predict({seed, 5}, expected);
      p[0] = p[2] = kNever;
      const auto best = static_cast<int32_t>(std::max_element(p.begin(), p.end()) - p.begin());
      ended = best == kEos;
      if (!ended) expected.push_back(best);
    }
    EXPECT_EQ(found.tokens, expected);
    EXPECT_EQ(found.length_limited, !ended);
  }
}

TEST(Search, GreedyComputesProbabilitiesOnlyWhenNeeded) {
  const auto model = markov(6, {{kEos, {{3, 0.9f}, {4, 0.1f}}}, {3, {{4, 0.9f}, {5, 0.1f}}}, {4, {{kEos, 1.0f}}}});
  FakeTransformer network(6, model);
  EXPECT_EQ(translate(network, {3}, {}).alternatives[0].tokens, (Tokens{3, 4}));
  EXPECT_EQ(network.probability_calls, 0);

  Options options;
  options.scores = true;
  const Hypothesis scored = translate(network, {3}, options).alternatives[0];
  EXPECT_EQ(scored.tokens, (Tokens{3, 4}));
  ASSERT_EQ(scored.token_scores.size(), 2u);
  EXPECT_NEAR(scored.token_scores[0], std::log(0.9), 1e-5);
  EXPECT_NEAR(scored.score, 2 * std::log(0.9) / 3, 1e-5) << "the mean over both tokens and a certain end";
}

TEST(Search, NeverProducesForbiddenTokens) {
  FakeTransformer network(
      6, markov(6, {{kEos, {{0, 0.4f}, {2, 0.4f}, {3, 0.15f}, {kEos, 0.05f}}}, {3, {{2, 0.6f}, {kEos, 0.4f}}}}));
  const Tokens some = {0, 2};
  Options options = {.forbidden = some};
  EXPECT_EQ(translate(network, {3}, options).alternatives[0].tokens, (Tokens{3}));
  EXPECT_FALSE(translate(network, {3}, options).alternatives[0].loop_stopped);
  options.beam = options.alternatives = 3;
  for (const Hypothesis& hypothesis : translate(network, {3}, options).alternatives) {
    for (const int32_t token : hypothesis.tokens) EXPECT_EQ(token, 3);
  }
  const Tokens more = {0, 2, 3, -5, 1000, kEos};  // ids that do not exist are ignored, the end mark stays allowed
  options.forbidden = more;
  EXPECT_TRUE(translate(network, {3}, options).alternatives[0].tokens.empty());
}

TEST(Search, AlternativesAreSortedAndDistinct) {
  for (int32_t seed = 3; seed < 30; ++seed) {
    FakeTransformer network(30, random_model(30, 2));
    Options options = unguarded(8, 12);
    options.alternatives = 5;
    options.scores = options.alignment = true;
    const Tokens source = {seed, 4, 4};
    const auto found = translate(network, source, options).alternatives;
    ASSERT_EQ(found.size(), 5u);
    std::set<Tokens> distinct;
    for (size_t i = 0; i < found.size(); ++i) {
      distinct.insert(found[i].tokens);
      if (i > 0) {
        EXPECT_GE(found[i].length_limited, found[i - 1].length_limited) << "complete ones come first";
        EXPECT_TRUE(found[i].length_limited != found[i - 1].length_limited || found[i].score <= found[i - 1].score);
      }

      // Scores and alignments are those of the tokens they stand beside.
      ASSERT_EQ(found[i].token_scores.size(), found[i].tokens.size());
      ASSERT_EQ(found[i].alignment.size(), found[i].tokens.size());
      Tokens history;
      double sum = 0;
      for (size_t t = 0; t < found[i].tokens.size(); ++t) {
        const float p = network.predict(source, history)[static_cast<size_t>(found[i].tokens[t])];
        EXPECT_EQ(found[i].token_scores[t], p);
        EXPECT_EQ(found[i].alignment[t], FakeTransformer::attend(source, history));
        sum += p;
        history.push_back(found[i].tokens[t]);
      }
      if (found[i].length_limited) continue;
      sum += network.predict(source, history)[kEos];
      EXPECT_NEAR(found[i].score, sum / static_cast<double>(history.size() + 1), 1e-4);
    }
    EXPECT_EQ(distinct.size(), found.size());
  }
}

TEST(Search, ABatchGivesWhatEachSentenceGivesAlone) {
  for (const int beam : {1, 2, 5}) {
    FakeTransformer network(20, random_model(20, 1.5f));
    std::vector<Tokens> sentences;
    for (int32_t i = 0; i < 17; ++i) sentences.push_back(Tokens(static_cast<size_t>(i % 6), 3 + i));
    Options options = unguarded(beam, 30);
    options.alternatives = beam;
    options.scores = options.alignment = true;
    const auto together = Search(network).translate(sentences, options);
    ASSERT_TRUE(together.ok());
    const auto backwards =
        Search(network).translate(std::vector<Tokens>(sentences.rbegin(), sentences.rend()), options);
    for (size_t i = 0; i < sentences.size(); ++i) {
      const Translation alone = translate(network, sentences[i], options);
      for (const Translation& other : {(*together)[i], (*backwards)[sentences.size() - 1 - i]}) {
        ASSERT_EQ(other.alternatives.size(), alone.alternatives.size());
        for (size_t k = 0; k < alone.alternatives.size(); ++k) {
          EXPECT_EQ(other.alternatives[k].tokens, alone.alternatives[k].tokens);
          EXPECT_EQ(other.alternatives[k].score, alone.alternatives[k].score);
          EXPECT_EQ(other.alternatives[k].alignment, alone.alternatives[k].alignment);
        }
      }
    }
  }
}

TEST(Search, FinishedSentencesLeaveTheBatch) {
  // Translations as long as their sources.
  FakeTransformer network(5, [](const Tokens& source, const Tokens& history) {
    return std::vector<float>{kNever, history.size() < source.size() ? kNever : 0, kNever, 0, kNever};
  });
  const std::vector<Tokens> sentences = {{3}, {3, 3, 3}, {}, {3, 3}};
  const auto result = Search(network).translate(sentences, {});
  ASSERT_TRUE(result.ok());
  for (size_t i = 0; i < sentences.size(); ++i) EXPECT_EQ((*result)[i].alternatives[0].tokens, sentences[i]);
  EXPECT_EQ(network.row_counts, (std::vector<size_t>{3, 3, 2, 1}));
}

TEST(Search, TiesGoToTheLowerToken) {
  FakeTransformer network(7, [](const Tokens&, const Tokens& history) {
    return history.size() < 2 ? std::vector<float>{kNever, kNever, kNever, kNever, 0, 0, 0}
                              : std::vector<float>{kNever, 0, kNever, kNever, kNever, kNever, kNever};
  });
  EXPECT_EQ(translate(network, {3}, {}).alternatives[0].tokens, (Tokens{4, 4}));
  Options options;
  options.beam = options.alternatives = 4;
  const auto found = translate(network, {3}, options).alternatives;
  const std::vector<Tokens> expected = {{4, 4}, {4, 5}, {4, 6}, {5, 4}};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(found[i].tokens, expected[i]);
}

TEST(Search, TheLengthPenaltyDecidesBetweenShortAndLong) {
  // A short translation of probability 0.4 · 0.5, a longer one of 0.6 · 0.7³.
  FakeTransformer network(9, markov(9, {{kEos, {{3, 0.4f}, {4, 0.6f}}},
                                        {3, {{kEos, 0.5f}, {8, 0.5f}}},
                                        {4, {{5, 0.7f}, {8, 0.3f}}},
                                        {5, {{6, 0.7f}, {8, 0.3f}}},
                                        {6, {{kEos, 0.68f}, {8, 0.32f}}},
                                        {8, {{8, 1.0f}}}}));
  Options options = unguarded(4, 12);
  options.length_penalty = 0;
  EXPECT_EQ(translate(network, {3}, options).alternatives[0].tokens, (Tokens{3})) << "0.2 against 0.2";
  options.length_penalty = 1;
  EXPECT_EQ(translate(network, {3}, options).alternatives[0].tokens, (Tokens{4, 5, 6}));
}

TEST(Search, TheLengthLimitIsReported) {
  FakeTransformer network(
      8, markov(8, {{kEos, {{3, 1.0f}}}, {3, {{4, 0.9f}, {5, 0.1f}}}, {4, {{3, 1.0f}}}, {5, {{3, 1.0f}}}}));
  for (const int beam : {1, 3}) {
    Options options = unguarded(beam, 1024);
    options.max_length_factor = 3;
    options.max_length_extra = 1;
    const Translation found = translate(network, {3, 4}, options);
    EXPECT_EQ(found.alternatives[0].tokens, (Tokens{3, 4, 3, 4, 3, 4, 3}));
    EXPECT_TRUE(found.alternatives[0].length_limited);
    options.max_length = 4;
    EXPECT_EQ(translate(network, {3, 4}, options).alternatives[0].tokens.size(), 4u);
  }
}

struct Countdown {
  int left;
  static bool asked(void* context) { return static_cast<Countdown*>(context)->left-- == 0; }
};

TEST(Search, StopsBetweenStepsWhenCancelled) {
  for (const int beam : {1, 3}) {
    for (const int after : {0, 1, 4}) {
      FakeTransformer network(10, looping_model({5}));
      Countdown countdown{after};
      Options options = unguarded(beam, 100);
      options.cancelled = Countdown::asked;
      options.cancel_context = &countdown;
      const auto result = Search(network).translate(std::vector<Tokens>{{3}, {4}}, options);
      ASSERT_FALSE(result.ok());
      EXPECT_EQ(result.error(), kCancelled);
      EXPECT_EQ(network.row_counts.size(), static_cast<size_t>(std::max(0, after - 1)));
    }
  }
}

TEST(Search, NothingToTranslateIsTranslatedByNothing) {
  FakeTransformer network(10, looping_model({5}));
  EXPECT_TRUE(Search(network).translate({}, {})->empty());
  const auto result = Search(network).translate(std::vector<Tokens>{{}}, {});
  ASSERT_TRUE(result.ok());
  ASSERT_EQ((*result)[0].alternatives.size(), 1u);
  EXPECT_TRUE((*result)[0].alternatives[0].tokens.empty());
}

TEST(Search, ABrokenNetworkEndsTheSearch) {
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  FakeTransformer network(10, [=](const Tokens&, const Tokens& history) {
    return std::vector<float>(10, history.size() < 2 ? 0.0f : nan);
  });
  for (const int beam : {1, 4}) {
    Options options;
    options.beam = beam;
    EXPECT_FALSE(translate(network, {3}, options).alternatives.empty());
  }
}

TEST(Search, RefusesWhatMakesNoSense) {
  FakeTransformer network(10, looping_model({5}));
  const auto refuses = [&](auto change, const Tokens& source = {3}) {
    Options options;
    change(options);
    const auto result = Search(network).translate(std::vector<Tokens>{source}, options);
    return !result.ok() && !result.error().empty();
  };
  EXPECT_FALSE(refuses([](Options&) {}));
  EXPECT_TRUE(refuses([](Options& o) { o.beam = 0; }));
  EXPECT_TRUE(refuses([](Options& o) { o.beam = kMaxBeam + 1; }));
  EXPECT_TRUE(refuses([](Options& o) { o.alternatives = 2; }));
  EXPECT_TRUE(refuses([](Options& o) { o.alternatives = 0; }));
  EXPECT_TRUE(refuses([](Options& o) { o.length_penalty = std::nanf(""); }));
  EXPECT_TRUE(refuses([](Options& o) { o.length_penalty = -1; }));
  EXPECT_TRUE(refuses([](Options& o) { o.max_length_factor = INFINITY; }));
  EXPECT_TRUE(refuses([](Options& o) { o.max_length = 0; }));
  EXPECT_TRUE(refuses([](Options& o) { o.max_length_extra = -1; }));
  EXPECT_TRUE(refuses([](Options& o) { o.loop_phrase = kMaxLoopPhrase + 1; }));
  EXPECT_TRUE(refuses([](Options& o) { o.loop_token_repeats = 0; }));
  EXPECT_TRUE(refuses([](Options&) {}, {10}));
  EXPECT_TRUE(refuses([](Options&) {}, {-1}));
  EXPECT_TRUE(refuses([](Options&) {}, Tokens(2001, 3)));
}

}  // namespace
}  // namespace octavo
