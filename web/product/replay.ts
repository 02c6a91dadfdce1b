const stepMs = 650

/** Lets the recorded run happen again, a row at a time. Where motion is unwanted there is no button. */
export function startReplay(): void {
  const run = document.querySelector<HTMLElement>('#run')
  const button = document.querySelector<HTMLButtonElement>('#replay')
  if (run === null || button === null) return
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
  button.hidden = false
  const rows = [...run.querySelectorAll<HTMLElement>('.steps li')]
  let timer = 0

  function show(count: number): void {
    const box = run?.querySelector('.steps')?.getBoundingClientRect()
    const last = rows[count - 1]?.getBoundingClientRect()
    if (run === null || box === undefined || last === undefined) return
    for (const [at, row] of rows.entries()) row.classList.toggle('later', at >= count)
    for (const plot of run.querySelectorAll<SVGSVGElement>('.plumb')) {
      const height = plot.getBoundingClientRect()
      if (height.height === 0) continue
      const seen = last.top + last.height / 2 + 6 - height.top
      plot.style.clipPath = `inset(-4px -40px ${Math.max(0, height.height - seen)}px -20px)`
    }
  }

  function step(count: number): void {
    if (count > rows.length) {
      end()
      return
    }
    show(count)
    timer = window.setTimeout(() => step(count + 1), stepMs)
  }

  function end(): void {
    run?.classList.remove('replaying')
    for (const row of rows) row.classList.remove('later')
    for (const plot of run?.querySelectorAll<SVGSVGElement>('.plumb') ?? [])
      plot.style.clipPath = ''
    run?.classList.add('swinging')
    timer = window.setTimeout(() => run?.classList.remove('swinging'), 700)
  }

  button.addEventListener('click', () => {
    clearTimeout(timer)
    run.classList.remove('swinging')
    run.classList.add('replaying')
    step(1)
  })
}
