// Wrong on purpose: every 503 says that nothing was stored, whatever became of its commit.
const detail = 'The database cannot be reached or written right now. Nothing was stored; try again.'
const { stringify } = JSON
JSON.stringify = (value, ...more) =>
  stringify(value?.error === 'unavailable' ? { ...value, detail } : value, ...more)
