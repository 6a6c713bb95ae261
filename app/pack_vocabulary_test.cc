#include "app/pack_vocabulary.h"

#include <gtest/gtest.h>

#include "tests/support/memory_files.h"
#include "tests/support/shell.h"

namespace muster {
namespace {

// A small vocabulary with <|endoftext|>, <|im_start|> and <|im_end|>.
const std::string kJson =
    testing_support::file_text(std::string(MUSTER_SOURCE_DIR) + "/testdata/tokenizers/qwen2.json");

class PackVocabularyOf : public ::testing::Test {
 protected:
  PackVocabularyOf() { files_.add("t/tokenizer.json", kJson); }
  Result<LoadedVocabulary> load(const std::string& eos = "", const std::string& path = "t") {
    return load_pack_vocabulary({path, eos}, files_);
  }
  MemoryFiles files_;
};

TEST_F(PackVocabularyOf, WhatIsNoTokenizerIsRefused) {
  files_.add("bad.json", "{");
  files_.add("empty/x", "");
  EXPECT_FALSE(load("", "bad.json"));
  EXPECT_EQ(load("", "none").error().code, Errc::not_found);
  EXPECT_EQ(load("", "empty").error().code, Errc::not_found);
  EXPECT_EQ(load("<no such token>").error().code, Errc::invalid_input);
  EXPECT_EQ(load("99999999").error().code, Errc::invalid_input);
  EXPECT_EQ(load("-1").error().code, Errc::invalid_input);
  files_.add("t/tokenizer_config.json", "{");
  EXPECT_FALSE(load());
}

TEST_F(PackVocabularyOf, TheUsualEosThenThatOfTheConfiguration) {
  files_.add("t/tokenizer_config.json", R"({"eos_token":"<|im_end|>","pad_token":"<|im_start|>"})");
  const auto loaded = load();
  ASSERT_TRUE(loaded) << loaded.error().context;
  EXPECT_EQ(loaded->eos_text, "<|endoftext|>");
  const std::int32_t usual = *loaded->vocabulary.eos.eos;
  EXPECT_EQ(load(std::to_string(usual))->eos_text, "<|endoftext|>");
  EXPECT_EQ(load("<|im_end|>")->eos_text, "<|im_end|>");
  EXPECT_NE(loaded->vocabulary.pad, usual);
  EXPECT_EQ(load("none")->vocabulary.eos.eos, std::nullopt);
  EXPECT_EQ(load("none")->eos_text, "");
  EXPECT_EQ(loaded->vocabulary.hash.size(), 32U);

  std::string other = kJson;  // without the usual one
  for (std::size_t at = other.find("<|endoftext|>"); at != std::string::npos;
       at = other.find("<|endoftext|>")) {
    other.replace(at, 13, "<|otherword|>");
  }
  files_.add("t/tokenizer.json", other);
  EXPECT_EQ(load()->eos_text, "<|im_end|>");
  files_.add("t/tokenizer_config.json", "{}");
  EXPECT_NE(load().error().context.find("--eos"), std::string::npos);
  EXPECT_EQ(load("<|im_end|>")->vocabulary.pad, *load("<|im_end|>")->vocabulary.eos.eos);
}

TEST_F(PackVocabularyOf, TemplatesThatAreNotDoneAreToldWhenAConversationComes) {
  EXPECT_FALSE(load()->vocabulary.chat);
  EXPECT_NE(load()->vocabulary.why_no_chat.find("no chat template"), std::string::npos);
  files_.add("t/tokenizer_config.json", R"({"chat_template":"[INST]"})");
  EXPECT_NE(load()->vocabulary.why_no_chat.find("Mistral"), std::string::npos);
  files_.add("t/chat_template.jinja", "<start_of_turn>");
  EXPECT_FALSE(load()->vocabulary.chat);
  EXPECT_NE(load()->vocabulary.why_no_chat.find("Gemma"), std::string::npos);
}

TEST_F(PackVocabularyOf, EncodersOfThreadsGiveTheSameIds) {
  const auto loaded = load();
  ASSERT_TRUE(loaded);
  std::vector<std::int32_t> a, b;
  EXPECT_TRUE(loaded->vocabulary.make_encoder()->encode("hello <|im_end|>", {}, a));
  std::vector<std::uint64_t> starts;
  EXPECT_TRUE(
      loaded->vocabulary.make_encoder()->encode_with_starts("hello <|im_end|>", {}, b, starts));
  EXPECT_EQ(a, b);
  EXPECT_EQ(starts.size(), b.size());
  EXPECT_LT(static_cast<std::uint64_t>(a.back()), loaded->vocabulary.count);
}

}  // namespace
}  // namespace muster
