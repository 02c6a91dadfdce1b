/** What the small drawings beside words look like, on 16 by 16. */
export const shapes = {
  runs: 'M3 1v14M3 3h8M3 8h5M3 13h10',
  escalations: 'M8 1.5a3 3 0 1 1 0 6 3 3 0 0 1 0-6M2.5 15c0-3.5 2.5-5 5.5-5s5.5 1.5 5.5 5',
  alerts:
    'M8 1.5c-2.8 0-4.5 2-4.5 4.7 0 3-1.5 4-1.5 5.3h12c0-1.3-1.5-2.3-1.5-5.3C12.5 3.5 10.8 1.5 8 1.5M6.5 14h3',
  quality: 'M1 8h14M4 6v4M7 4.5v7M10 6.5v3M12.5 6v4',
  cost: 'M2 14.5h12M4 14V9M7 14V4M10 14V7M13 14v-3',
  fleet: 'M1.5 2.5h13M3.5 2.5v11M8 2.5v7M12.5 2.5v11',
  keys: 'M4.5 5.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5M7 8h8M12 8v3M14.5 8v2',
  settings:
    'M2 5h7M12 5h2M2 11h2M7 11h7M10.5 3.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3M5.5 9.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3',
  docs: 'M3.5 1.5h6l3 3v10h-9zM6 6.5h4M6 9h4M6 11.5h4',
  search: 'M7 2a5 5 0 1 1 0 10A5 5 0 0 1 7 2M11 11l3.5 3.5',
  copy: 'M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1',
  check: 'M2.5 8.5l3.5 4 7.5-9',
  back: 'M10 2.5L4.5 8l5.5 5.5',
} as const

/** The plumb line as a sign, on 16 by 24. */
export const logoPaths = { line: 'M8 0v10', bob: 'M4 10h8l-1.2 6L8 24l-2.8-8z' } as const

/** The plumb line as a sign. */
export function logo(): string {
  return `<svg class="logo" viewBox="0 0 16 24" width="14" height="21" aria-hidden="true" focusable="false"><path class="logo-line" d="${logoPaths.line}"/><path class="logo-bob" d="${logoPaths.bob}"/></svg>`
}

/** A small drawing beside a word. */
export function icon(name: keyof typeof shapes): string {
  return `<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false"><path d="${shapes[name]}"/></svg>`
}
