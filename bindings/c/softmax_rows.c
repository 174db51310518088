/*
 * The softmax of attention: rows of scores in bfloat16, scaled by 1 / sqrt(head size), each row
 * blind to the keys after its own (-inf), in place in a buffer whose rows are longer than they need
 * be. Computed in FP32 by the library, rounded once. On the GPU where there is one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "example.h"

enum { QUERIES = 96, KEYS = 96, LD = 104 };
static const float scale = 0.125f; /* 1 / sqrt(64) */

static float to_float(uint16_t bfloat16) {
  const uint32_t bits = (uint32_t)bfloat16 << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Exact for what the example gives it: numbers of at most eight significant bits, and infinities.
 */
static uint16_t to_bfloat16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)(bits >> 16);
}

/* Row `query` of `got` against FP64. */
static void check_row(int query, const uint16_t* got, const uint16_t* scores) {
  double sum = 0;
  int key;
  for (key = 0; key <= query; ++key) sum += exp(scale * to_float(scores[key]));
  for (key = 0; key <= query; ++key) {
    const double wanted = exp(scale * to_float(scores[key])) / sum;
    /* Half a unit in the last of eight bits, and a little for FP32. */
    expect(fabs(to_float(got[key]) - wanted) <= wanted * (1.01 / 256), "a weight");
  }
  for (; key < KEYS; ++key) expect(to_float(got[key]) == 0, "the weight of a masked key");
  for (; key < LD; ++key) expect(got[key] == scores[key], "what lies between the rows");
}

int main(void) {
  static uint16_t scores[QUERIES * LD], weights[QUERIES * LD];
  float* numbers = small_integers(QUERIES * LD, 1);
  mygemmHandle_t handle = create_handle();
  void* rows;
  int query, key;

  for (query = 0; query < QUERIES; ++query) {
    for (key = 0; key < LD; ++key) {
      const int masked = key > query && key < KEYS;
      scores[query * LD + key] = to_bfloat16(masked ? -INFINITY : numbers[query * LD + key]);
    }
  }
  rows = place(handle, scores, sizeof scores);
  check(mygemm_softmax(handle, MYGEMM_SOFTMAX, QUERIES, KEYS, scale, rows, MYGEMM_R_16BF, LD, rows,
                       MYGEMM_R_16BF, LD));
  fetch(handle, weights, rows, sizeof weights);
  for (query = 0; query < QUERIES; ++query) {
    check_row(query, weights + query * LD, scores + query * LD);
  }
  printf("%d masked rows of %d bfloat16 scores are right\n", QUERIES, KEYS);

  release(handle, rows);
  check(mygemm_destroy(handle));
  free(numbers);
  return 0;
}
