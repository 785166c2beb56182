import type { ThreadFunction } from '../../../../lib/worker-threads/program.ts'
import { sumSquares } from './weights.ts'

/** A part of an adapter's weights. */
export interface WeightsTask {
  dtype: string
  bytes: ArrayBuffer
}

export default { run: ({ dtype, bytes }) => sumSquares(dtype, bytes) } satisfies ThreadFunction<WeightsTask, number>
