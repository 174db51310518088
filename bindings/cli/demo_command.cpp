// mygemm demo: the similarity of the paragraphs of text files. Reads files, calls similarity.h,
// prints the closest pairs and the times of the computation.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "commands.h"
#include "error.h"
#include "progress.h"
#include "run_call.h"
#include "similarity.h"
#include "text.h"

namespace mygemm::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMinWords = 8;  // headings and single lines are no paragraphs
constexpr size_t kSnippetLength = 60;

struct DemoOptions {
  std::vector<std::string> files;
  double temperature = 0.05;
  size_t pairs = 5;
  size_t max_paragraphs = 4096;
  size_t max_terms = 16384;
};

// The .md files of a folder and of its tree docs, in alphabetical order.
std::vector<std::string> documents_in(const fs::path& folder) {
  std::vector<std::string> documents;
  std::error_code no_such_folder;
  const auto add = [&documents](const fs::directory_entry& entry) {
    if (entry.path().extension() == ".md") documents.push_back(entry.path().string());
  };
  for (const auto& entry : fs::directory_iterator(folder, no_such_folder)) add(entry);
  for (const auto& entry : fs::recursive_directory_iterator(folder / "docs", no_such_folder)) {
    add(entry);
  }
  std::sort(documents.begin(), documents.end());
  return documents;
}

// The project's own documents: those installed with this program, else those of the source tree
// that it was built from.
std::vector<std::string> default_documents() {
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  const fs::path prefix = program.parent_path().parent_path();
  for (const fs::path& folder : {prefix / MYGEMM_CLI_DOCUMENTS, fs::path(MYGEMM_CLI_SOURCE)}) {
    std::vector<std::string> documents = documents_in(folder);
    if (!documents.empty()) return documents;
  }
  throw Error("the project's documents were not found; name text files: mygemm demo FILES");
}

std::string counted(size_t count, const char* noun) {
  return concat(count, " ", noun, count == 1 ? "" : "s");
}

std::vector<Paragraph> gather(const DemoOptions& options) {
  const std::vector<std::string> files =
      options.files.empty() ? default_documents() : options.files;
  std::vector<Paragraph> paragraphs;
  Progress progress("reading", static_cast<int64_t>(files.size()));
  for (const std::string& file : files) {
    for (Paragraph& paragraph : read_paragraphs(file, kMinWords)) {
      paragraphs.push_back(std::move(paragraph));
    }
    progress.advance();
  }
  if (paragraphs.size() < 2) {
    throw Error("found ", counted(paragraphs.size(), "paragraph"), " of ", kMinWords,
                " words or more in ", files.size() == 1 ? files[0] : counted(files.size(), "file"),
                "; comparing takes two");
  }
  std::printf("%s in %s", counted(paragraphs.size(), "paragraph").c_str(),
              counted(files.size(), "file").c_str());
  if (paragraphs.size() > options.max_paragraphs) {
    paragraphs.resize(options.max_paragraphs);
    std::printf(", of which the first %zu (--max-paragraphs)", options.max_paragraphs);
  }
  return paragraphs;
}

struct Pair {
  size_t i, j;
  float cosine;
};

std::vector<Pair> closest_pairs(const Bytes& cosines, size_t rows, size_t count) {
  const auto closer = [](const Pair& a, const Pair& b) { return a.cosine > b.cosine; };
  std::vector<Pair> closest;  // a heap whose front is the least close
  for (size_t i = 0; i < rows; ++i) {
    const auto row = cosines.as<float>().subspan(i * rows, rows);
    for (size_t j = i + 1; j < rows; ++j) {
      if (closest.size() == count && row[j] <= closest.front().cosine) continue;
      closest.push_back({i, j, row[j]});
      std::push_heap(closest.begin(), closest.end(), closer);
      if (closest.size() <= count) continue;
      std::pop_heap(closest.begin(), closest.end(), closer);
      closest.pop_back();
    }
  }
  std::sort_heap(closest.begin(), closest.end(), closer);
  return closest;
}

void print_paragraph(const Paragraph& paragraph, double share) {
  const std::string place =
      concat(fs::path(paragraph.file).filename().string(), ":", paragraph.line);
  std::printf("    %-28s %5.1f %%  %s\n", place.c_str(), 100 * share,
              snippet(paragraph, kSnippetLength).c_str());
}

void print_pairs(const std::vector<Paragraph>& paragraphs, const Similarity& similarity,
                 size_t count) {
  const size_t rows = paragraphs.size();
  const auto shares = similarity.shares.as<float>();
  std::printf("\nclosest pairs: cosine, and the share that the pair has of each one's softmax\n");
  for (const Pair& pair : closest_pairs(similarity.cosines, rows, count)) {
    std::printf("  %.3f\n", static_cast<double>(pair.cosine));
    print_paragraph(paragraphs[pair.i], static_cast<double>(shares[pair.i * rows + pair.j]));
    print_paragraph(paragraphs[pair.j], static_cast<double>(shares[pair.j * rows + pair.i]));
  }
}

void print_measurements(const std::vector<Measurement>& measurements) {
  std::printf("\n%-10s %-22s %12s %17s  %-20s %s\n", "operation", "size", "median time", "rate",
              "kernel", "error against FP64");
  for (const Measurement& m : measurements) {
    std::printf("%-10s %-22s %12s %9.1f %s  %-20s ", m.operation.c_str(), m.size.c_str(),
                duration(m.seconds).c_str(), m.work / m.seconds * 1e-9,
                m.counts_flops ? "GFLOP/s" : "GB/s   ", m.kernel.c_str());
    std::printf(m.max_error == 0 ? "none\n" : "at most %.1e\n", m.max_error);
  }
}

TermMatrix weighed(const std::vector<Paragraph>& paragraphs, size_t max_terms) {
  const Progress progress("weighing");
  return weigh_terms(paragraphs, max_terms);
}

void run_demo(const DemoOptions& options) {
  const std::vector<Paragraph> paragraphs = gather(options);
  const TermMatrix matrix = weighed(paragraphs, options.max_terms);
  const Session session;
  std::printf("; %lld terms; %s\n", static_cast<long long>(matrix.terms),
              session.memory() == Memory::kDevice ? "on the GPU" : "on the host");
  const Similarity similarity = compare_rows(session, matrix, options.temperature);
  print_pairs(paragraphs, similarity, options.pairs);
  print_measurements(similarity.measurements);
}

}  // namespace

void add_demo(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "demo",
      "How alike are the paragraphs of real text? A term-frequency matrix X, its "
      "transpose, S = X X' by sgemm, softmax of each row of S; the closest pairs, and "
      "for each operation its time, rate, kernel and error.");
  const auto options = std::make_shared<DemoOptions>();
  command->add_option("FILES", options->files, "text files (default: mygemm's own documents)");
  command->add_option("--pairs", options->pairs, "pairs to print")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--temperature", options->temperature, "of the softmax")
      ->check(CLI::Range(1e-3, 1e3))
      ->capture_default_str();
  command->add_option("--max-paragraphs", options->max_paragraphs, "further ones are left out")
      ->check(CLI::Range(2, 1 << 16))
      ->capture_default_str();
  command->add_option("--max-terms", options->max_terms, "rarer ones are left out")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->callback([options] { run_demo(*options); });
}

}  // namespace mygemm::cli
