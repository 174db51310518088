// Writes SVG, see plot.h.
#include "plot.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace bench {
namespace {

constexpr int kLeft = 330, kLongest = 420, kRight = 150, kLine = 15, kGap = 9, kTop = 44;
constexpr const char* kOurs = "#1b6ca8";
constexpr const char* kPeers[] = {"#e08e2b", "#8a8a8a", "#5b9c5a", "#9a6fb0"};

struct Bar {
  std::string name;
  double rate;
};

std::string escaped(const std::string& text) {
  std::string xml;
  for (const char c : text) {
    xml += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return xml;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string write(int x, int y, const std::string& what, const char* more = "") {
  return "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\"" + more + ">" +
         escaped(what) + "</text>\n";
}

std::string box(int x, int y, double width, int height, const std::string& colour) {
  return "<rect x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" width=\"" +
         number(width) + "\" height=\"" + std::to_string(height) + "\" fill=\"" + colour + "\"/>\n";
}

// Ours first, then the peers; kernels of ours that were forced are left to the table.
std::vector<Bar> bars_of(const Result& result) {
  std::vector<Bar> bars = {{"mygemm", result.rate}};
  for (const Measurement& peer : result.peers) {
    if (!peer.naive) bars.push_back({peer.name, peer.rate});
  }
  return bars;
}

std::string legend(const std::map<std::string, std::string>& colours) {
  std::string text;
  int x = kLeft;
  for (const auto& [name, colour] : colours) {
    text += box(x, 14, 12, 12, colour) + write(x + 18, 24, name);
    x += 40 + 8 * static_cast<int>(name.size());
  }
  return text;
}

}  // namespace

std::string speed_plot(const std::vector<Result>& results, const std::string& caption) {
  std::map<std::string, double> most;  // of each unit
  std::map<std::string, std::string> colours = {{"mygemm", kOurs}};
  for (const Result& result : results) {
    for (const Bar& bar : bars_of(result)) {
      most[result.unit] = std::max(most[result.unit], bar.rate);
      const size_t next = (colours.size() - 1) % std::size(kPeers);
      colours.emplace(bar.name, kPeers[next]);
    }
  }
  std::string body;
  int y = kTop;
  for (const Result& result : results) {
    if (!result.failure.empty()) continue;
    body += write(kLeft - 8, y + 11, result.operation + " " + result.label, " text-anchor=\"end\"");
    for (const Bar& bar : bars_of(result)) {
      const double width = std::max(1.0, kLongest * bar.rate / most[result.unit]);
      body +=
          box(kLeft, y, width, kLine - 3, colours[bar.name]) +
          write(kLeft + static_cast<int>(width) + 6, y + 11, number(bar.rate) + " " + result.unit);
      y += kLine;
    }
    y += kGap;
  }
  const std::string width = std::to_string(kLeft + kLongest + kRight);
  const std::string height = std::to_string(y + 24);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height +
         "\" viewBox=\"0 0 " + width + " " + height +
         "\" font-family=\"sans-serif\" font-size=\"11\">\n" +
         "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" + legend(colours) + body +
         write(8, y + 14, caption, " fill=\"#555555\" font-size=\"9\"") + "</svg>\n";
}

}  // namespace bench
