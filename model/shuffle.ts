/** Returns the items in a random order. Each order is equally likely. */
export function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  const order = [...items]
  for (let last = order.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    const held = order[last] as Item
    order[last] = order[other] as Item
    order[other] = held
  }
  return order
}
