import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where one trial plays: a folder of its own, and everything that is undone when it is over. */
export interface Stage {
  readonly folder: string
  /** Undoes the latest first, also when this process is ended; what matters happens before it awaits. */
  after(undo: Undo): void
}

type Undo = (() => void) | (() => Promise<unknown>)

/** Plays a trial on a stage that nothing is left of. */
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
