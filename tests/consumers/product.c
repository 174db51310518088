/*
 * A consumer of the installed library, in C99: a 2 x 2 product, a softmax and a transpose on the
 * host backend, each compared with numbers worked out by hand.
 */
#include <math.h>
#include <stdio.h>

#include <mygemm/mygemm.h>

static int failures = 0;

static void expect(const char* what, mygemmStatus_t status, const float* got, const float* wanted,
                   int count) {
  if (status != MYGEMM_STATUS_SUCCESS) {
    fprintf(stderr, "%s: %s: %s\n", what, mygemm_status_string(status), mygemm_last_error());
    ++failures;
    return;
  }
  for (int i = 0; i < count; ++i) {
    if (!(fabsf(got[i] - wanted[i]) <= 1e-6f)) {
      fprintf(stderr, "%s: element %d is %g instead of %g\n", what, i, got[i], wanted[i]);
      ++failures;
    }
  }
}

int main(void) {
  mygemmConfig_t config = MYGEMM_CONFIG_INIT;
  mygemmHandle_t handle;
  config.backend = MYGEMM_BACKEND_HOST;
  if (mygemm_create_with_config(&handle, &config) != MYGEMM_STATUS_SUCCESS) {
    fprintf(stderr, "no handle: %s\n", mygemm_last_error());
    return 1;
  }

  /* Column-major: A = [1 3; 2 4], B = [5 7; 6 8], 2 A B + C with C = [1 1; 1 1]. */
  const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, alpha = 2, beta = 1;
  float c[] = {1, 1, 1, 1};
  const float product[] = {47, 69, 63, 93};
  expect("sgemm",
         mygemm_sgemm(handle, MYGEMM_OP_N, MYGEMM_OP_N, 2, 2, 2, &alpha, a, 2, b, 2, &beta, c, 2),
         c, product, 4);

  const float logits[] = {0, logf(3)};
  float weights[2];
  const float quarters[] = {0.25f, 0.75f};
  expect("softmax",
         mygemm_softmax(handle, MYGEMM_SOFTMAX, 1, 2, 1.0f, logits, MYGEMM_R_32F, 2, weights,
                        MYGEMM_R_32F, 2),
         weights, quarters, 2);

  const float rows[] = {1, 2, 3, 4, 5, 6}, columns[] = {1, 4, 2, 5, 3, 6};
  float out[6];
  expect("transpose", mygemm_transpose(handle, sizeof(float), 2, 3, rows, 3, out, 2), out, columns,
         6);

  mygemm_destroy(handle);
  if (failures == 0) printf("mygemm %d: right\n", mygemm_version());
  return failures != 0;
}
