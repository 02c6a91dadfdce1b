import { readFileSync } from 'node:fs'

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

/** The builds of the kernel: with the relaxed dot instruction, and without. Both give the same bytes. */
export type KernelBuild = 'relaxed' | 'plain'

const files = { relaxed: 'kernel.wasm', plain: 'kernel-plain.wasm' }
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

/** Loads the kernel with memory for `bytes` bytes: the named build, or the fastest that this engine runs. */
export function loadKernel(bytes: number, build?: KernelBuild): LoadedKernel {
  const relaxed = readKernel('relaxed')
  const fastest = WebAssembly.validate(relaxed) ? 'relaxed' : 'plain'
  const code = (build ?? fastest) === 'relaxed' ? relaxed : readKernel('plain')
  const pages = firstFreePage + Math.ceil(bytes / pageBytes)
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages })
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code), { env: { memory } })
  return {
    kernel: exports as Kernel,
    memory: memory.buffer,
    start: firstFreePage * pageBytes,
  }
}

function readKernel(build: KernelBuild): Uint8Array {
  return readFileSync(new URL(files[build], import.meta.url))
}
