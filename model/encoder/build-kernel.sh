#!/bin/sh
# Builds all forms of the encoder's kernel with clang 19 and lld 19 (Debian: clang-19, lld-19), and their hashes.
set -eu
cd "$(dirname "$0")/../../src/encoder"
# Without contraction and in the order of the source, so that all forms give the same bytes.
same="-O3 -ffp-contract=off -ffreestanding -Wall -Wextra -Werror"

wasm() {
  clang-19 --target=wasm32 $same -msimd128 "$1" -fno-builtin -nostdlib \
    -Wl,--no-entry,--import-memory,--strip-all -o "$2" kernel.c
}
wasm -mrelaxed-simd kernel.wasm
wasm -mno-relaxed-simd kernel-plain.wasm

# The addon needs nothing but what Node provides, so it runs with every C library.
objects=$(mktemp -d)
trap 'rm -r "$objects"' EXIT
native() {
  to=$1
  shift
  clang-19 --target=x86_64-linux-gnu $same -fPIC -fvisibility=hidden -fno-math-errno -fno-stack-protector \
    -fno-asynchronous-unwind-tables -Inative -c -o "$objects/$to.o" "$@"
}
native avx2 -mavx2 -DFUNCTIONS=with_avx2 native/functions.c
native vnni -mavx2 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mprefer-vector-width=512 \
  -DFUNCTIONS=with_vnni native/functions.c
native addon native/addon.c
clang-19 --target=x86_64-linux-gnu -shared -nostdlib -fuse-ld=lld \
  -Wl,--strip-all,--build-id=none,-z,relro,-z,now,-z,noexecstack \
  -o kernel-linux-x64.node "$objects/avx2.o" "$objects/vnni.o" "$objects/addon.o"
chmod 644 kernel*.wasm kernel-linux-x64.node
sha256sum kernel.c native/* kernel.wasm kernel-plain.wasm kernel-linux-x64.node > kernel.sha256
