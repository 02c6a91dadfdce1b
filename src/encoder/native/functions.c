/*
 * The functions of kernel.c as JavaScript calls them, in the table FUNCTIONS: a pointer is a byte offset in the memory.
 * Built once for each set of instructions.
 */
#include "../kernel.c"
#include "node_api.h"

#define MOST 9

/* Reads the numbers that a function was called with, and returns where the memory begins. */
static char *read_numbers(napi_env env, napi_callback_info info, double numbers[MOST]) {
  napi_value values[MOST];
  size_t count = MOST;
  void *memory = NULL;
  napi_get_cb_info(env, info, &count, values, NULL, &memory);
  for (size_t at = 0; at < count && at < MOST; at++) napi_get_value_double(env, values[at], &numbers[at]);
  return memory;
}

#define P(at) ((void *)(memory + (size_t)n[at]))
#define I(at) ((int)n[at])
#define NUMBER(at) ((float)n[at])
#define CALLED(name, body)                                               \
  static napi_value call_##name(napi_env env, napi_callback_info info) { \
    double n[MOST] = {0};                                                \
    char *memory = read_numbers(env, info, n);                           \
    napi_value result = NULL;                                            \
    body;                                                                \
    return result;                                                       \
  }

CALLED(embed, embed(P(0), P(1), NUMBER(2), P(3), P(4), I(5)))
CALLED(multiply_rows, multiply_rows(P(0), P(1), I(2), P(3), I(4), I(5), P(6)))
CALLED(attend, attend(P(0), P(1), I(2), P(3), I(4), NUMBER(5), I(6), I(7), P(8)))
CALLED(add_and_normalise, add_and_normalise(P(0), P(1), P(2), P(3), I(4), I(5)))
CALLED(gelu, gelu(P(0), I(1)))
CALLED(tanh, hyperbolic_tangent(P(0), I(1)))
CALLED(mean, mean(P(0), P(1), I(2), I(3)))
CALLED(unit, unit(P(0), P(1), I(2), I(3)))
CALLED(multiply, multiply(P(0), P(1), P(2), P(3), I(4), I(5)))
CALLED(closest, napi_create_double(env, closest(P(0), I(1), P(2), I(3), I(4)), &result))

#define ENTRY(name) {#name, call_##name}
const function_t FUNCTIONS[] = {ENTRY(embed), ENTRY(multiply_rows), ENTRY(attend),   ENTRY(add_and_normalise),
                                ENTRY(gelu),  ENTRY(tanh),          ENTRY(mean),     ENTRY(unit),
                                ENTRY(multiply), ENTRY(closest),    {NULL, NULL}};
