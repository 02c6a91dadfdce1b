import type { Detector, DetectorName } from './contract/detector.ts'
import { meaning } from './meaning/meaning.ts'
import { overlap } from './overlap.ts'

/** Every detector a caller can choose. A new one is its file, its name in the contract, and its line here. */
export const detectors = { meaning, overlap } as const satisfies Record<DetectorName, Detector>
