// Wrong on purpose: whatever is waited for longer than a second is waited for ten times as long.
const { setTimeout } = globalThis
globalThis.setTimeout = (work, ms, ...args) => setTimeout(work, ms > 1_000 ? ms * 10 : ms, ...args)
