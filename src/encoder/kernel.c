/*
 * The arithmetic of the encoder, for WebAssembly. The same input gives the same bytes on every machine:
 * products are sums of integers, and each floating-point operation is a rounded float32 operation of
 * WebAssembly in the order written here. Build it with -ffp-contract=off and never with -ffast-math.
 *
 * Built with -mrelaxed-simd, a product is the relaxed dot instruction. Its result is the same on every
 * machine as long as the second operand stays in 0 to 127. Built without, it is a plain one with the same sums.
 *
 * Rows are float32, one a token. A width is a multiple of 16.
 */
#include <stdint.h>
#include <wasm_simd128.h>

#define EXPORT(name) __attribute__((export_name(name)))
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

/* e to the power of x, to about 2e-7 of itself; x below -87 counts as -87, above 88 as 88. */
INLINE v128_t exponential(v128_t x) {
  x = wasm_f32x4_pmin(wasm_f32x4_pmax(x, splat(-87.0f)), splat(88.0f));
  v128_t power = wasm_f32x4_nearest(mul(x, splat(1.44269504f)));
  x = sub(sub(x, mul(power, splat(0.693359375f))), mul(power, splat(-2.12194440e-4f)));
  v128_t y = splat(1.9875691500e-4f);
  y = add(mul(y, x), splat(1.3981999507e-3f));
  y = add(mul(y, x), splat(8.3334519073e-3f));
  y = add(mul(y, x), splat(4.1665795894e-2f));
  y = add(mul(y, x), splat(1.6666665459e-1f));
  y = add(mul(y, x), splat(5.0000001201e-1f));
  y = add(add(mul(y, mul(x, x)), x), splat(1.0f));
  v128_t bits = wasm_i32x4_shl(wasm_i32x4_add(wasm_i32x4_trunc_sat_f32x4(power), wasm_i32x4_splat(127)), 23);
  return mul(y, bits);
}

/*
 * Writes gelu(x) = x * (share of the normal distribution below x) over each of `count` numbers. The share is a
 * polynomial of degree 17 up to 4, and 1 beyond: within 1.2e-5 of the exact number up to 4, and 3.1e-5 * x beyond.
 */
EXPORT("gelu") void gelu(f32 *numbers, int count) {
  static const f32 terms[] = {6.739930836e-11f, -6.066576130e-09f, 2.440747267e-07f, -5.860444162e-06f,
                              9.493880498e-05f, -1.112848287e-03f, 9.815777652e-03f, -6.632359326e-02f,
                              3.988809884e-01f};
  for (int at = 0; at < count; at += 4) {
    v128_t x = load(numbers + at);
    v128_t z = wasm_f32x4_pmin(wasm_f32x4_pmax(x, splat(-4.0f)), splat(4.0f)), square = mul(z, z);
    v128_t y = splat(terms[0]);
    for (int term = 1; term < 9; term++) y = add(mul(y, square), splat(terms[term]));
    store(numbers + at, mul(x, add(splat(0.5f), mul(z, y))));
  }
}

/* Writes the hyperbolic tangent over each of `count` numbers. */
EXPORT("tanh") void hyperbolic_tangent(f32 *numbers, int count) {
  for (int at = 0; at < count; at += 4) {
    v128_t x = wasm_f32x4_pmin(wasm_f32x4_pmax(load(numbers + at), splat(-15.0f)), splat(15.0f));
    v128_t e = add(exponential(add(x, x)), splat(1.0f));
    store(numbers + at, sub(splat(1.0f), wasm_f32x4_div(splat(2.0f), e)));
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

EXPORT("product") f32 product(const f32 *a, const f32 *b, int width) { return dot(a, b, width); }

/* Writes a float32 matrix times a column, plus `bias`. `out` is a multiple of four. */
EXPORT("multiply") void multiply(f32 *to, const f32 *matrix, const f32 *bias, const f32 *column, int in, int out) {
  for (int row = 0; row < out; row++) to[row] = dot(matrix + row * in, column, in) + bias[row];
}

/* Replaces logits by weights with sum 1, times the sum; returns 1 / sum. `count` is a multiple of four. */
INLINE f32 weigh(f32 *logits, int count) {
  v128_t highest = load(logits), total = splat(0);
  for (int at = 4; at < count; at += 4) highest = wasm_f32x4_pmax(highest, load(logits + at));
  v128_t top = splat(greatest(highest));
  for (int at = 0; at < count; at += 4) {
    v128_t weight = exponential(sub(load(logits + at), top));
    store(logits + at, weight);
    total = add(total, weight);
  }
  return 1.0f / sum(total);
}

/* Adds sixteen numbers times `factor` to `total`. */
INLINE void add_sixteen(v128_t total[4], v128_t factor, const v128_t numbers[4]) {
  for (int i = 0; i < 4; i++) total[i] = add(total[i], mul(factor, numbers[i]));
}

INLINE void load_sixteen(v128_t numbers[4], const f32 *from) {
  for (int i = 0; i < 4; i++) numbers[i] = load(from + 4 * i);
}

/*
 * Attention. `qkv` holds rows of query, key and value; the own block reads itself, and `other_count` rows of key
 * and value of another block, to whose logits `other_bias` is added. The width of a head is a multiple of 16.
 * `scratch` holds 2 + 2 * width / heads numbers for each row read, their count rounded up to a multiple of 16.
 */
EXPORT("attend")
void attend(f32 *to, const f32 *qkv, int count, const f32 *other, int other_count, f32 other_bias, int width,
            int heads, f32 *scratch) {
  int size = width / heads, all = count + other_count, columns = (all + 15) & ~15;
  f32 scale = 1.0f / __builtin_sqrtf((f32)size), *logits[2] = {scratch, scratch + columns};
  f32 *keys = scratch + 2 * columns, *values = keys + size * columns;
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
    // Two rows at a time; the last of an odd count stands for both.
    for (int row = 0; row < count; row += 2) {
      int rows[2] = {row, row + 1 < count ? row + 1 : row};
      const f32 *queries[2] = {qkv + rows[0] * 3 * width + head * size, qkv + rows[1] * 3 * width + head * size};
      for (int at = 0; at < columns; at += 16) {
        v128_t total[2][4] = {0}, sixteen[4];
        for (int channel = 0; channel < size; channel++) {
          load_sixteen(sixteen, keys + channel * columns + at);
          for (int i = 0; i < 2; i++) add_sixteen(total[i], wasm_v128_load32_splat(queries[i] + channel), sixteen);
        }
        for (int i = 0; i < 2; i++)
          for (int part = 0; part < 4; part++) store(logits[i] + at + part * 4, total[i][part]);
      }
      f32 norm[2];
      for (int i = 0; i < 2; i++) {
        for (int at = count; at < all; at++) logits[i][at] += other_bias;
        for (int at = all; at < columns; at++) logits[i][at] = -1e9f;
        norm[i] = weigh(logits[i], columns);
      }
      for (int part = 0; part < size; part += 16) {
        v128_t total[2][4] = {0}, sixteen[4];
        for (int at = 0; at < all; at++) {
          load_sixteen(sixteen, values + at * size + part);
          for (int i = 0; i < 2; i++) add_sixteen(total[i], wasm_v128_load32_splat(logits[i] + at), sixteen);
        }
        for (int i = 0; i < 2; i++)
          for (int four = 0; four < 4; four++)
            store(to + rows[i] * width + head * size + part + four * 4, mul(total[i][four], splat(norm[i])));
      }
    }
  }
}

/* A tile is TOKENS rows times OUTPUTS outputs: its sums just fit the registers of a machine with sixteen. */
#define TOKENS 5
#define VECTORS 2
#define OUTPUTS (4 * VECTORS)

/*
 * Rounds rows to whole steps of 0 to 127 between their least and greatest number. Writes the step and the least
 * number of each row into `ranges`. The bytes go out by groups of TOKENS rows, the last group with what is left; in a
 * group, four inputs of each row stand side by side.
 */
static void round_rows(uint8_t *to, f32 *ranges, const f32 *rows, int count, int width) {
  for (int row = 0, within = 0, group = 0; row < count; row++, within++, rows += width) {
    if (within == group) {
      to += group * width;
      within = 0;
      group = row + TOKENS <= count ? TOKENS : count - row;
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
        wasm_v128_store32_lane(to + (at + i * 4) * group + within * 4, bytes, 0);
    }
    ranges[row * 2] = span / 127.0f;
    ranges[row * 2 + 1] = least;
  }
}

/* Adds to each lane of `total` the four products of its bytes; bytes of `b` are 0 to 127. */
INLINE v128_t add_products(v128_t a, v128_t b, v128_t total) {
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

/* OUTPUTS outputs of `tokens` rows: the sums in integers, then the scales. */
INLINE void multiply_tile(int tokens, f32 *to, int out, const uint8_t *rows, const f32 *ranges, const int8_t *tile,
                          const f32 *scales, const f32 *sums, const f32 *bias, int in) {
  v128_t total[TOKENS][VECTORS];
  for (int t = 0; t < tokens; t++)
    for (int v = 0; v < VECTORS; v++) total[t][v] = wasm_i32x4_splat(0);
  for (int at = 0; at < in; at += 4, tile += 16 * VECTORS, rows += 4 * tokens) {
    v128_t weights[VECTORS];
    for (int v = 0; v < VECTORS; v++) weights[v] = wasm_v128_load(tile + 16 * v);
    for (int t = 0; t < tokens; t++) {
      v128_t four = wasm_v128_load32_splat(rows + 4 * t);
      for (int v = 0; v < VECTORS; v++) total[t][v] = add_products(weights[v], four, total[t][v]);
    }
  }
  for (int t = 0; t < tokens; t++)
    for (int v = 0; v < VECTORS; v++) {
      v128_t scaled = mul(wasm_f32x4_convert_i32x4(total[t][v]), splat(ranges[t * 2]));
      scaled = add(mul(scaled, load(scales + 4 * v)), mul(load(sums + 4 * v), splat(ranges[t * 2 + 1])));
      store(to + t * out + 4 * v, add(scaled, load(bias + 4 * v)));
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
  for (int first = 0; first < out; first += OUTPUTS, bytes += OUTPUTS * in) {
    int row = 0;
#define TILE(tokens)                                                                                          \
  multiply_tile(tokens, to + row * out + first, out, scratch + row * in, ranges + row * 2, bytes, scales + first, \
                sums + first, bias + first, in)
    for (; row + TOKENS <= count; row += TOKENS) TILE(TOKENS);
    switch (count - row) {
    case 4: TILE(4); break;
    case 3: TILE(3); break;
    case 2: TILE(2); break;
    case 1: TILE(1); break;
    }
  }
}
