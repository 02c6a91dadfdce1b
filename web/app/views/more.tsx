/** The view `more`. */
export default function View() {
  return null
}
