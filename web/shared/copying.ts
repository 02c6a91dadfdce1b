/** Shows the buttons that copy: the text that a button names, or the code that stands beside it. */
export function enableCopying(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('button.copy')) {
    const label = button.getAttribute('aria-label') ?? 'Copy'
    button.hidden = false
    button.addEventListener('click', async () => {
      const beside = button.parentElement?.querySelector('code')?.textContent ?? ''
      await copy(button.getAttribute('data-copy') ?? beside)
      button.classList.add('done')
      button.setAttribute('aria-label', 'Copied')
      setTimeout(() => {
        button.classList.remove('done')
        button.setAttribute('aria-label', label)
      }, 2_000)
    })
  }
}

/** The clipboard exists only on secure addresses; elsewhere a selected field is copied. */
export async function copy(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  document.body.append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
}
