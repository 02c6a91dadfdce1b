/** The view `keys`. */
export default function View() {
  return null
}
