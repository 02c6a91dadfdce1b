import { signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'

/** What a key does in a view, by the key as the browser names it; `g r` is one key after another. */
export type Keys = Record<string, () => void>

const registered: Keys[] = []
const off = 'plumbline-keys-off'
const secondKeyMs = 1_200

/** Whether single keys do anything; a person can switch them off. */
export const singleKeys = signal(localStorage.getItem(off) === null)

/** Switches single keys on or off, for this browser. */
export function setSingleKeys(on: boolean): void {
  if (on) localStorage.removeItem(off)
  else localStorage.setItem(off, '1')
  singleKeys.value = on
}

/** Registers keys while a view is shown. The newest view with a key wins. */
export function useKeys(keys: Keys): void {
  // Before the view is painted, so that whoever sees it can press its keys.
  useLayoutEffect(() => {
    registered.push(keys)
    return () => {
      registered.splice(registered.indexOf(keys), 1)
    }
  })
}

let before: { key: string; at: number } | null = null

/** Listens for keys, outside fields that take text. */
export function listenForKeys(): void {
  addEventListener('keydown', (event) => {
    if (!singleKeys.value || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key !== 'Escape' && takesText(event.target as Element)) return
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key
    const shifted = event.shiftKey && event.key.length === 1 ? `shift-${name}` : name
    const pair =
      before !== null && event.timeStamp - before.at < secondKeyMs ? `${before.key} ${name}` : ''
    before = { key: name, at: event.timeStamp }
    const act = find(pair) ?? find(shifted) ?? find(event.key)
    if (act === undefined) return
    event.preventDefault()
    before = null
    act()
  })
}

function find(key: string): (() => void) | undefined {
  return registered.findLast((keys) => Object.hasOwn(keys, key))?.[key]
}

function takesText(target: Element): boolean {
  return target.closest('input, textarea, select, [contenteditable]') !== null
}
