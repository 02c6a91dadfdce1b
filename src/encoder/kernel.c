/*
 * The arithmetic of the encoder, for WebAssembly and for x86-64. The same input gives the same bytes on every machine:
 * products are sums of integers, and each floating-point operation is a rounded float32 operation in the order written
 * here. Build it with -ffp-contract=off and never with -ffast-math.
 *
 * Built for WebAssembly with -mrelaxed-simd, a product is the relaxed dot instruction. Its result is the same on every
 * machine as long as the second operand stays in 0 to 127. Built without, it is a plain one with the same sums. Built
 * for x86-64, it is a dot instruction of AVX-512 VNNI, or two instructions of AVX2; native/addon.c includes this file
 * and native/wasm_simd128.h stands in for the instructions of WebAssembly.
 *
 * Rows are float32, one a token. A width is a multiple of 16.
 */
#include <stdint.h>
#include <wasm_simd128.h>

#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(name)))
#else
#define EXPORT(name) static
#endif
#define INLINE static inline __attribute__((always_inline))

typedef float f32;

INLINE v128_t splat(f32 value) { return wasm_f32x4_splat(value); }
INLINE v128_t add(v128_t a, v128_t b) { return wasm_f32x4_add(a, b); }
INLINE v128_t sub(v128_t a, v128_t b) { return wasm_f32x4_sub(a, b); }
INLINE v128_t mul(v128_t a, v128_t b) { return wasm_f32x4_mul(a, b); }
INLINE v128_t load(const f32 *from) { return wasm_v128_load(from); }
INLINE void store(f32 *to, v128_t value) { wasm_v128_store(to, value); }

INLINE f32 sum(v128_t v) {
  return (wasm_f32x4_extract_lane(v, 0) + wasm_f32x4_extract_lane(v, 1)) +
         (wasm_f32x4_extract_lane(v, 2) + wasm_f32x4_extract_lane(v, 3));
}

INLINE f32 greatest(v128_t v) {
  v128_t pairs = wasm_f32x4_pmax(v, wasm_i32x4_shuffle(v, v, 2, 3, 0, 1));
  return wasm_f32x4_extract_lane(wasm_f32x4_pmax(pairs, wasm_i32x4_shuffle(pairs, pairs, 1, 0, 3, 2)), 0);
}

INLINE f32 dot(const f32 *a, const f32 *b, int width) {
  v128_t total = splat(0);
  for (int at = 0; at < width; at += 4) total = add(total, mul(load(a + at), load(b + at)));
  return sum(total);
}

/* Sixteen numbers, and the same as whole numbers. A place that holds them need not be aligned. */
typedef f32 sixteen __attribute__((vector_size(64), aligned(4)));
typedef int32_t whole_sixteen __attribute__((vector_size(64)));
#define SIXTEEN(at) (*(sixteen *)(at))
#define PICK(mask, a, b) ((sixteen)(((whole_sixteen)(a) & (mask)) | ((whole_sixteen)(b) & ~(mask))))
#define ALL(x) ((sixteen){0} + (x))

/* Moves numbers below -most to -most, and numbers above `most` to `most`. */
INLINE void keep_within(sixteen *to, f32 most) {
  sixteen x = PICK(*to < -most, ALL(-most), *to);
  *to = PICK(x > most, ALL(most), x);
}

/* Writes e to the power of each x, to about 2e-7 of itself; x below -87 counts as -87, above 87 as 87. */
INLINE void exponential(sixteen *to) {
  sixteen x = *to;
  keep_within(&x, 87.0f);
  sixteen power = __builtin_elementwise_roundeven(x * 1.44269504f);
  x = x - power * 0.693359375f - power * -2.12194440e-4f;
  sixteen y = x * 1.9875691500e-4f + 1.3981999507e-3f;
  y = y * x + 8.3334519073e-3f;
  y = y * x + 4.1665795894e-2f;
  y = y * x + 1.6666665459e-1f;
  y = y * x + 5.0000001201e-1f;
  y = y * (x * x) + x + 1.0f;
  whole_sixteen bits = (__builtin_convertvector(power, whole_sixteen) + 127) << 23;
  *to = y * (sixteen)bits;
}

/*
 * Writes gelu(x) = x * (share of the normal distribution below x) over each of `count` numbers, and over those behind
 * them up to a multiple of sixteen. The share is a polynomial of degree 17 up to 4, and 1 beyond: within 1.2e-5 of the
 * exact number up to 4, and 3.1e-5 * x beyond.
 */
EXPORT("gelu") void gelu(f32 *numbers, int count) {
  static const f32 terms[] = {6.739930836e-11f, -6.066576130e-09f, 2.440747267e-07f, -5.860444162e-06f,
                              9.493880498e-05f, -1.112848287e-03f, 9.815777652e-03f, -6.632359326e-02f,
                              3.988809884e-01f};
  for (int at = 0; at < count; at += 16) {
    sixteen x = SIXTEEN(numbers + at), z = x;
    keep_within(&z, 4.0f);
    sixteen square = z * z, y = ALL(terms[0]);
    for (int term = 1; term < 9; term++) y = y * square + terms[term];
    SIXTEEN(numbers + at) = x * (0.5f + z * y);
  }
}

/* Writes the hyperbolic tangent over each of `count` numbers, and over those behind them up to a multiple of sixteen. */
EXPORT("tanh") void hyperbolic_tangent(f32 *numbers, int count) {
  for (int at = 0; at < count; at += 16) {
    sixteen x = SIXTEEN(numbers + at);
    keep_within(&x, 15.0f);
    sixteen e = x + x;
    exponential(&e);
    SIXTEEN(numbers + at) = 1.0f - 2.0f / (e + 1.0f);
  }
}

/* Adds `added` to `rows` and normalises each row: mean 0, variance 1, then times `weight` plus `bias`. */
EXPORT("add_and_normalise")
void add_and_normalise(f32 *rows, const f32 *added, const f32 *weight, const f32 *bias, int count, int width) {
  for (int row = 0; row < count; row++, rows += width, added += width) {
    v128_t total = splat(0);
    for (int at = 0; at < width; at += 4) {
      v128_t x = add(load(rows + at), load(added + at));
      store(rows + at, x);
      total = add(total, x);
    }
    v128_t mean = splat(sum(total) / (f32)width);
    v128_t squares = splat(0);
    for (int at = 0; at < width; at += 4) {
      v128_t x = sub(load(rows + at), mean);
      store(rows + at, x);
      squares = add(squares, mul(x, x));
    }
    v128_t scale = splat(1.0f / __builtin_sqrtf(sum(squares) / (f32)width + 1e-12f));
    for (int at = 0; at < width; at += 4)
      store(rows + at, add(mul(mul(load(rows + at), scale), load(weight + at)), load(bias + at)));
  }
}

/* Writes the sum of a word's row of bytes times its scale, its position's row and its role's row. */
EXPORT("embed")
void embed(f32 *row, const int8_t *word, f32 scale, const f32 *position, const f32 *role, int width) {
  for (int at = 0; at < width; at++) row[at] = scale * (f32)word[at] + position[at] + role[at];
}

/* Writes the mean of the rows. */
EXPORT("mean") void mean(f32 *to, const f32 *rows, int count, int width) {
  for (int at = 0; at < width; at += 4) {
    v128_t total = splat(0);
    for (int row = 0; row < count; row++) total = add(total, load(rows + row * width + at));
    store(to + at, wasm_f32x4_div(total, splat((f32)count)));
  }
}

/* Writes the rows at length 1. */
EXPORT("unit") void unit(f32 *to, const f32 *rows, int count, int width) {
  for (int row = 0; row < count; row++, rows += width, to += width) {
    f32 length = __builtin_sqrtf(dot(rows, rows, width));
    v128_t scale = splat(1.0f / (length > 1e-12f ? length : 1e-12f));
    for (int at = 0; at < width; at += 4) store(to + at, mul(load(rows + at), scale));
  }
}

/* The mean over rows of `a` of the greatest product with a row of `b`, all of length 1; at least -1. */
EXPORT("closest") f32 closest(const f32 *a, int a_count, const f32 *b, int b_count, int width) {
  f32 total = 0;
  for (int i = 0; i < a_count; i++) {
    f32 best = -1;
    for (int j = 0; j < b_count; j++) {
      f32 product = dot(a + i * width, b + j * width, width);
      if (product > best) best = product;
    }
    total += best;
  }
  return total / (f32)a_count;
}

/* Writes a float32 matrix times a column, plus `bias`. `out` is a multiple of four. */
EXPORT("multiply") void multiply(f32 *to, const f32 *matrix, const f32 *bias, const f32 *column, int in, int out) {
  for (int row = 0; row < out; row++) to[row] = dot(matrix + row * in, column, in) + bias[row];
}

/* Replaces logits by weights with sum 1, times the sum; returns 1 / sum. `count` is a multiple of sixteen. */
INLINE f32 weigh(f32 *logits, int count) {
  v128_t highest = load(logits), total = splat(0);
  for (int at = 4; at < count; at += 4) highest = wasm_f32x4_pmax(highest, load(logits + at));
  f32 top = greatest(highest);
  for (int at = 0; at < count; at += 16) {
    sixteen weights = SIXTEEN(logits + at) - top;
    exponential(&weights);
    SIXTEEN(logits + at) = weights;
    for (int part = 0; part < 16; part += 4) total = add(total, load(logits + at + part));
  }
  return 1.0f / sum(total);
}

/* As many rows at a time as their sums have registers. */
#ifdef __AVX512F__
#define ROWS 4
#else
#define ROWS 2
#endif

/*
 * Attention. `qkv` holds rows of query, key and value; the own block reads itself, and `other_count` rows of key
 * and value of another block, to whose logits `other_bias` is added. The width of a head is a multiple of 16.
 * `scratch` holds 4 + 2 * width / heads numbers for each row read, their count rounded up to a multiple of 16.
 */
EXPORT("attend")
void attend(f32 *to, const f32 *qkv, int count, const f32 *other, int other_count, f32 other_bias, int width,
            int heads, f32 *scratch) {
  int size = width / heads, all = count + other_count, columns = (all + 15) & ~15;
  f32 scale = 1.0f / __builtin_sqrtf((f32)size), *logits = scratch;
  f32 *keys = scratch + ROWS * columns, *values = keys + size * columns;
  for (int head = 0; head < heads; head++) {
    // A column for each key, so that the logits of neighbouring keys stand side by side; and a row for each value.
    for (int at = 0; at < columns; at++) {
      const f32 *key = at < count ? qkv + (at * 3 + 1) * width : other + (at - count) * 2 * width;
      key += head * size;
      for (int channel = 0; channel < size; channel++) {
        keys[channel * columns + at] = at < all ? key[channel] * scale : 0;
        values[at * size + channel] = at < all ? key[width + channel] : 0;
      }
    }
    // Some rows at a time; the last of them stands for those that are missing.
    for (int row = 0; row < count; row += ROWS) {
      const f32 *queries[ROWS];
      int places[ROWS];
      for (int i = 0; i < ROWS; i++) {
        places[i] = row + i < count ? row + i : count - 1;
        queries[i] = qkv + places[i] * 3 * width + head * size;
      }
      for (int at = 0; at < columns; at += 16) {
        sixteen total[ROWS];
        for (int i = 0; i < ROWS; i++) total[i] = ALL(0);
        for (int channel = 0; channel < size; channel++)
          for (int i = 0; i < ROWS; i++) total[i] += queries[i][channel] * SIXTEEN(keys + channel * columns + at);
        for (int i = 0; i < ROWS; i++) SIXTEEN(logits + i * columns + at) = total[i];
      }
      f32 norm[ROWS];
      for (int i = 0; i < ROWS; i++) {
        f32 *own = logits + i * columns;
        for (int at = count; at < all; at++) own[at] += other_bias;
        for (int at = all; at < columns; at++) own[at] = -1e9f;
        norm[i] = weigh(own, columns);
      }
      for (int part = 0; part < size; part += 16) {
        sixteen total[ROWS];
        for (int i = 0; i < ROWS; i++) total[i] = ALL(0);
        for (int at = 0; at < all; at++)
          for (int i = 0; i < ROWS; i++) total[i] += logits[i * columns + at] * SIXTEEN(values + at * size + part);
        for (int i = 0; i < ROWS; i++) SIXTEEN(to + places[i] * width + head * size + part) = total[i] * norm[i];
      }
    }
  }
}

/* A tile is up to TOKENS rows times eight outputs: its sums just fit the registers. */
#ifdef __AVX512VNNI__
#define TOKENS 12
#elif defined __AVX2__
#define TOKENS 6
#else
#define TOKENS 5
#endif
#define OUTPUTS 8

typedef int32_t sums_t __attribute__((vector_size(4 * OUTPUTS)));
typedef f32 outputs_t __attribute__((vector_size(4 * OUTPUTS), aligned(4)));

/* The rows of the next tile, where `left` are left: as many in each as in the others. */
INLINE int rows_of_tile(int left) {
  int tiles = (left + TOKENS - 1) / TOKENS;
  return (left + tiles - 1) / tiles;
}

/*
 * Rounds rows to whole steps of 0 to 127 between their least and greatest number. Writes the step and the least
 * number of each row into `ranges`. The bytes go out by tiles of rows; in a tile, four inputs of each row stand side by
 * side.
 */
static void round_rows(uint8_t *to, f32 *ranges, const f32 *rows, int count, int width) {
  for (int row = 0, within = 0, tile = 0; row < count; row++, within++, rows += width) {
    if (within == tile) {
      to += tile * width;
      within = 0;
      tile = rows_of_tile(count - row);
    }
    v128_t low = load(rows), high = low;
    for (int at = 4; at < width; at += 4) {
      low = wasm_f32x4_pmin(low, load(rows + at));
      high = wasm_f32x4_pmax(high, load(rows + at));
    }
    f32 least = -greatest(wasm_f32x4_neg(low)), span = greatest(high) - least;
    v128_t steps = splat(span > 0 ? 127.0f / span : 0), from = splat(least);
    for (int at = 0; at < width; at += 16) {
      v128_t part[4];
      for (int i = 0; i < 4; i++) {
        v128_t x = wasm_f32x4_nearest(mul(sub(load(rows + at + i * 4), from), steps));
        part[i] = wasm_i32x4_min(wasm_i32x4_trunc_sat_f32x4(x), wasm_i32x4_splat(127));
      }
      v128_t bytes = wasm_u8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4(part[0], part[1]),
                                             wasm_i16x8_narrow_i32x4(part[2], part[3]));
      for (int i = 0; i < 4; i++, bytes = wasm_i32x4_shuffle(bytes, bytes, 1, 2, 3, 0))
        wasm_v128_store32_lane(to + (at + i * 4) * tile + within * 4, bytes, 0);
    }
    ranges[row * 2] = span / 127.0f;
    ranges[row * 2 + 1] = least;
  }
}

/* Adds to each lane of `total` the products of four weights of an output and the four inputs, each 0 to 127. */
#ifdef __wasm__
INLINE v128_t add_half(v128_t total, v128_t a, v128_t b) {
#ifdef __wasm_relaxed_simd__
  return __builtin_wasm_relaxed_dot_i8x16_i7x16_add_s_i32x4(a, b, total);
#else
  v128_t low = wasm_i16x8_extmul_low_i8x16(a, b), high = wasm_i16x8_extmul_high_i8x16(a, b);
  low = wasm_i32x4_extadd_pairwise_i16x8(low);
  high = wasm_i32x4_extadd_pairwise_i16x8(high);
  v128_t sums = wasm_i32x4_add(wasm_i32x4_shuffle(low, high, 0, 2, 4, 6), wasm_i32x4_shuffle(low, high, 1, 3, 5, 7));
  return wasm_i32x4_add(total, sums);
#endif
}

INLINE sums_t add_products(sums_t total, const int8_t *weights, const uint8_t *inputs) {
  v128_t four = wasm_v128_load32_splat(inputs);
  v128_t low = __builtin_shufflevector(total, total, 0, 1, 2, 3), high = __builtin_shufflevector(total, total, 4, 5, 6, 7);
  low = add_half(low, wasm_v128_load(weights), four);
  high = add_half(high, wasm_v128_load(weights + 16), four);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
}
#else
INLINE sums_t add_products(sums_t total, const int8_t *weights, const uint8_t *inputs) {
  __m256i own = _mm256_loadu_si256((const __m256i *)weights), four = _mm256_set1_epi32(*(const int32_t *)inputs);
#ifdef __AVX512VNNI__
  return (sums_t)_mm256_dpbusd_epi32((__m256i)total, four, own);
#else
  // Two products have at most 2 * 127 * 128, which 16 bits hold.
  __m256i pairs = _mm256_maddubs_epi16(four, own);
  return (sums_t)_mm256_add_epi32((__m256i)total, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
#endif
}
#endif

/*
 * OUTPUTS outputs of `tokens` rows: the sums in integers, then the scales. Sums of a few rows are made in two halves, so
 * that none waits for the one before.
 */
INLINE void multiply_tile(int tokens, f32 *to, int out, const uint8_t *rows, const f32 *ranges, const int8_t *weights,
                          const f32 *scales, const f32 *sums, const f32 *bias, int in) {
  int halves = 2 * tokens <= TOKENS ? 2 : 1;
  sums_t total[2][TOKENS];
  for (int half = 0; half < halves; half++)
    for (int t = 0; t < tokens; t++) total[half][t] = (sums_t){0};
  for (int at = 0; at < in; at += 4 * halves)
    for (int half = 0; half < halves; half++, weights += 4 * OUTPUTS, rows += 4 * tokens)
      for (int t = 0; t < tokens; t++) total[half][t] = add_products(total[half][t], weights, rows + 4 * t);
  for (int t = 0; t < tokens; t++) {
    sums_t all = halves == 2 ? total[0][t] + total[1][t] : total[0][t];
    outputs_t scaled = __builtin_convertvector(all, outputs_t) * ranges[t * 2] * *(const outputs_t *)scales;
    *(outputs_t *)(to + t * out) = scaled + *(const outputs_t *)sums * ranges[t * 2 + 1] + *(const outputs_t *)bias;
  }
}

/*
 * Multiplies rows by a matrix of bytes. `linear` holds, one after another: the scale of each output, the sum
 * of its scaled bytes, its bias (float32, `out` each), and the bytes in tiles of OUTPUTS outputs, four inputs of
 * each output side by side. `scratch` holds count * in bytes and then 2 * count floats.
 */
EXPORT("multiply_rows")
void multiply_rows(f32 *to, const f32 *rows, int count, const f32 *linear, int in, int out, uint8_t *scratch) {
  const f32 *scales = linear, *sums = scales + out, *bias = sums + out;
  const int8_t *bytes = (const int8_t *)(bias + out);
  f32 *ranges = (f32 *)(scratch + ((count * in + 15) & ~15));
  round_rows(scratch, ranges, rows, count, in);
  for (int first = 0; first < out; first += OUTPUTS, bytes += OUTPUTS * in)
    for (int row = 0, tile; row < count; row += tile) {
      tile = rows_of_tile(count - row);
#define TILE(tokens)                                                                                              \
  case tokens:                                                                                                    \
    multiply_tile(tokens, to + row * out + first, out, scratch + row * in, ranges + row * 2, bytes, scales + first, \
                  sums + first, bias + first, in);                                                                \
    break;
      switch (tile) {
        TILE(1) TILE(2) TILE(3) TILE(4) TILE(5)
#if TOKENS > 5
        TILE(6)
#endif
#if TOKENS > 6
        TILE(7) TILE(8) TILE(9) TILE(10) TILE(11) TILE(12)
#endif
      }
    }
}
