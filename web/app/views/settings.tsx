/** The view `settings`. */
export default function View() {
  return null
}
