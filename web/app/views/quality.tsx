/** The view `quality`. */
export default function View() {
  return null
}
