// Explanations of the library as JSON and as bars. Pure.
#pragma once

#include <string>

namespace mygemm::cli {

// One object: kernel (null, with reason, where none runs the call), estimated_us, workspace_bytes,
// forced; call, device and further lines by their names; kernels, each with name and either
// estimated_us, config and figures or cannot_run.
std::string to_json(const std::string& explanation);

// The lines about the call, then a bar for each kernel that can run it, as long as it is fast, the
// fastest first.
std::string to_bars(const std::string& explanation);

}  // namespace mygemm::cli
