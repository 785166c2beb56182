import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { configFile, extras, readAdapterConfig, type AdapterBounds } from './config.ts'
import { readAdapterHeader, readHeaderLength, readLayers, requireSameSizes } from './header.ts'

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

const config = { rank: 2, targets: ['q_proj'], base: 'small' }
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
  expect(readHeader({ __metadata__: { format: 'pt' }, ...matrices })).toEqual(sizes)
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
  ['a negative place', { ...matrices, [a]: tensor([2, 3], -24, 0) }, 'no type, shape and place'],
  ['a shape of text', { ...matrices, [a]: tensor(['2', 3], 0, 24) }, 'no type, shape and place'],
  ['no object', { ...matrices, [a]: null }, 'no type, shape and place'],
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

test('a layer of another size than in the base model is rejected', () => {
  const layers = { 'layers.0.q_proj': { inputs: 3, outputs: 5 } }
  requireSameSizes(layers, { 'layers.0.v_proj': { inputs: 9, outputs: 9 }, ...layers })
  const other = { 'layers.0.q_proj': { inputs: 3, outputs: 6 } }
  expect(readError(() => requireSameSizes(layers, other))).toContain('In the base model it has 3 and 6')
})
