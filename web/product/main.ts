import { showAppearance } from '../shared/appearance.ts'
import { enableCopying } from '../shared/copying.ts'
import { startReplay } from './replay.ts'
import { startTabs } from './tabs.ts'
import { startTryIt } from './try-it.ts'

showAppearance()
for (const code of document.querySelectorAll('.panel code')) putAddress(code)
enableCopying()
startTabs()
startReplay()
startTryIt()

/** The commands name the server that this page came from. */
function putAddress(inside: Element): void {
  const texts = document.createTreeWalker(inside, NodeFilter.SHOW_TEXT)
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    text.nodeValue = (text.nodeValue ?? '').replaceAll('http://127.0.0.1:8787', location.origin)
  }
}
