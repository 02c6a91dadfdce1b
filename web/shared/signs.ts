/** The plumb line as a sign. */
export function logo(): string {
  return '<svg class="logo" viewBox="0 0 16 24" width="14" height="21" aria-hidden="true" focusable="false"><path class="logo-line" d="M8 0v10"/><path class="logo-bob" d="M4 10h8l-1.2 6L8 24l-2.8-8z"/></svg>'
}

/** Two sheets: copy. */
export function copyIcon(): string {
  return icon('M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1')
}

/** A glass: search. */
export function searchIcon(): string {
  return icon('M7 2a5 5 0 1 1 0 10A5 5 0 0 1 7 2M11 11l3.5 3.5')
}

function icon(d: string): string {
  return `<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false"><path d="${d}"/></svg>`
}
