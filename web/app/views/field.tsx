/** The view `field`. */
export default function View() {
  return null
}
