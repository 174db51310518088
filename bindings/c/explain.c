/*
 * Which kernel would an H200 run, and why? Answered on any machine. Then the same with a kernel
 * forced, as users do it: MYGEMM_FORCE_GEMM=tiled ./program
 */
#define _POSIX_C_SOURCE 200112L /* setenv */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "example.h"

/* The plan of a 1000 x 1000 x 1000 product as text, for free(). */
static char* explain_product(mygemmHandle_t handle, const char* device) {
  const mygemmOperation_t n = MYGEMM_OP_N;
  size_t length;
  char* text;
  check(mygemm_explain_sgemm(handle, device, n, n, 1000, 1000, 1000, NULL, 1000, 0, NULL, 1000, 0,
                             NULL, 1000, 0, 1, NULL, 0, &length));
  text = (char*)host_memory(length + 1);
  check(mygemm_explain_sgemm(handle, device, n, n, 1000, 1000, 1000, NULL, 1000, 0, NULL, 1000, 0,
                             NULL, 1000, 0, 1, text, length + 1, NULL));
  expect(strlen(text) == length, "the length of the text");
  return text;
}

/* The chosen kernel has the lowest estimate of those that the text lists. */
static void expect_fastest_chosen(const char* text) {
  char chosen[64], name[64];
  double estimate, lowest = 0, of_chosen = 0;
  const char* line = strstr(text, "\nall kernels:\n");
  expect(sscanf(text, "chosen: %63s", chosen) == 1 && line != NULL, "the form of the text");
  for (line = strchr(line + 1, '\n'); line != NULL; line = strchr(line + 1, '\n')) {
    if (sscanf(line, "%63s %lf us", name, &estimate) != 2) continue; /* cannot run */
    if (lowest == 0 || estimate < lowest) lowest = estimate;
    if (strcmp(name, chosen) == 0) of_chosen = estimate;
  }
  expect(lowest > 0 && of_chosen == lowest, "another kernel is estimated to be faster");
}

int main(void) {
  mygemmConfig_t config = MYGEMM_CONFIG_INIT;
  mygemmHandle_t handle;
  char* text = explain_product(NULL, "H200");
  printf("%s\n", text);
  expect_fastest_chosen(text);
  free(text);

  /* The environment is read when a handle is created. A host handle can be asked about any GPU. */
  expect(setenv("MYGEMM_FORCE_GEMM", "tiled", 1) == 0, "the environment cannot be changed");
  config.backend = MYGEMM_BACKEND_HOST;
  check(mygemm_create_with_config(&handle, &config));
  text = explain_product(handle, "H200");
  printf("With MYGEMM_FORCE_GEMM=tiled:\n%.*s\n", (int)strcspn(text, "\n"), text);
  expect(strncmp(text, "chosen: tiled ", 14) == 0, "a forced kernel was not chosen");
  free(text);
  check(mygemm_destroy(handle));
  return 0;
}
