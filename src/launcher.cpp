// See launcher.h.
#include "launcher.h"

#include <charconv>
#include <cstring>

namespace mygemm {
namespace {

// The variables of a launcher; nullptr where it has none.
struct Launcher {
  const char *local_rank, *rank, *local_size;
};

// A launcher of MPI comes before the batch system that it runs in, whose variables are those of the
// batch script then.
constexpr Launcher kLaunchers[] = {
    {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"},
    {"MPI_LOCALRANKID", "PMI_RANK", "MPI_LOCALNRANKS"},  // Hydra: MPICH, Intel MPI
    {"PALS_LOCAL_RANKID", "PALS_RANKID", "PALS_LOCAL_SIZE"},
    {"JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_LOCAL_SIZE"},
    {"FLUX_TASK_LOCAL_ID", "FLUX_TASK_RANK", nullptr},
    {"SLURM_LOCALID", "SLURM_PROCID", nullptr}};  // its size is a list of all nodes'

// `otherwise` for what is no number, or a negative one.
int number(const char* text, int otherwise) {
  if (text == nullptr) return otherwise;
  const char* const end = text + std::strlen(text);
  int value = 0;
  const auto [rest, error] = std::from_chars(text, end, value);
  return error == std::errc{} && rest == end && value >= 0 ? value : otherwise;
}

// The number for a node in Slurm's list: "4(x2),3" are 4, 4 and 3. 0 where the list has none.
int in_slurm_list(const char* list, int node) {
  if (list == nullptr || node < 0) return 0;
  const char* const end = list + std::strlen(list);
  while (list < end) {
    int value = 0;
    int times = 1;
    auto read = std::from_chars(list, end, value);
    if (read.ec != std::errc{}) return 0;
    if (end - read.ptr > 2 && read.ptr[0] == '(' && read.ptr[1] == 'x') {
      read = std::from_chars(read.ptr + 2, end, times);
      if (read.ec != std::errc{} || read.ptr == end || *read.ptr++ != ')') return 0;
    }
    if (node < times) return value;
    node -= times;
    list = read.ptr < end && *read.ptr == ',' ? read.ptr + 1 : end;
  }
  return 0;
}

}  // namespace

Place read_place(const char* (*variable)(const char* name)) {
  Place place;
  for (const Launcher& launcher : kLaunchers) {
    place.local_rank = number(variable(launcher.local_rank), -1);
    if (place.local_rank < 0) continue;
    place.rank = number(variable(launcher.rank), -1);
    if (launcher.local_size != nullptr) place.local_size = number(variable(launcher.local_size), 0);
    if (std::strcmp(launcher.local_rank, "SLURM_LOCALID") == 0) {
      place.local_size = in_slurm_list(variable("SLURM_STEP_TASKS_PER_NODE"),
                                       number(variable("SLURM_NODEID"), -1));
    }
    place.processors = number(variable("SLURM_CPUS_ON_NODE"), 0);
    break;
  }
  return place;
}

}  // namespace mygemm
