// Writes roff, see manual.h.
#include "manual.h"

#include <cctype>

namespace mygemm::cli {
namespace {

// Text whose characters all mean themselves. A line that begins with a period or an apostrophe
// would be a request.
std::string plain(const std::string& text) {
  std::string roff;
  for (const char c : text) {
    if (c == '\\') {
      roff += "\\e";
    } else if (c == '-') {
      roff += "\\-";
    } else {
      roff += c;
    }
  }
  return !roff.empty() && (roff[0] == '.' || roff[0] == '\'') ? "\\&" + roff : roff;
}

std::string bold(const std::string& text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + plain(text) + "\\fR"; }

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string words(const OptionText& option) {
  std::string text;
  for (const std::string& word : option.words) text += (text.empty() ? "" : ", ") + bold(word);
  return text.empty() ? "" : "; one of: " + text;
}

std::string synopsis(const Command& command) {
  std::string line = bold(command.path);
  if (!command.subcommands.empty()) line += " " + italic("SUBCOMMAND");
  for (const OptionText& argument : command.positionals) {
    const std::string name = italic(argument.argument) + (argument.many ? "..." : "");
    line += argument.required ? " " + name : " [" + name + "]";
  }
  for (const OptionText& option : command.options) {
    if (option.required) line += " " + bold(option.names[0]) + " " + italic(option.argument);
  }
  return line + " [" + italic("OPTION") + "]...";
}

void write_options(const Command& command, std::string* page) {
  for (const OptionText& argument : command.positionals) {
    *page += ".TP\n" + italic(argument.argument) + "\n" + plain(argument.description) + "\n";
  }
  for (const OptionText& option : command.options) {
    std::string names;
    for (const std::string& name : option.names) {
      names += (names.empty() ? "" : ", ") + bold(name);
    }
    if (!option.argument.empty()) names += " " + italic(option.argument);
    const std::string text = plain(option.description) + words(option);
    *page += ".TP\n" + names + "\n" + (text.empty() ? "As above." : text) + "\n";
  }
}

}  // namespace

std::string manual_page(const Command& program, const std::string& version) {
  const std::string& about = program.description;
  std::string page = ".TH " + upper(program.name) + " 1 \"\" \"" + version + "\"\n";
  page += ".SH NAME\n" + plain(program.name) + " \\- " +
          plain(about.substr(0, about.find_last_not_of('.') + 1)) + "\n";
  page += ".SH SYNOPSIS\n" + synopsis(program) + "\n.SH OPTIONS\n";
  write_options(program, &page);
  page += ".SH SUBCOMMANDS\n";
  for (const Command* command : all_commands(program)) {
    if (command == &program) continue;
    page += ".SS " + plain(command->path) + "\n" + synopsis(*command) + "\n.PP\n" +
            plain(command->description) + "\n";
    if (command->options_of_parent) page += "The options of " + bold(program.name) + " as well.\n";
    write_options(*command, &page);
  }
  page +=
      ".SH EXIT STATUS\n.TP\n.B 0\nThe work is done.\n.TP\n.B 1\\fR or \\fB2\nIt failed; a "
      "line on standard error says why.\n.TP\n.B 100\\fR and up\nThe command line cannot be "
      "read.\n";
  page += ".SH SEE ALSO\nThe documents, in\n.I share/doc/mygemm\nof the installation.\n";
  return page;
}

}  // namespace mygemm::cli
