// Results as a figure in SVG: for each problem a bar of ours and one of each peer.
#pragma once

#include <string>
#include <vector>

#include "contest.h"

namespace bench {

// caption: the device, date and commit, below the bars. Bars of one unit have one scale.
std::string speed_plot(const std::vector<Result>& results, const std::string& caption);

}  // namespace bench
