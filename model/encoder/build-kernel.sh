#!/bin/sh
# Builds both forms of the encoder's kernel with clang 19 and lld 19 (Debian: clang-19, lld-19), and their hashes.
set -eu
cd "$(dirname "$0")/../../src/encoder"
build() {
  clang-19 --target=wasm32 -O3 -msimd128 "$1" -ffp-contract=off -ffreestanding -fno-builtin -nostdlib \
    -Wall -Wextra -Werror -Wl,--no-entry,--import-memory,--strip-all -o "$2" kernel.c
}
build -mrelaxed-simd kernel.wasm
build -mno-relaxed-simd kernel-plain.wasm
sha256sum kernel.c kernel.wasm kernel-plain.wasm > kernel.sha256
