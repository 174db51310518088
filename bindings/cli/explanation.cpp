// The lines of an explanation as JSON and as bars, see explanation.h.
#include "explanation.h"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string_view>
#include <vector>

#include "error.h"

namespace mygemm::cli {
namespace {

std::string quoted(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      json += code;
    } else {
      json += c;
    }
  }
  return json + '"';
}

std::string field(std::string_view name, const std::string& json) {
  return concat(quoted(name), ": ", json);
}

// The text from `begin` to the next `end`, or to the text's end.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const size_t found = text.find(begin);
  if (found == std::string_view::npos) return {};
  const std::string_view rest = text.substr(found + begin.size());
  return rest.substr(0, rest.find(end));
}

// "NAME (estimated 1.50 us, workspace 0 bytes)" or "none (the reason)".
std::string chosen_fields(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(' '));
  if (name == "none") {
    const size_t begin = text.find('(') + 1;
    return concat(field("kernel", "null"), ", ",
                  field("reason", quoted(text.substr(begin, text.rfind(')') - begin))));
  }
  const bool forced = text.find(", forced by the environment") != std::string_view::npos;
  return concat(field("kernel", quoted(name)), ", ",
                field("estimated_us", std::string(between(text, "(estimated ", " us"))), ", ",
                field("workspace_bytes", std::string(between(text, ", workspace ", " bytes"))),
                ", ", field("forced", forced ? "true" : "false"));
}

// "  NAME  1.50 us: config; figures" or "  NAME  cannot run: the reason".
std::string kernel_object(std::string_view line) {
  line.remove_prefix(line.find_first_not_of(' '));
  const std::string_view name = line.substr(0, line.find(' '));
  std::string_view rest = line.substr(name.size());
  rest.remove_prefix(rest.find_first_not_of(' '));
  const std::string begin = concat("{", field("name", quoted(name)), ", ");
  constexpr std::string_view kRefused = "cannot run: ";
  if (rest.starts_with(kRefused)) {
    return concat(begin, field("cannot_run", quoted(rest.substr(kRefused.size()))), "}");
  }
  const std::string_view plan = between(rest, " us: ", "\n");
  const size_t figures = plan.rfind("; ");
  return concat(begin, field("estimated_us", std::string(rest.substr(0, rest.find(' ')))), ", ",
                field("config", quoted(plan.substr(0, figures))), ", ",
                field("figures", quoted(plan.substr(figures + 2))), "}");
}

struct Estimate {
  std::string name;
  double microseconds = 0;
};

}  // namespace

std::string to_bars(const std::string& explanation) {
  std::istringstream lines(explanation);
  std::vector<Estimate> estimates;
  size_t refused = 0;
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ")) {
      if (line != "all kernels:") text += line + "\n";
    } else if (line.find(" cannot run: ") != std::string::npos) {
      ++refused;
    } else {
      Estimate estimate;
      std::istringstream(line) >> estimate.name >> estimate.microseconds;
      estimates.push_back(estimate);
    }
  }
  std::stable_sort(estimates.begin(), estimates.end(), [](const Estimate& a, const Estimate& b) {
    return a.microseconds < b.microseconds;
  });
  text += "speed of the kernels, by their estimates:\n";
  for (const Estimate& estimate : estimates) {
    constexpr double kLongest = 48;
    const double speed = estimates.front().microseconds / estimate.microseconds;
    const std::string bar(std::max<size_t>(1, static_cast<size_t>(kLongest * speed + 0.5)), '#');
    char line[128];
    std::snprintf(line, sizeof line, "  %-22s %-48s %10.2f us\n", estimate.name.c_str(),
                  bar.c_str(), estimate.microseconds);
    text += line;
  }
  return concat(text, "cannot run: ", refused, refused == 1 ? " kernel\n" : " kernels\n");
}

std::string to_json(const std::string& explanation) {
  std::istringstream lines(explanation);
  std::string fields, kernels;
  for (std::string line; std::getline(lines, line);) {
    const std::string_view text = line;
    const size_t colon = text.find(": ");
    if (text.starts_with("  ")) {
      kernels += concat(kernels.empty() ? "\n    " : ",\n    ", kernel_object(text));
    } else if (text.starts_with("chosen: ")) {
      fields += concat("  ", chosen_fields(text.substr(colon + 2)), ",\n");
    } else if (colon != std::string_view::npos) {
      fields += concat("  ", field(text.substr(0, colon), quoted(text.substr(colon + 2))), ",\n");
    }
  }
  return concat("{\n", fields, "  ", field("kernels", concat("[", kernels, "]")), "\n}\n");
}

}  // namespace mygemm::cli
