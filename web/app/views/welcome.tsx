/** The view `welcome`. */
export default function View() {
  return null
}
