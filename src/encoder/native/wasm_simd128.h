/*
 * The instructions of WebAssembly that kernel.c uses, for x86-64: four numbers at a time, in the same order and rounded
 * alike, so that both give the same bytes.
 */
#include <immintrin.h>
#include <stdint.h>

typedef int32_t v128_t __attribute__((vector_size(16), aligned(4)));
typedef int32_t lanes_t __attribute__((vector_size(16)));
#define OP static inline __attribute__((always_inline))
#define FLOATS(v) ((__m128)(lanes_t)(v))
#define WHOLE(v) ((__m128i)(lanes_t)(v))

OP v128_t wasm_f32x4_splat(float x) { return (v128_t)_mm_set1_ps(x); }
OP v128_t wasm_i32x4_splat(int32_t x) { return (v128_t)_mm_set1_epi32(x); }
OP v128_t wasm_v128_load(const void *from) { return (v128_t)_mm_loadu_ps(from); }
OP v128_t wasm_v128_load32_splat(const void *from) { return (v128_t)_mm_set1_ps(*(const float *)from); }
OP void wasm_v128_store(void *to, v128_t v) { _mm_storeu_ps(to, FLOATS(v)); }
OP v128_t wasm_f32x4_add(v128_t a, v128_t b) { return (v128_t)_mm_add_ps(FLOATS(a), FLOATS(b)); }
OP v128_t wasm_f32x4_sub(v128_t a, v128_t b) { return (v128_t)_mm_sub_ps(FLOATS(a), FLOATS(b)); }
OP v128_t wasm_f32x4_mul(v128_t a, v128_t b) { return (v128_t)_mm_mul_ps(FLOATS(a), FLOATS(b)); }
OP v128_t wasm_f32x4_div(v128_t a, v128_t b) { return (v128_t)_mm_div_ps(FLOATS(a), FLOATS(b)); }
OP v128_t wasm_f32x4_neg(v128_t v) { return (v128_t)_mm_xor_ps(FLOATS(v), _mm_set1_ps(-0.0f)); }
/* b < a ? b : a, and a < b ? b : a */
OP v128_t wasm_f32x4_pmin(v128_t a, v128_t b) { return (v128_t)_mm_min_ps(FLOATS(b), FLOATS(a)); }
OP v128_t wasm_f32x4_pmax(v128_t a, v128_t b) { return (v128_t)_mm_max_ps(FLOATS(b), FLOATS(a)); }
OP v128_t wasm_f32x4_nearest(v128_t v) {
  return (v128_t)_mm_round_ps(FLOATS(v), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
OP v128_t wasm_f32x4_convert_i32x4(v128_t v) { return (v128_t)_mm_cvtepi32_ps(WHOLE(v)); }
/* Differs from WebAssembly beyond 32 bits only, where kernel.c has no numbers. */
OP v128_t wasm_i32x4_trunc_sat_f32x4(v128_t v) { return (v128_t)_mm_cvttps_epi32(FLOATS(v)); }
OP v128_t wasm_i32x4_add(v128_t a, v128_t b) { return (v128_t)_mm_add_epi32(WHOLE(a), WHOLE(b)); }
OP v128_t wasm_i32x4_min(v128_t a, v128_t b) { return (v128_t)_mm_min_epi32(WHOLE(a), WHOLE(b)); }
OP v128_t wasm_i32x4_shl(v128_t v, int count) { return (v128_t)_mm_slli_epi32(WHOLE(v), count); }
OP v128_t wasm_i16x8_narrow_i32x4(v128_t a, v128_t b) { return (v128_t)_mm_packs_epi32(WHOLE(a), WHOLE(b)); }
OP v128_t wasm_u8x16_narrow_i16x8(v128_t a, v128_t b) { return (v128_t)_mm_packus_epi16(WHOLE(a), WHOLE(b)); }
#define wasm_i32x4_shuffle(a, b, ...) ((v128_t)__builtin_shufflevector((lanes_t)(a), (lanes_t)(b), __VA_ARGS__))
#define wasm_f32x4_extract_lane(v, lane) (FLOATS(v)[lane])
#define wasm_v128_store32_lane(to, v, lane) __builtin_memcpy(to, &(int32_t){((lanes_t)(v))[lane]}, 4)
