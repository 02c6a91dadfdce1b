import { bytesOfBase64 } from '../../base64.ts'
import { type UserEffect, userEffects } from './effects.ts'
import { userModel } from './model.ts'

let decoded: Int8Array | undefined

/**
 * The effect that features of a message speak for most, and what an encoder reads of it: the log-odds of each effect,
 * multiples of 1/64. `inDoubt` leans to adding, for messages that have a request in them, and a message in which the word
 * tables see no withdrawal replaces only if much speaks for it. The sums are exact, so the same on every engine.
 * `model/user-turns` learns the weights.
 */
export function learnedEffect(
  features: readonly number[],
  read: readonly number[] | undefined,
  { inDoubt, withdraws }: { inDoubt: boolean; withdraws: boolean },
): UserEffect {
  decoded ??= new Int8Array(bytesOfBase64(userModel.weights).buffer)
  const { bias, readBias, readWeight, doubt, unseen } = userModel
  const sums =
    read === undefined
      ? [...bias]
      : readBias.map((start, at) => start + readWeight * (read[at] ?? 0))
  if (inDoubt)
    for (let at = 0; at < sums.length; at++) sums[at] = (sums[at] as number) + (doubt[at] as number)
  const replaces = userEffects.indexOf('replaces')
  if (!withdraws) sums[replaces] = (sums[replaces] as number) + unseen
  for (const place of features) {
    for (let at = 0; at < sums.length; at++) {
      sums[at] = (sums[at] as number) + (decoded[place * sums.length + at] as number)
    }
  }
  let best = 0
  for (let at = 1; at < sums.length; at++)
    if ((sums[at] as number) > (sums[best] as number)) best = at
  return userEffects[best] as UserEffect
}
