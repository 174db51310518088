// Reads a CLI::App, see command_tree.h.
#include "command_tree.h"

#include <algorithm>
#include <regex>

namespace mygemm::cli {
namespace {

// The words of "N, T or C" and of CLI11's "TEXT:{tiny,squares}"; none of other names of types.
std::vector<std::string> words_of(const std::string& type) {
  static const std::regex list(R"([^{]*\{(.*)\}.*)"), choice(R"((.*,.*|[^ ]+) or [^ ]+)");
  static const std::regex joint(R"(,\s*|\s+or\s+)");
  std::smatch match;
  std::string text;
  if (std::regex_match(type, match, list)) {
    text = match[1];
  } else if (std::regex_match(type, choice)) {
    text = type;
  } else {
    return {};
  }
  return {std::sregex_token_iterator(text.begin(), text.end(), joint, -1), {}};
}

OptionText describe(const CLI::Option* option) {
  OptionText text;
  for (const std::string& name : option->get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option->get_lnames()) text.names.push_back("--" + name);
  text.description = option->get_description();
  text.required = option->get_required();
  text.many = option->get_expected_max() > 1;
  if (option->get_items_expected_max() == 0) return text;
  const std::string type = option->get_type_name();
  text.words = words_of(type);
  text.argument = text.words.empty() ? type.substr(0, type.find(':')) : "WORD";
  if (text.names.empty() && text.argument == "TEXT") text.argument = option->get_name();
  text.file =
      text.argument.ends_with(".npy") || text.argument == "FILES" || text.argument == "FILE";
  return text;
}

Command describe(const CLI::App* app, const std::string& parent) {
  Command command;
  command.name = app->get_name();
  command.path = parent.empty() ? command.name : parent + " " + command.name;
  command.description = app->get_description();
  command.options_of_parent = app->get_fallthrough() && !parent.empty();
  for (const CLI::Option* option : app->get_options()) {
    (option->get_positional() ? command.positionals : command.options).push_back(describe(option));
  }
  for (const CLI::App* below : app->get_subcommands([](const CLI::App*) { return true; })) {
    command.subcommands.push_back(describe(below, command.path));
  }
  return command;
}

void append(const Command& command, std::vector<const Command*>* all) {
  all->push_back(&command);
  for (const Command& below : command.subcommands) append(below, all);
}

}  // namespace

Command command_tree(const CLI::App* app) { return describe(app, ""); }

std::vector<const Command*> all_commands(const Command& top) {
  std::vector<const Command*> all;
  append(top, &all);
  return all;
}

std::vector<OptionText> options_at(const Command& top, const Command& command) {
  std::vector<OptionText> options = command.options;
  if (!command.options_of_parent) return options;
  for (const OptionText& option : top.options) {
    const bool own = std::any_of(options.begin(), options.end(),
                                 [&](const OptionText& o) { return o.names == option.names; });
    if (!own) options.push_back(option);
  }
  return options;
}

}  // namespace mygemm::cli
