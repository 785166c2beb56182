import type { ThreadFunction } from '../../../../lib/worker-threads/program.ts'
import { sumSquares, type Part } from './weights.ts'

/** Parts of an adapter's weights that follow one another, and their bytes. */
export interface WeightsTask {
  parts: readonly Part[]
  bytes: ArrayBuffer
}

function sumParts({ parts, bytes }: WeightsTask): number[] {
  const first = parts[0]!.start
  return parts.map(({ dtype, start, end }) => sumSquares(dtype, bytes.slice(start - first, end - first)))
}

export default { run: sumParts } satisfies ThreadFunction<WeightsTask, number[]>
