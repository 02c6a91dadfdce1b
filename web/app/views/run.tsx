/** One run. */
export default function RunView() {
  return null
}
