// Writes the scripts of completion.h. All three find the subcommand that the line has reached, and
// look up what may follow there.
#include "completion.h"

#include <algorithm>

namespace mygemm::cli {
namespace {

std::string joined(const std::vector<std::string>& words, const char* joint = " ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : joint) + word;
  return text;
}

// A word of a shell.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

// A function's name, which has no hyphens.
std::string identifier(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return "_" + name;
}

std::vector<std::string> names_of(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  return names;
}

// Patterns of `case` for all subcommands, each with the path that leads to it.
std::string paths(const Command& program) {
  std::vector<std::string> patterns;
  for (const Command* command : all_commands(program)) {
    if (command != &program) patterns.push_back(quoted(command->path));
  }
  return joined(patterns, " | ");
}

std::string bash(const Command& program) {
  std::string values, options, words;
  for (const Command* command : all_commands(program)) {
    std::vector<std::string> all;
    for (const OptionText& option : options_at(program, *command)) {
      all.insert(all.end(), option.names.begin(), option.names.end());
      if (option.argument.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names) {
        patterns.push_back(quoted(command->path + " " + name));
      }
      values += "    " + joined(patterns, " | ") + ") ";
      values += option.file ? "COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n"
                            : "COMPREPLY=($(compgen -W " + quoted(joined(option.words)) +
                                  " -- \"$word\")); return ;;\n";
    }
    options += "      " + quoted(command->path) + ") known=" + quoted(joined(all)) + " ;;\n";
    if (!command->subcommands.empty()) {
      words += "      " + quoted(command->path) +
               ") known=" + quoted(joined(names_of(command->subcommands))) + " ;;\n";
    }
  }
  const std::string name = identifier(program.name);
  return "# Completion of " + program.name + " for bash.\n" + name + "() {\n" +
         "  local word=${COMP_WORDS[COMP_CWORD]} at=" + program.name + " known= i\n" +
         "  COMPREPLY=()\n" +
         "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
         "    case \"$at ${COMP_WORDS[i]}\" in\n      " +
         paths(program) +
         ") at+=\" ${COMP_WORDS[i]}\" ;;\n    esac\n  done\n"
         "  case \"$at ${COMP_WORDS[COMP_CWORD - 1]}\" in\n" +
         values +
         "  esac\n"
         "  if [[ $word == -* ]]; then\n    case $at in\n" +
         options + "    esac\n  else\n    case $at in\n" + words +
         "      *) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n    esac\n  fi\n"
         "  COMPREPLY=($(compgen -W \"$known\" -- \"$word\"))\n}\n" +
         "complete -o filenames -F " + name + " " + program.name + "\n";
}

std::string fish(const Command& program) {
  const std::string at = "_" + identifier(program.name) + "_at";
  std::string text = "# Completion of " + program.name + " for fish.\n";
  text += "function " + at + "\n  set -l at " + program.name +
          "\n  for word in (commandline -opc)[2..-1]\n    switch \"$at $word\"\n      case ";
  std::vector<std::string> patterns;
  for (const Command* command : all_commands(program)) {
    if (command != &program) patterns.push_back(quoted(command->path));
  }
  text += joined(patterns) +
          "\n        set at \"$at $word\"\n    end\n  end\n  test \"$at\" = \"$argv[1]\"\nend\n";
  for (const Command* command : all_commands(program)) {
    const std::string line =
        "complete -c " + program.name + " -n " + quoted(at + " " + quoted(command->path));
    if (!command->subcommands.empty()) text += line + " -f\n";
    for (const Command& below : command->subcommands) {
      text += line + " -a " + below.name + " -d " + quoted(below.description) + "\n";
    }
    for (const OptionText& option : options_at(program, *command)) {
      text += line;
      for (const std::string& name : option.names) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (option.file) {
        text += " -r -F";
      } else if (!option.argument.empty()) {
        text += " -x";
        if (!option.words.empty()) text += " -a " + quoted(joined(option.words));
      }
      text += " -d " + quoted(option.description) + "\n";
    }
  }
  return text;
}

// A description within an argument of _arguments, where colons and brackets have a meaning.
std::string described(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string zsh_value(const OptionText& option) {
  const std::string name = described(option.argument);
  if (option.file) return ":" + name + ":_files";
  return ":" + name + ":" + (option.words.empty() ? "" : "(" + joined(option.words) + ")");
}

// Functions of the names of the commands' paths, the deepest first.
void zsh_function(const Command& program, const Command& command, std::string* text) {
  for (const Command& below : command.subcommands) zsh_function(program, below, text);
  std::string path = command.path;
  std::replace(path.begin(), path.end(), ' ', '_');
  const std::string name = identifier(path);
  *text += name + "() {\n  local context state state_descr line\n  typeset -A opt_args\n" +
           "  _arguments -C";
  for (const OptionText& option : options_at(program, command)) {
    for (const std::string& spelling : option.names) {
      *text += " \\\n    " + quoted("(" + joined(option.names) + ")" + spelling + "[" +
                                    described(option.description) + "]" +
                                    (option.argument.empty() ? "" : zsh_value(option)));
    }
  }
  for (const OptionText& argument : command.positionals) {
    *text += " \\\n    " + quoted((argument.many ? "*" : "") + zsh_value(argument));
  }
  if (command.subcommands.empty()) {
    *text += "\n}\n";
    return;
  }
  *text +=
      " \\\n    '1: :->command' '*:: :->arguments'\n  case $state in\n    command)\n"
      "      local -a commands=(\n";
  for (const Command& below : command.subcommands) {
    *text += "        " + quoted(below.name + ":" + below.description) + "\n";
  }
  *text +=
      "      )\n      _describe subcommand commands ;;\n    arguments)\n"
      "      case $words[1] in\n";
  for (const Command& below : command.subcommands) {
    *text += "        " + below.name + ") " + name + "_" + below.name + " ;;\n";
  }
  *text += "      esac ;;\n  esac\n}\n";
}

std::string zsh(const Command& program) {
  std::string text =
      "#compdef " + program.name + "\n# Completion of " + program.name + " for zsh.\n";
  zsh_function(program, program, &text);
  return text + "if [[ $funcstack[1] == _" + program.name + " ]]; then\n  " +
         identifier(program.name) + " \"$@\"\nelse\n  compdef " + identifier(program.name) + " " +
         program.name + "\nfi\n";
}

}  // namespace

std::string completion(const Command& program, const std::string& shell) {
  return shell == "bash" ? bash(program) : shell == "fish" ? fish(program) : zsh(program);
}

}  // namespace mygemm::cli
