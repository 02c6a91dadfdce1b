import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'

/** The functions of `kernel.c`. A pointer is a byte offset in the memory. */
export interface Kernel {
  embed(
    row: number,
    word: number,
    scale: number,
    position: number,
    role: number,
    width: number,
  ): void
  multiply_rows(
    to: number,
    rows: number,
    count: number,
    linear: number,
    inputs: number,
    outputs: number,
    scratch: number,
  ): void
  attend(
    to: number,
    qkv: number,
    count: number,
    other: number,
    otherCount: number,
    otherBias: number,
    width: number,
    heads: number,
    scratch: number,
  ): void
  add_and_normalise(
    rows: number,
    added: number,
    weight: number,
    bias: number,
    count: number,
    width: number,
  ): void
  gelu(numbers: number, count: number): void
  tanh(numbers: number, count: number): void
  mean(to: number, rows: number, count: number, width: number): void
  unit(to: number, rows: number, count: number, width: number): void
  closest(a: number, aCount: number, b: number, bCount: number, width: number): number
  multiply(
    to: number,
    matrix: number,
    bias: number,
    column: number,
    inputs: number,
    outputs: number,
  ): void
}

/** A kernel and its memory, of fixed size. */
export interface LoadedKernel {
  kernel: Kernel
  memory: ArrayBuffer
  /** The first byte that is free for weights and rows. */
  start: number
}

const pageBytes = 65_536
/** The linker places the kernel's own stack below. */
const firstFreePage = 2

// The type library for Node declares no WebAssembly.
declare const WebAssembly: {
  Memory: new (pages: { initial: number; maximum: number }) => { buffer: ArrayBuffer }
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { exports: object }
  validate(bytes: Uint8Array): boolean
}

type Load = (bytes: number) => LoadedKernel | undefined

/** The builds, the fastest first. Each returns undefined where this machine does not run it. */
const loads = {
  vnni: (bytes) => loadAddon('openVnni', bytes),
  avx2: (bytes) => loadAddon('openAvx2', bytes),
  relaxed: (bytes) => loadWasm('kernel.wasm', bytes),
  plain: (bytes) => loadWasm('kernel-plain.wasm', bytes),
} satisfies Record<string, Load>

/**
 * A build of the kernel: an addon of Node with AVX-512 VNNI or with AVX2, or WebAssembly with the relaxed dot instruction
 * or without. All give the same bytes.
 */
export type KernelBuild = keyof typeof loads

export const kernelBuilds = Object.keys(loads) as KernelBuild[]

/**
 * Loads the kernel with memory for `bytes` bytes: the named build, or the fastest that this machine runs. Throws if it
 * does not run the named one.
 */
export function loadKernel(bytes: number, build?: KernelBuild): LoadedKernel {
  for (const each of build === undefined ? kernelBuilds : [build]) {
    const loaded = loads[each](bytes)
    if (loaded !== undefined) return loaded
  }
  throw new Error(`this machine does not run the build ${build ?? ''} of the kernel`)
}

function loadAddon(open: 'openVnni' | 'openAvx2', bytes: number): LoadedKernel | undefined {
  const memory = new ArrayBuffer(bytes)
  try {
    const file = `./kernel-${platform()}-${arch()}.node`
    const kernel: Kernel | undefined = createRequire(import.meta.url)(file)[open](memory)
    return kernel && { kernel, memory, start: 0 }
  } catch {
    // There is none for this system, or this runtime loads no addons.
    return undefined
  }
}

function loadWasm(file: string, bytes: number): LoadedKernel | undefined {
  const code = readFileSync(new URL(file, import.meta.url))
  if (!WebAssembly.validate(code)) return undefined
  const pages = firstFreePage + Math.ceil(bytes / pageBytes)
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages })
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code), { env: { memory } })
  return {
    kernel: exports as Kernel,
    memory: memory.buffer,
    start: firstFreePage * pageBytes,
  }
}
