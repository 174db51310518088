// Unit tests: the place of a process in a job, from the variables of launchers.
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "launcher.h"

namespace mygemm {
namespace {

std::map<std::string, std::string> variables;

Place place(std::map<std::string, std::string> set) {
  variables = std::move(set);
  return read_place([](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

void expect(const Place& place, int rank, int local_rank, int local_size) {
  EXPECT_EQ(place.rank, rank);
  EXPECT_EQ(place.local_rank, local_rank);
  EXPECT_EQ(place.local_size, local_size);
}

TEST(Launcher, IsNotThereInAProgramStartedPlainly) {
  EXPECT_FALSE(place({}).is_known());
  expect(place({{"PMIX_RANK", "3"}, {"OMPI_COMM_WORLD_RANK", "3"}}), -1, -1, 0);
}

TEST(Launcher, IsKnownByItsVariables) {
  expect(place({{"OMPI_COMM_WORLD_RANK", "9"},
                {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                {"OMPI_COMM_WORLD_LOCAL_SIZE", "8"}}),
         9, 1, 8);
  expect(place({{"PMI_RANK", "5"}, {"MPI_LOCALRANKID", "2"}, {"MPI_LOCALNRANKS", "3"}}), 5, 2, 3);
  expect(place({{"PALS_RANKID", "7"}, {"PALS_LOCAL_RANKID", "3"}}), 7, 3, 0);
  expect(place({{"FLUX_TASK_RANK", "4"}, {"FLUX_TASK_LOCAL_ID", "0"}}), 4, 0, 0);
}

TEST(Launcher, HasItsSizeInAListUnderSlurm) {
  std::map<std::string, std::string> step = {{"SLURM_PROCID", "9"},
                                             {"SLURM_LOCALID", "1"},
                                             {"SLURM_NODEID", "2"},
                                             {"SLURM_CPUS_ON_NODE", "16"},
                                             {"SLURM_STEP_TASKS_PER_NODE", "4(x2),3"}};
  expect(place(step), 9, 1, 3);
  EXPECT_EQ(place(step).processors, 16);
  step["SLURM_NODEID"] = "1";
  expect(place(step), 9, 1, 4);
  for (const char* bad : {"", "x", "4(x", "4(x2", "4(x2),", ",", "4", "4(x99999999999999)"}) {
    step["SLURM_NODEID"] = "5";
    step["SLURM_STEP_TASKS_PER_NODE"] = bad;
    expect(place(step), 9, 1, 0);
  }
  // A batch script has a local rank, but is not one of the job's tasks.
  step.erase("SLURM_STEP_TASKS_PER_NODE");
  expect(place(step), 9, 1, 0);
}

TEST(Launcher, OfMpiComesBeforeTheBatchSystem) {
  expect(place({{"SLURM_PROCID", "0"},
                {"SLURM_LOCALID", "0"},
                {"OMPI_COMM_WORLD_RANK", "3"},
                {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
                {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}),
         3, 3, 4);
}

TEST(Launcher, WithNoNumbersIsNone) {
  for (const char* bad : {"", "-1", "one", "1 ", "99999999999"}) {
    EXPECT_FALSE(place({{"OMPI_COMM_WORLD_LOCAL_RANK", bad}}).is_known()) << bad;
  }
}

}  // namespace
}  // namespace mygemm
