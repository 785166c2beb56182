import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { configFile, extras, readAdapterConfig, type AdapterBounds } from './config.ts'
import { readAdapterHeader, readHeaderLength, readLayers, requireKnownLayers, type Tensor } from './header.ts'
import { requireBoundedWeights, sumSquares, type Part } from './weights.ts'

const bounds: AdapterBounds = { bases: ['Qwen/Qwen3-4B', 'small'], maxRank: 16, targets: undefined }
const plain = {
  peft_type: 'LORA',
  r: 8,
  lora_alpha: 16,
  target_modules: ['q_proj', 'v_proj'],
  base_model_name_or_path: 'Qwen/Qwen3-4B',
  bias: 'none',
  modules_to_save: null,
  rank_pattern: {},
  use_dora: false,
}
const readConfig = (change: object, allowed = bounds) =>
  readAdapterConfig(JSON.stringify({ ...plain, ...change }), allowed)
const readError = (work: () => unknown) => {
  try {
    work()
  } catch (error) {
    return (error as Error).message
  }
  return 'accepted'
}

test.each([
  [{}],
  [{ base_model_name_or_path: '/models/qwen3-4b/' }],
  [{ base_model_name_or_path: 'someone/small' }],
  [{ r: 16, lora_alpha: 0.5, bias: null }],
  [{ lora_dropout: 0.05, use_rslora: true }],
])('a plain LoRA of the base model is accepted: %j', (change) => {
  expect(readConfig(change).targets).toEqual(['q_proj', 'v_proj'])
})

test.each([
  [{ peft_type: 'LOHA' }, 'peft_type must be LORA'],
  [{ r: 17 }, 'r must be from 1 to 16'],
  [{ r: 0 }, 'r must be from 1'],
  [{ r: '8' }, 'r must be from 1'],
  [{ lora_alpha: null }, 'lora_alpha must be a number'],
  [{ target_modules: 'all-linear' }, 'target_modules must be a list'],
  [{ target_modules: [] }, 'target_modules must be a list'],
  [{ target_modules: [1] }, 'target_modules must be a list'],
  [{ base_model_name_or_path: 'Qwen/Qwen3-8B' }, '"Qwen/Qwen3-8B". The model is trained on Qwen/Qwen3-4B'],
  [{ base_model_name_or_path: null }, 'base_model_name_or_path is null'],
  [{ bias: 'all' }, 'bias must be none'],
  [{ use_dora: true }, 'use_dora is not supported'],
  [{ rank_pattern: { q_proj: 4 } }, 'rank_pattern is not supported'],
  [{ modules_to_save: ['lm_head'] }, 'modules_to_save is not supported'],
])('%j is rejected', (change, reason) => {
  expect(readError(() => readConfig(change))).toContain(`${configFile}: `)
  expect(readError(() => readConfig(change))).toContain(reason)
})

test('text that is no JSON object is rejected, and so are layers that the base model does not train', () => {
  expect(readError(() => readAdapterConfig('[]', bounds))).toContain('it is not a JSON object')
  expect(readError(() => readAdapterConfig('{', bounds))).toContain('it is not a JSON object')
  expect(readError(() => readConfig({}, { ...bounds, targets: ['q_proj'] }))).toContain('target_modules has "v_proj"')
  expect(readConfig({}, { ...bounds, targets: ['q_proj', 'k_proj', 'v_proj'] }).rank).toBe(8)
})

test('the trainer has the same list of settings that are more than plain LoRA', () => {
  const source = readFileSync('trainer/trainyard_trainer/compute/model/adapter_files.py', 'utf8')
  const list = /EXTRAS = \(([^)]*)\)/.exec(source)![1]!
  expect([...list.matchAll(/\w+/g)].map(([name]) => name)).toEqual(extras)
})

const config = { rank: 2, scale: 1, targets: ['q_proj'], base: 'small' }
const a = 'base_model.model.model.layers.0.q_proj.lora_A.weight'
const b = 'base_model.model.model.layers.0.q_proj.lora_B.weight'
const tensor = (shape: unknown, start: number, end: number, dtype = 'F32') => ({
  dtype,
  shape,
  data_offsets: [start, end],
})
const matrices = { [a]: tensor([2, 3], 0, 24), [b]: tensor([5, 2], 24, 64) }
const readHeader = (tensors: object, dataBytes = 64) => readAdapterHeader(JSON.stringify(tensors), config, dataBytes)

test('a header with two matrices for each layer is accepted, and gives their sizes', () => {
  const sizes = { 'model.layers.0.q_proj': { inputs: 3, outputs: 5 } }
  expect(readHeader({ __metadata__: { format: 'pt' }, ...matrices }).layers).toEqual(sizes)
  expect(readLayers(JSON.stringify({ ...matrices, other: tensor([1], 64, 68) }))).toEqual(sizes)
})

test.each<[string, object, string, number?]>([
  ['no tensors', { __metadata__: {} }, 'it has no tensors'],
  ['a list', [], 'not a JSON object'],
  ['only one matrix', { [a]: tensor([2, 3], 0, 24) }, 'only one of lora_A and lora_B', 24],
  ['another rank', { ...matrices, [a]: tensor([3, 2], 0, 24) }, 'no matrix of rank 2'],
  ['three dimensions', { ...matrices, [a]: tensor([2, 3, 1], 0, 24) }, 'no matrix of rank 2'],
  ['too few bytes for the shape', { ...matrices, [a]: tensor([2, 4], 0, 24) }, 'no matrix of rank 2'],
  ['a gap', { [a]: tensor([2, 3], 0, 24), [b]: tensor([5, 2], 28, 68) }, 'not where it should be', 68],
  ['an overlap', { [a]: tensor([2, 3], 0, 24), [b]: tensor([5, 2], 20, 60) }, 'not where it should be', 60],
  ['bytes at the end', matrices, 'its tensors have 64 bytes, and the file has 99', 99],
  ['a negative offset', { ...matrices, [a]: tensor([2, 3], -24, 0) }, 'no type, shape and offsets'],
  ['a shape of text', { ...matrices, [a]: tensor(['2', 3], 0, 24) }, 'no type, shape and offsets'],
  ['no object', { ...matrices, [a]: null }, 'no type, shape and offsets'],
  ['integers', { ...matrices, [a]: tensor([2, 12], 0, 24, 'I8') }, 'Supported are F32, F16 and BF16'],
  ['the base model', { ...matrices, 'model.embed.weight': tensor([0], 64, 64) }, 'belongs to no layer'],
  [
    'another layer',
    { [a.replace('q_', 'k_')]: tensor([2, 3], 0, 24), [b]: tensor([5, 2], 24, 64) },
    'belongs to no layer',
  ],
  [
    'a name of another layer',
    { ...matrices, [a.replace('.q_', '.xq_')]: tensor([2, 0], 64, 64) },
    'belongs to no layer',
  ],
])('a header with %s is rejected', (_, tensors, reason, dataBytes) => {
  expect(readError(() => readHeader(tensors, dataBytes))).toContain(reason)
})

test('a length that the file does not have is no header', () => {
  const start = (length: bigint) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(length)
    return bytes
  }
  expect(readHeaderLength(start(92n), 100)).toBe(92)
  for (const [bytes, size] of [
    [start(93n), 100],
    [start(2n ** 63n), 1e15],
    [start(0n), 100],
    [Buffer.from('PK'), 2],
    [start(17n * 1024n * 1024n), 1e12],
  ] as const) {
    expect(readError(() => readHeaderLength(bytes, size))).toContain('not in the format safetensors')
  }
})

test('a layer of another size than in the base model is rejected, and so is one that it does not have', () => {
  const layers = { 'layers.0.q_proj': { inputs: 3, outputs: 5 } }
  requireKnownLayers(layers, { 'layers.0.v_proj': { inputs: 9, outputs: 9 }, ...layers })
  const other = { 'layers.0.q_proj': { inputs: 3, outputs: 6 } }
  expect(readError(() => requireKnownLayers(layers, other))).toContain('In the base model it has 3 and 6')
  const others = { 'layers.0.v_proj': { inputs: 3, outputs: 5 } }
  expect(readError(() => requireKnownLayers(layers, others))).toContain('has no layer "layers.0.q_proj"')
})

test.each([
  [{}, 2],
  [{ r: 4, lora_alpha: -8 }, -2],
  [{ r: 4, lora_alpha: 8, use_rslora: true }, 4],
])('the scale of %j is %d', (change, scale) => {
  expect(readConfig(change).scale).toBe(scale)
})

const bytesOf = (values: Float32Array | Float16Array | Uint16Array) => values.buffer as ArrayBuffer

test.each([
  ['F32', bytesOf(new Float32Array([3, -4, 0.5])), 25.25],
  ['F16', bytesOf(new Float16Array([3, -4, 0.5])), 25.25],
  ['BF16', bytesOf(new Uint16Array([0x4040, 0xc080, 0x3f00])), 25.25],
  ['F32', bytesOf(new Float32Array([1, NaN])), NaN],
  ['F16', bytesOf(new Float16Array([1, Infinity])), Infinity],
  ['BF16', bytesOf(new Uint16Array([0x7f80])), Infinity],
  ['F32', bytesOf(new Float32Array([3e38])), Math.fround(3e38) ** 2],
])('the squares of numbers of the type %s are added', (dtype, bytes, sum) => {
  expect(sumSquares(dtype, bytes)).toEqual(sum)
})

describe('the numbers of an adapter', () => {
  const megabytes = 1024 * 1024
  const tensors: Tensor[] = [
    { name: a, dtype: 'F32', shape: [2, 3], start: 0, end: 24 },
    { name: b, dtype: 'F32', shape: [5, 2], start: 24, end: 20 * megabytes },
  ]
  let reads: number[] = []
  const check = async (scale: number, squares: (start: number) => number) => {
    const parts: [number, number][] = []
    reads = []
    const sum = async (read: readonly Part[]) => {
      reads.push(read.at(-1)!.end - read[0]!.start)
      for (const { start, end } of read) parts.push([start, end])
      return Promise.resolve(read.map(({ start }) => squares(start)))
    }
    await requireBoundedWeights(tensors, scale, sum)
    return parts
  }

  test('are read in parts that have them all once', async () => {
    const parts = await check(2, () => 1)
    expect(parts.map(([start]) => start)).toEqual([0, ...parts.slice(0, -1).map(([, end]) => end)])
    expect(parts.at(-1)![1]).toBe(20 * megabytes)
    expect(Math.max(...parts.map(([start, end]) => end - start))).toBe(8 * megabytes)
    expect([reads.length, Math.max(...reads)]).toEqual([4, 8 * megabytes])
  })

  test('are rejected if one is not finite, with its tensor', async () => {
    await expect(check(1, (start) => (start === 0 ? 1 : NaN))).rejects.toThrow(`"${b}" has a number that is not finite`)
  })

  test.each([
    ['large numbers', 1, 1e10],
    ['a large alpha', -1e30, 1],
  ])('are rejected for %s, with their layer', async (_, scale, squares) => {
    await expect(check(scale, () => squares)).rejects.toThrow(/layers\.0\.q_proj" makes its inputs up to \d/)
  })
})
