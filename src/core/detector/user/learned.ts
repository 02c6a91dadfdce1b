import { bytesOfBase64 } from '../../base64.ts'
import { type UserEffect, userEffects } from './effects.ts'
import { userModel } from './model.ts'

let decoded: Int8Array | undefined

/**
 * The effect that features of a message speak for most: sums of whole numbers, so the same on every engine.
 * `model/user-turns` learns them.
 */
export function learnedEffect(features: readonly number[]): UserEffect {
  decoded ??= new Int8Array(bytesOfBase64(userModel.weights).buffer)
  const sums = [...userModel.bias]
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
