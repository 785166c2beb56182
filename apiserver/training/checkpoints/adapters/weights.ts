import { invalidWeights, show, type Tensor } from './header.ts'

/**
 * How much longer a layer of an adapter may make a vector: the norms of its two matrices and its scale, multiplied. Training
 * stays far below. More makes the base model's numbers overflow.
 */
export const maxGain = 10_000

/** A part of a tensor. */
export type Part = Pick<Tensor, 'name' | 'dtype' | 'start' | 'end'>

/** Reads parts that follow one another, and returns the sum of the squares of each. */
export type SumSquares = (parts: readonly Part[]) => Promise<number[]>

// So many bytes are read and added in some hundredths of a second. It is a multiple of the size of a number.
const bytesAtOnce = 8 * 1024 * 1024

/** Reads all numbers of an adapter. @throws {HttpError} 422 if one is not finite, or a layer's are too large */
export async function requireBoundedWeights(tensors: readonly Tensor[], scale: number, sum: SumSquares): Promise<void> {
  const squares = new Map<string, number>()
  for (const parts of listReads(tensors)) {
    const sums = await sum(parts)
    for (const [index, { name }] of parts.entries()) {
      const ofTensor = (squares.get(name) ?? 0) + sums[index]!
      if (!Number.isFinite(ofTensor)) throw invalidWeights(`the tensor ${show(name)} has a number that is not finite`)
      squares.set(name, ofTensor)
    }
  }
  const gains = new Map<string, number>()
  for (const [name, ofTensor] of squares) {
    const layer = name.replace(/\.lora_[AB]\.weight$/, '')
    gains.set(layer, (gains.get(layer) ?? Math.abs(scale)) * Math.sqrt(ofTensor))
  }
  for (const [layer, gain] of gains) {
    if (gain > maxGain)
      throw invalidWeights(
        `the layer ${show(layer)} makes its inputs up to ${gain.toPrecision(3)} times as large, and the limit is ` +
          `${maxGain}. Its numbers or lora_alpha are too large`,
      )
  }
}

/** Divides tensors, which fill the file, into reads: small ones share one, and large ones have several. */
function listReads(tensors: readonly Tensor[]): Part[][] {
  const reads: Part[][] = []
  let left = 0
  for (const { name, dtype, start: first, end: last } of tensors.toSorted((a, b) => a.start - b.start)) {
    for (let start = first; start < last; start += bytesAtOnce) {
      const end = Math.min(last, start + bytesAtOnce)
      if (end - start > left) {
        reads.push([])
        left = bytesAtOnce
      }
      reads.at(-1)!.push({ name, dtype, start, end })
      left -= end - start
    }
  }
  return reads
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
