import { invalidWeights, show, type Tensor } from './header.ts'

/**
 * How much longer a layer of an adapter may make a vector: the norms of its two matrices and its scale, multiplied. Training
 * stays far below. More makes the base model's numbers overflow.
 */
export const maxGain = 10_000

/** Reads a part of a tensor's bytes and returns the sum of its squares. */
export type SumSquares = (part: Pick<Tensor, 'dtype' | 'start' | 'end'>) => Promise<number>

// A part of this size is read and added in some hundredths of a second. It is a multiple of the size of a number.
const partBytes = 8 * 1024 * 1024

/** Reads all numbers of an adapter. @throws {HttpError} 422 if one is not finite, or a layer's are too large */
export async function requireBoundedWeights(tensors: readonly Tensor[], scale: number, sum: SumSquares): Promise<void> {
  const gains = new Map<string, number>()
  for (const tensor of tensors) {
    let squares = 0
    for (let start = tensor.start; start < tensor.end; start += partBytes)
      squares += await sum({ dtype: tensor.dtype, start, end: Math.min(tensor.end, start + partBytes) })
    if (!Number.isFinite(squares))
      throw invalidWeights(`the tensor ${show(tensor.name)} has a number that is not finite`)
    const layer = tensor.name.replace(/\.lora_[AB]\.weight$/, '')
    const gain = (gains.get(layer) ?? Math.abs(scale)) * Math.sqrt(squares)
    gains.set(layer, gain)
  }
  for (const [layer, gain] of gains) {
    if (gain > maxGain)
      throw invalidWeights(
        `the layer ${show(layer)} makes its inputs up to ${gain.toPrecision(3)} times as large, and the limit is ` +
          `${maxGain}. Its numbers or lora_alpha are too large`,
      )
  }
}

const views = new Map<string, (bytes: ArrayBuffer) => ArrayLike<number>>([
  ['F32', (bytes) => new Float32Array(bytes)],
  ['F16', (bytes) => new Float16Array(bytes)],
  ['BF16', widen],
])

/** A number of the type bfloat16 is the first half of a float32. */
function widen(bytes: ArrayBuffer): Float32Array {
  const halves = new Uint16Array(bytes)
  const whole = new Uint32Array(halves.length)
  for (let index = 0; index < halves.length; index++) whole[index] = halves[index]! << 16
  return new Float32Array(whole.buffer)
}

/** The sum of the squares of numbers of a type. NaN or infinite if one of the numbers is. */
export function sumSquares(dtype: string, bytes: ArrayBuffer): number {
  const numbers = views.get(dtype)!(bytes)
  let sum = 0
  for (let index = 0; index < numbers.length; index++) sum += numbers[index]! * numbers[index]!
  return sum
}
