/** The view `cost`. */
export default function View() {
  return null
}
