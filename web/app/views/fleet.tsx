/** The view `fleet`. */
export default function View() {
  return null
}
