/** The view `escalations`. */
export default function View() {
  return null
}
