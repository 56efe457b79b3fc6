// The commands of `octavo` as a user meets them: what they print, and what they say to bad input.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "command.h"
#include "commands.h"
#include "io.h"
#include "json.h"
#include "tiny_model.h"

namespace octavo {
namespace {

struct Ran {
  std::string error;  // empty if all went well
  std::string output;
};

Ran octavo_tool(std::vector<std::string> arguments) {
  CommandLine line("", "octavo", "");
  for (const auto add : {add_quantize, add_inspect, add_translate, add_evaluate, add_score}) add(line);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const Status failure = line.run(std::move(arguments));
  Ran ran{.error = failure ? failure->message : "", .output = testing::internal::GetCapturedStdout()};
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(line.exit_status() == 0, ran.error.empty());
  return ran;
}

class Tool : public testing::Test {
 protected:
  Tool() {
    std::string name = testing::TempDir() + "octavo-XXXXXX";
    folder_ = mkdtemp(name.data());
    for (const char* model : {"tiny", "tiny-lm"}) {
      write(path(std::string(model) + ".octavo"), tiny_model(model, Flavour::kInt8));
      write(path(std::string(model) + ".fp32.octavo"), tiny_model(model, Flavour::kFloat32));
    }
  }
  ~Tool() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string text(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  static void write(const std::string& path, const AlignedBytes& bytes) {
    ASSERT_FALSE(write_file(path, {bytes.data(), bytes.size()}).has_value());
  }
  static std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder_;
};

// A text as a pipe, which has no size beforehand.
class Pipe {
 public:
  explicit Pipe(const std::string& content) {
    EXPECT_EQ(pipe(ends_), 0);
    EXPECT_EQ(::write(ends_[1], content.data(), content.size()), static_cast<ssize_t>(content.size()));
    close(ends_[1]);
  }
  ~Pipe() { close(ends_[0]); }
  std::string path() const { return "/dev/fd/" + std::to_string(ends_[0]); }

 private:
  int ends_[2];
};

TEST_F(Tool, TranslatesLineByLine) {
  const std::string input = text("in.txt", "The house.\n\n  x y z \r\nlast line without its end");
  const Ran printed = octavo_tool({"translate", path("tiny.octavo"), "-i", input});
  EXPECT_EQ(printed.error, "");
  EXPECT_EQ(std::count(printed.output.begin(), printed.output.end(), '\n'), 4);
  EXPECT_NE(printed.output.find("\n\n  "), std::string::npos) << "blank lines and white space stay";
  EXPECT_NE(printed.output.find(" \r\n"), std::string::npos) << printed.output;

  const Ran written =
      octavo_tool({"translate", path("tiny.octavo"), "-i", input, "-o", path("out.txt"), "--batch", "1"});
  EXPECT_EQ(written.error + written.output, "");
  EXPECT_EQ(content(path("out.txt")), printed.output);

  const Pipe pipe(content(input));
  EXPECT_EQ(octavo_tool({"translate", path("tiny.octavo"), "-i", pipe.path()}).output, printed.output);
}

TEST_F(Tool, WritesThroughLinksAndIntoWhatIsNoFile) {
  const std::vector<std::byte> bytes(3, std::byte{'x'});
  text("target", "before");
  std::filesystem::create_symlink(path("target"), path("link"));
  EXPECT_FALSE(write_file(path("link"), bytes).has_value());
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(content(path("target")), "xxx");
  EXPECT_FALSE(write_file("/dev/null", bytes).has_value());
  EXPECT_FALSE(std::filesystem::is_regular_file("/dev/null"));
  const Status full = write_file("/dev/full", bytes);
  ASSERT_TRUE(full.has_value());
  EXPECT_NE(full->message.find("/dev/full"), std::string::npos);
}

TEST_F(Tool, TranslatesToJson) {
  const std::string input = text("in.txt", "The house.\n");
  const Ran ran = octavo_tool({"translate", path("tiny.octavo"), "-i", input, "--json", "--scores", "--alignment",
                               "--beam", "3", "--alternatives", "2"});
  EXPECT_EQ(ran.error, "");
  const json line = json::parse(ran.output);
  ASSERT_EQ(line["alternatives"].size(), 2u);
  const json& best = line["alternatives"][0];
  EXPECT_GE(best["score"].get<float>(), line["alternatives"][1]["score"].get<float>());
  EXPECT_EQ(best["tokenScores"].size(), best["alignment"].size());
  EXPECT_EQ(best["alignment"][0].size(), line["sourceTokens"].get<size_t>());
  EXPECT_EQ(line["sourceOffsets"].size(), line["sourceTokens"].get<size_t>() + 1);
}

TEST_F(Tool, SaysWhatItCannotReadOrWrite) {
  const std::string model = path("tiny.octavo"), input = text("in.txt", "The house.\n");
  const auto error_of = [](std::vector<std::string> arguments) { return octavo_tool(std::move(arguments)).error; };
  const auto has = [](const std::string& error, const char* part) {
    EXPECT_NE(error.find(part), std::string::npos) << error;
  };
  has(error_of({"translate", path("none"), "-i", input}), "none: No such file");
  has(error_of({"translate", model, "-i", path("none")}), "none: No such file");
  has(error_of({"translate", model, "-i", folder_}), "is a directory");
  has(error_of({"translate", folder_, "-i", input}), "is a directory");
  has(error_of({"translate", model, "-i", input, "-o", path("none/out")}), "cannot write");
  has(error_of({"translate", model, "-i", input, "-o", folder_ + "/./in.txt"}), "the same file");
  EXPECT_EQ(content(input), "The house.\n");
  has(error_of({"translate", model, "-i", input, "--beam", "0"}), "beam");
  has(error_of({"translate", model, "-i", input, "--batch", "0"}), "--batch");
  has(error_of({"translate", model, "-i", input, "--kernel", "avx9000"}), "avx9000");
  has(error_of({"translate", model, "-i", input, "--bogus"}), "--bogus");
  has(error_of({"translate", path("tiny-lm.octavo"), "-i", input}), "language model");
  has(error_of({"score", path("tiny-lm.octavo"), folder_}), "is a directory");
  has(error_of({"score", path("tiny-lm.octavo"), text("empty", "")}), "nothing to score");
  has(error_of({"score", model, input}), "tab");
  has(error_of({"inspect", input}), "not an Octavo model");
  text("cut.octavo", content(model).substr(0, 5000));
  has(error_of({"inspect", path("cut.octavo")}), "truncated");
}

TEST_F(Tool, EvaluatesInt8AndFp32SideBySide) {
  const std::string test = "The house.\tDas Haus.\nA tree.\tEin Baum.\nOne.\tEins.\n";
  const Pipe pipe(test);
  const Ran ran = octavo_tool({"evaluate", path("tiny.octavo"), "--fp32", path("tiny.fp32.octavo"), "--test",
                               pipe.path(), "--limit", "2", "--json", "-o", path("out.tsv")});
  EXPECT_EQ(ran.error, "");
  const json result = json::parse(ran.output);
  EXPECT_EQ(result["sentences"], 2);
  for (const char* measure : {"bleu", "chrf"}) {
    for (const char* precision : {"int8", "fp32"}) {
      EXPECT_GE(result[measure][precision].get<double>(), 0) << measure << precision;
      EXPECT_LE(result[measure][precision].get<double>(), 100) << measure << precision;
    }
  }
  EXPECT_EQ(result["kernel"]["fp32"], "float");
  const std::string translations = content(path("out.tsv"));
  EXPECT_EQ(std::count(translations.begin(), translations.end(), '\n'), 2);

  const std::string file = text("test.tsv", test), model = path("tiny.octavo");
  EXPECT_NE(octavo_tool({"evaluate", model, "--test", file}).output.find("chrF2"), std::string::npos);
  const Ran twice = octavo_tool({"evaluate", model, "--fp32", model, "--test", file});
  EXPECT_NE(twice.error.find("both are int8"), std::string::npos) << twice.error;
  EXPECT_NE(octavo_tool({"evaluate", model, "--test", file, "--limit", "-1"}).error, "");
  EXPECT_NE(octavo_tool({"evaluate", model, "--test", file, "--ablation"}).error, "") << "it needs --fp32";
  const Ran bad = octavo_tool({"evaluate", model, "--test", text("bad.tsv", "a\tb\nno tab\n")});
  EXPECT_NE(bad.error.find("line 2"), std::string::npos) << bad.error;
}

TEST_F(Tool, ScoresALanguageModel) {
  const std::string lines = text("lines.txt", "The house.\n\nA tree stands here.\n");
  double perplexity[2] = {};
  for (const bool fp32 : {false, true}) {
    const std::string model = path(fp32 ? "tiny-lm.fp32.octavo" : "tiny-lm.octavo");
    const Ran summary = octavo_tool({"score", model, lines, "--json"});
    EXPECT_EQ(summary.error, "");
    const json result = json::parse(summary.output);
    EXPECT_EQ(result["sentences"], 3);
    perplexity[fp32] = result["perplexity"];
    std::istringstream per_line(octavo_tool({"score", model, lines, "--lines"}).output);
    double sum = 0, one = 0;
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(per_line >> one);
      EXPECT_LT(one, 0);
      sum += one;
    }
    EXPECT_NEAR(perplexity[fp32], std::exp(-sum / result["pieces"].get<double>()), 1e-3);
  }
  EXPECT_GT(perplexity[0], 1);
  EXPECT_NEAR(perplexity[0] / perplexity[1], 1, 0.05) << "INT8 and FP32 predict about the same";
}

TEST_F(Tool, QuantizesAndInspects) {
  const std::string output = path("made.octavo"), card = text("card.json", R"({"data": "none"})");
  const std::vector<std::string> arguments = {"quantize",     test_data("tiny.safetensors"), "-o", output,
                                              "--vocabulary", test_data("tiny.spm")};
  const auto with = [&](std::initializer_list<std::string> more) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), more);
    return octavo_tool(std::move(all)).error;
  };
  EXPECT_EQ(with({"--config", test_data("tiny.json"), "--card", card}), "");
  const Ran listing = octavo_tool({"inspect", output, "--json"});
  EXPECT_EQ(listing.error, "");
  const json file = json::parse(listing.output);
  EXPECT_EQ(file["flavour"], "int8");
  EXPECT_EQ(file["bytes"], std::filesystem::file_size(output));
  EXPECT_EQ(file["shape"]["degree"], 3);
  EXPECT_EQ(file["description"]["card"]["data"], "none");
  EXPECT_NEAR(file["ratio"].get<double>(), file["fp32_bytes"].get<double>() / file["bytes"].get<double>(), 1e-9);
  EXPECT_NE(octavo_tool({"inspect", output}).output.find("ratio"), std::string::npos);

  EXPECT_NE(with({"--config", test_data("tiny-lm.json")}), "") << "another network's shape";
  EXPECT_NE(with({"--config", text("list.json", "[]")}).find("not a JSON object"), std::string::npos);
  EXPECT_NE(with({"--config", text("half.json", R"({"width": -16})")}).find("vocabulary"), std::string::npos);
}

TEST_F(Tool, QuantizesWithTheVocabularyOfAModel) {
  const auto quantized = [&](const std::string& vocabulary) {
    const Ran ran = octavo_tool({"quantize", test_data("tiny.safetensors"), "-o", path("made.octavo"), "--config",
                                 test_data("tiny.json"), "--vocabulary", vocabulary});
    return ran.error.empty() ? content(path("made.octavo")) : ran.error;
  };
  EXPECT_EQ(quantized(path("tiny.octavo")), quantized(test_data("tiny.spm")));
  EXPECT_NE(quantized(text("cut.octavo", "OCTAVO\r\n")).find("cut.octavo"), std::string::npos);
}

// Whoever repeats the comparison with FP32 compares with the file that people use.
TEST_F(Tool, TheShippedModelIsMadeOfTheWeightsBesideIt) {
  const std::string folder = OCTAVO_TEST_DATA "/../../models/en-de/";
  const Ran ran = octavo_tool({"quantize", folder + "weights.float16.safetensors", "--config", folder + "config.json",
                               "--vocabulary", folder + "model.octavo", "--card", folder + "card.json", "-o",
                               path("again.octavo")});
  EXPECT_EQ(ran.error, "");
  EXPECT_TRUE(content(path("again.octavo")) == content(folder + "model.octavo"));
}

// Printing JSON takes stack for every level of it.
TEST_F(Tool, EndlesslyNestedJsonIsOnlyText) {
  const std::string nested = std::string(200'000, '[') + std::string(200'000, ']');
  const auto weights = read_safetensors(test_data("tiny.safetensors"));
  ASSERT_TRUE(weights.ok());
  const auto bytes = make_model(Flavour::kInt8, shape_of(read_json("tiny.json")), *weights, nested, "x");
  ASSERT_TRUE(bytes.ok());
  write(path("nested.octavo"), *bytes);
  const Ran ran = octavo_tool({"inspect", path("nested.octavo"), "--json"});
  EXPECT_EQ(ran.error, "");
  EXPECT_EQ(json::parse(ran.output)["description"], nested);
  EXPECT_TRUE(parse_json(std::string(60, '[') + std::string(60, ']')).is_array());
}

}  // namespace
}  // namespace octavo
