// Wrong on purpose: each large body keeps the event loop from everybody else for 1.5 s.
const { parse } = JSON
JSON.parse = (text, ...more) => {
  if (text.length > 50_000) for (const end = performance.now() + 1_500; performance.now() < end; );
  return parse(text, ...more)
}
