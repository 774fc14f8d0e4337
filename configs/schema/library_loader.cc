#include "configs/schema/library_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include "configs/schema/library_words.h"
#include "configs/schema/quantity.h"
#include "configs/schema/root.h"
#include "configs/schema/schema.h"

namespace ringpost::config {
namespace {

constexpr const char* kBlocks[] = {"transport", "proxy", "workload"};

template <class Words>
std::vector<std::string> NamesOf(const Words& words) {
  std::vector<std::string> names;
  for (const LibraryWord& word : words) names.push_back(word.name);
  return names;
}

// Who may have lists: those that post, and those that hand over to a proxy.
std::vector<std::string> Posters() {
  std::vector<std::string> all;
  for (const Key<Config>& key : Keys()) {
    if (key.info.path == "transport.publication" || key.info.path == "proxy.handoff") {
      all.insert(all.end(), key.info.words.begin(), key.info.words.end());
    }
  }
  return all;
}

class Reader {
 public:
  Reader(const std::string& path, Library& library, std::set<std::string> derived)
      : yaml_(ReadYaml(path)), library_(library), files_(std::move(derived)) {
    std::error_code error;
    files_.insert(std::filesystem::weakly_canonical(path, error).string());
  }

  void Read() {
    const std::vector<MapItem> items = ItemsOf(yaml_, yaml_.root, "");
    for (const MapItem& item : items) {
      if (item.key == "base") ReadBase(item);
    }
    for (const MapItem& item : items) ReadItem(item);
    if (!has_operations_) return;
    for (const char* key : {"repository", "commit"}) {
      if (yaml_.root[key].IsDefined()) continue;
      Fail(yaml_.root, key, {"is not there", "say where the operations were read from"});
    }
  }

 private:
  [[noreturn]] void Fail(const YAML::Node& node, const std::string& key, const ValueError& error) {
    throw ConfigError(yaml_.At(node), key, error);
  }

  void ReadItem(const MapItem& item) {
    const bool is_block =
        std::find(std::begin(kBlocks), std::end(kBlocks), item.key) != std::end(kBlocks);
    if (is_block) {
      library_.presets.push_back({yaml_, item.key, item.value});
    } else if (item.key == "operations") {
      has_operations_ = true;
      for (const MapItem& who : ItemsOf(yaml_, item.value, item.key)) ReadPoster(who);
    } else if (item.key == "commit") {
      const std::string commit = ScalarOf(yaml_, item.value, item.key, kCommit);
      const bool is_hash =
          commit.size() == 40 && commit.find_first_not_of("0123456789abcdef") == std::string::npos;
      if (!is_hash) {
        Fail(item.value, item.key, {fmt::format("'{}' is not one", commit), kCommit});
      }
    } else if (item.key == "repository") {
      ScalarOf(yaml_, item.value, item.key, "give owner/name");
    } else if (item.key != "base") {
      std::vector<std::string> known(std::begin(kBlocks), std::end(kBlocks));
      known.insert(known.end(), {"base", "repository", "commit", "operations"});
      Fail(item.key_node, item.key, {"there is no such key", Suggestion(item.key, known)});
    }
  }

  void ReadBase(const MapItem& item) {
    const std::string name = ScalarOf(yaml_, item.value, "base", "name a library");
    const std::string path = LibraryPath(name);
    if (!std::filesystem::exists(path)) {
      Fail(item.value, "base",
           {fmt::format("there is no library '{}'", name), Suggestion(name, LibraryNames())});
    }
    std::error_code error;
    if (files_.contains(std::filesystem::weakly_canonical(path, error).string())) {
      Fail(item.value, "base",
           {fmt::format("{} would be a base of itself", name), "name another library"});
    }
    Reader(path, library_, files_).Read();
  }

  void ReadPoster(const MapItem& who) {
    const std::string path = "operations." + who.key;
    const std::vector<std::string> known = Posters();
    if (std::find(known.begin(), known.end(), who.key) == known.end()) {
      Fail(who.key_node, path, {"nobody is called so", Suggestion(who.key, known)});
    }
    sim::OperationLists& lists = library_.operations[who.key];
    for (const MapItem& step : ItemsOf(yaml_, who.value, path)) {
      const std::string step_path = path + "." + step.key;
      const size_t index =
          IndexOf(step.key_node, step.key, kStepWords, step_path, "there is no such step");
      ReadList(step.value, step_path, static_cast<Step>(index), lists);
    }
  }

  template <class Words>
  size_t IndexOf(const YAML::Node& node, const std::string& word, const Words& words,
                 const std::string& path, const std::string& wrong) {
    const std::vector<std::string> names = NamesOf(words);
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end()) Fail(node, path, {wrong, Suggestion(word, names)});
    return static_cast<size_t>(found - names.begin());
  }

  void ReadList(const YAML::Node& node, const std::string& path, Step step,
                sim::OperationLists& lists) {
    if (!node.IsSequence()) {
      Fail(node, path, {"is not a list", "start each operation with '-'"});
    }
    for (size_t i = 0; i < node.size(); ++i) {
      const std::string at = fmt::format("{}[{}]", path, i);
      const sim::Operation operation = ReadOperation(node[i], at);
      // A loop that looks may do nothing but look, or it could not wait without running.
      const bool looks = operation.kind == sim::OperationKind::kLoadGpu ||
                         operation.kind == sim::OperationKind::kLoadLocal;
      if (step == Step::kPoll && !looks) {
        Fail(node[i], at, {"is no load, and each look is one", "use load_gpu or load_local"});
      }
      lists.At(step).push_back(operation);
    }
  }

  sim::Operation ReadOperation(const YAML::Node& node, const std::string& path) {
    sim::Operation operation{};
    std::set<std::string> seen;
    for (const MapItem& item : ItemsOf(yaml_, node, path)) {
      const std::string at = path + "." + item.key;
      seen.insert(item.key);
      if (item.key == "op") {
        const std::string word = ScalarOf(yaml_, item.value, at, "name an operation");
        operation.kind = static_cast<sim::OperationKind>(
            IndexOf(item.value, word, kOperationWords, at, "there is no such operation"));
      } else if (item.key == "count") {
        operation.count = Count(item, at);
      } else if (item.key == "source") {
        CheckSource(item, at);
      } else {
        Fail(item.key_node, at, {"there is no such key", "use op, count and source"});
      }
    }
    for (const char* key : {"op", "count", "source"}) {
      if (!seen.contains(key)) Fail(node, path, {fmt::format("has no {}", key), "add it"});
    }
    return operation;
  }

  uint32_t Count(const MapItem& item, const std::string& path) {
    constexpr double kMost = 1000;
    const std::string right = "give a whole number from 1 to 1000";
    const std::string text = ScalarOf(yaml_, item.value, path, right);
    double number = 0;
    const bool whole = ParseNumber(text, number) && number >= 1 && number <= kMost &&
                       number == static_cast<uint32_t>(number);
    if (!whole) Fail(item.value, path, {fmt::format("'{}' is no count", text), right});
    return static_cast<uint32_t>(number);
  }

  void CheckSource(const MapItem& item, const std::string& path) {
    const std::string right = "give file: function of the repository";
    const std::string text = ScalarOf(yaml_, item.value, path, right);
    const size_t colon = text.find(": ");
    if (colon == 0 || colon == std::string::npos || colon + 2 >= text.size()) {
      Fail(item.value, path, {fmt::format("'{}' names no file and function", text), right});
    }
  }

  static constexpr char kCommit[] = "give the 40 hexadecimal digits of a commit";

  const YamlText yaml_;
  Library& library_;
  std::set<std::string> files_;
  bool has_operations_ = false;
};

}  // namespace

Library LoadLibrary(const std::string& name) {
  Library library;
  Reader(LibraryPath(name), library, {}).Read();
  return library;
}

std::string CanonicalText(const sim::OperationLists& lists) {
  std::string text;
  for (uint32_t step = 0; step < kSteps; ++step) {
    std::string line;
    for (const sim::Operation& operation : lists.At(static_cast<Step>(step))) {
      line +=
          fmt::format("{} {} {}", line.empty() ? "" : ",",
                      kOperationWords[static_cast<size_t>(operation.kind)].name, operation.count);
    }
    if (!line.empty()) text += fmt::format("{}:{}\n", kStepWords[step].name, line);
  }
  return text;
}

}  // namespace ringpost::config
