/** The view `signin`. */
export default function View() {
  return null
}
