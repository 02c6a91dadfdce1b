/** The view `alerts`. */
export default function View() {
  return null
}
