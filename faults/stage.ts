import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The resources of one trial: a folder, and cleanups that run at its end. */
export interface Stage {
  readonly folder: string
  /**
   * Adds a cleanup. The latest runs first, also when this process ends; then only the part before its first
   * await.
   */
  after(undo: Undo): void
}

type Undo = (() => void) | (() => Promise<unknown>)

/** Runs a trial on a stage and clears the stage afterwards. */
export async function onStage<T>(play: (stage: Stage) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-faults-'))
  const undos: Undo[] = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 })]

  function abandon(): void {
    for (const undo of undos.splice(0).reverse()) void undo()
  }

  process.on('exit', abandon)
  try {
    return await play({ folder, after: (undo) => void undos.push(undo) })
  } finally {
    for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) await undo()
    process.off('exit', abandon)
  }
}
