/*
 * The kernel as an addon of Node for x86-64. `openVnni(memory)` and `openAvx2(memory)` return the functions of kernel.c for
 * the ArrayBuffer `memory`, built with AVX-512 VNNI and with AVX2, or undefined where the processor lacks them. The
 * caller keeps the memory as long as it calls them.
 */
#include <cpuid.h>
#include <stdint.h>

#include "node_api.h"

extern const function_t with_avx2[], with_vnni[];

/* Whether the system keeps the registers that the bits of XCR0 stand for. */
static int keeps(unsigned bits) {
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & bits) == bits;
}

static int has_avx2(void) {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !keeps(0x6)) return 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX2);
}

static int has_vnni(void) {
  unsigned a, b, c, d, wide = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
  if (!has_avx2() || !keeps(0xe6)) return 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & wide) == wide && (c & bit_AVX512VNNI);
}

/* An object of the functions for the memory that a call names. */
static napi_value functions_of(napi_env env, napi_callback_info info, const function_t *each) {
  napi_value memory, functions, function;
  size_t count = 1, length;
  void *data;
  napi_get_cb_info(env, info, &count, &memory, NULL, NULL);
  if (napi_get_arraybuffer_info(env, memory, &data, &length) != 0) return NULL;
  napi_create_object(env, &functions);
  for (; each->name != NULL; each++) {
    napi_create_function(env, each->name, (size_t)-1, each->call, data, &function);
    napi_set_named_property(env, functions, each->name, function);
  }
  return functions;
}

static napi_value open_vnni(napi_env env, napi_callback_info info) {
  return has_vnni() ? functions_of(env, info, with_vnni) : NULL;
}

static napi_value open_avx2(napi_env env, napi_callback_info info) {
  return has_avx2() ? functions_of(env, info, with_avx2) : NULL;
}

#define VISIBLE __attribute__((visibility("default")))

VISIBLE int32_t node_api_module_get_api_version_v1(void) { return 8; }

VISIBLE napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  const function_t opens[] = {{"openVnni", open_vnni}, {"openAvx2", open_avx2}};
  for (int at = 0; at < 2; at++) {
    napi_value function;
    napi_create_function(env, opens[at].name, (size_t)-1, opens[at].call, NULL, &function);
    napi_set_named_property(env, exports, opens[at].name, function);
  }
  return exports;
}
