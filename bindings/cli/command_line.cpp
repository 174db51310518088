// Checked numbers and sentences on invalid command lines, see command_line.h.
#include "command_line.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "command_tree.h"
#include "completion.h"
#include "manual.h"

namespace mygemm::cli {
namespace {

// Replaces a number by its plain decimal digits: CLI11 would read 010 as octal.
template <class Integer>
std::string check_integer(std::string* text, const char* rule) {
  const char* const end = text->data() + text->size();
  const char* const begin = text->data() + (text->starts_with('+') ? 1 : 0);
  Integer value = 0;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end) return *text + " is not " + rule;
  *text = std::to_string(value);
  return {};
}

// An infinity or a NaN in words is one.
std::string check_float(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const float value = std::strtof(text.c_str(), &end);
  if (text.empty() || *end != '\0') return text + " is not a number";
  if (errno != ERANGE || (!std::isinf(value) && value != 0)) return {};
  return text + " is out of the range of FP32, 1.4e-45 to 3.4e38";
}

// The least number of letters to insert, remove or replace, or of neighbours to swap, case ignored.
size_t distance(const std::string& given, const std::string& word) {
  const std::string a = CLI::detail::to_lower(given), b = CLI::detail::to_lower(word);
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  std::iota(d[0].begin(), d[0].end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

// "; did you mean sgemm?", or nothing where no word is near.
std::string suggestion(const std::string& unknown, const std::vector<std::string>& words) {
  const std::string* nearest = nullptr;
  size_t least = unknown.size() / 3 + 1;
  for (const std::string& word : words) {
    const size_t far = distance(unknown, word);
    if (far < least && far < word.size()) {
      least = far;
      nearest = &word;
    }
  }
  return nearest ? "; did you mean " + *nearest + "?" : std::string();
}

// The subcommand that the line reached.
const CLI::App* reached(const CLI::App* app) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return app;
}

std::string full_name(const CLI::App* app) {
  const CLI::App* parent = app->get_parent();
  return parent ? full_name(parent) + " " + app->get_name() : app->get_name();
}

std::vector<std::string> subcommands_of(const CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app->get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App* app) {
  std::vector<std::string> names;
  for (; app != nullptr; app = app->get_fallthrough() ? app->get_parent() : nullptr) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_snames()) names.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

std::string sentence(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = reached(&app);
  const std::string name = full_name(command);
  const std::vector<std::string> unknown = app.remaining(true);
  const std::vector<std::string> subcommands = subcommands_of(command);
  // CLI11 says first what is missing, and what is missing may be there, misspelled.
  const bool of_words = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                        dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (of_words && !unknown.empty()) {
    const std::string& word = unknown.front();
    if (word.starts_with('-')) {
      const std::string option = word.substr(0, word.find('='));
      return option + " is not an option of " + name + suggestion(option, options_of(command));
    }
    if (subcommands.empty()) return word + " is one argument too many for " + name;
    return word + " is not a subcommand of " + name + suggestion(word, subcommands);
  }
  if (of_words && !subcommands.empty()) {
    return name + " needs a subcommand: " + alternatives(subcommands);
  }
  return error.what();
}

}  // namespace

std::string alternatives(const std::vector<std::string>& words, const char* last_joint) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == words.size() ? last_joint : ", ") + words[i];
  }
  return text;
}

void check_numbers(CLI::App* app) {
  const auto check = [](CLI::Option* option) {
    const std::string type = option->get_type_name();  // that of the variable, by CLI11
    const auto starts = [&type](const char* name) { return type.rfind(name, 0) == 0; };
    if (starts("INT")) {
      option->transform(CLI::Validator(
          [](std::string& text) { return check_integer<int64_t>(&text, "an integer of 64 bits"); },
          "", ""));
    } else if (starts("UINT")) {
      option->transform(CLI::Validator(
          [](std::string& text) {
            return check_integer<uint64_t>(&text, "an integer of 64 bits that is not negative");
          },
          "", ""));
    } else if (starts("FLOAT")) {
      option->check(CLI::Validator([](std::string& text) { return check_float(text); }, "", ""));
    }
  };
  for (CLI::Option* option : app->get_options()) check(option);
  for (CLI::App* command : app->get_subcommands({})) check_numbers(command);
}

void add_descriptions(CLI::App* app, const std::string& version) {
  app->set_version_flag("-V,--version", version);
  // Such an exception ends the parsing, and its text is printed.
  app->add_flag_callback(
      "--manual",
      [app, version] { throw CLI::CallForVersion(manual_page(command_tree(app), version), 0); },
      "the manual page in roff: man -l <(" + app->get_name() + " --manual)");
  const auto complete = [app](const std::string& shell) {
    throw CLI::CallForVersion(completion(command_tree(app), shell), 0);
  };
  app->add_option_function<std::string>("--completion", complete,
                                        "the script of a shell that completes command lines")
      ->check(CLI::Validator(
          [](const std::string& shell) {
            const bool known = std::find(kShells.begin(), kShells.end(), shell) != kShells.end();
            return known ? std::string() : shell + " is none of " + alternatives(kShells, " and ");
          },
          "", ""))
      ->type_name(alternatives(kShells));
}

std::optional<int> parse(CLI::App* app, int argc, char** argv) {
  check_numbers(app);
  try {
    app->parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success& success) {
    return app->exit(success);
  } catch (const CLI::ParseError& error) {
    const std::string text = sentence(*app, error);
    std::fprintf(stderr, "%s: error: %s%s %s --help says more\n", app->get_name().c_str(),
                 text.c_str(), text.ends_with('?') ? "" : ";", full_name(reached(app)).c_str());
    return error.get_exit_code();
  }
}

}  // namespace mygemm::cli
