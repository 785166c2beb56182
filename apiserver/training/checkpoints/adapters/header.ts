import { isObject } from '../../../../lib/json/is-object.ts'
import { parseText } from '../../../../lib/json/parse-text.ts'
import type { AdapterConfig } from './config.ts'
import { invalidAdapter } from './invalid.ts'

/** The layers of an adapter by their names: the number of inputs and outputs of each. */
export type AdapterLayers = Record<string, { inputs: number; outputs: number }>

export const weightsFile = 'adapter_model.safetensors'
/** The number of bytes before a header, which are its length. */
export const headerStart = 8
/** 30,000 layers have such a header. */
export const maxHeaderBytes = 16 * 1024 * 1024

const bytesOf: ReadonlyMap<string, number> = new Map([
  ['F32', 4],
  ['F16', 2],
  ['BF16', 2],
])
const namePattern = /^base_model\.model\.([\w.-]{1,500})\.lora_(A|B)\.weight$/

/** The length of the header that follows. @throws {HttpError} 422 */
export function readHeaderLength(start: Buffer, fileBytes: number): number {
  const length = start.length === headerStart ? start.readBigUInt64LE() : 0n
  if (length >= 2n && length <= BigInt(Math.min(maxHeaderBytes, fileBytes - headerStart))) return Number(length)
  throw invalidWeights('it is not in the format safetensors')
}

/**
 * Reads the header of an adapter's weights: two matrices of the configured rank for each layer, of numbers that are
 * allowed, which fill the file. @throws {HttpError} 422
 */
export function readAdapterHeader(header: string, config: AdapterConfig, dataBytes: number): AdapterHeader {
  const tensors = parse(header)
  if (tensors.length === 0) throw invalidWeights('it has no tensors')
  requireFilled(tensors, dataBytes)
  const layers = new Map<string, { inputs?: number; outputs?: number }>()
  for (const tensor of tensors) addMatrix(layers, tensor, config)
  return { layers: Object.fromEntries([...layers].map(([name, layer]) => [name, requireBoth(name, layer)])), tensors }
}

/** A matrix of the file. `start` and `end` count bytes behind the header. */
export interface Tensor {
  name: string
  dtype: string
  shape: number[]
  start: number
  end: number
}

export interface AdapterHeader {
  layers: AdapterLayers
  tensors: Tensor[]
}

function parse(header: string): Tensor[] {
  let members: unknown
  try {
    members = parseText(header)
  } catch {
    members = undefined
  }
  if (!isObject(members)) throw invalidWeights('its header is not a JSON object')
  return Object.entries(members).flatMap(([name, value]) => (name === '__metadata__' ? [] : [readTensor(name, value)]))
}

function readTensor(name: string, value: unknown): Tensor {
  const { dtype, shape, data_offsets: offsets } = isObject(value) ? value : {}
  if (typeof dtype !== 'string' || !isCounts(shape) || !isCounts(offsets) || offsets.length !== 2)
    throw invalidWeights(`the tensor ${show(name)} has no type, shape and offsets`)
  return { name, dtype, shape, start: offsets[0]!, end: offsets[1]! }
}

function isCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.length <= 8 && value.every((each) => Number.isSafeInteger(each) && each >= 0)
}

/** No byte of the file belongs to no tensor, or to two. */
function requireFilled(tensors: Tensor[], dataBytes: number): void {
  let filled = 0
  for (const { name, start, end } of tensors.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (start !== filled || end < start) throw invalidWeights(`the tensor ${show(name)} is not where it should be`)
    filled = end
  }
  if (filled !== dataBytes)
    throw invalidWeights(`its tensors have ${filled} bytes, and the file has ${dataBytes} for them`)
}

function addMatrix(
  layers: Map<string, { inputs?: number; outputs?: number }>,
  { name, dtype, shape, start, end }: Tensor,
  { rank, targets }: AdapterConfig,
): void {
  const [, layer, side] = namePattern.exec(name) ?? []
  if (!layer || !targets.some((target) => `.${layer}`.endsWith(`.${target}`)))
    throw invalidWeights(`the tensor ${show(name)} belongs to no layer of target_modules`)
  const size = bytesOf.get(dtype)
  const [rows = 0, columns = 0, ...others] = shape
  if (!size)
    throw invalidWeights(`the tensor ${show(name)} has the type ${show(dtype)}. Supported are F32, F16 and BF16`)
  const isMatrix = others.length === 0 && rows > 0 && columns > 0 && rows * columns * size === end - start
  if (!isMatrix || (side === 'A' ? rows : columns) !== rank)
    throw invalidWeights(`the tensor ${show(name)} is no matrix of rank ${rank}`)
  const known = layers.get(layer) ?? {}
  layers.set(layer, side === 'A' ? { ...known, inputs: columns } : { ...known, outputs: rows })
}

function requireBoth(name: string, { inputs, outputs }: { inputs?: number; outputs?: number }) {
  if (inputs !== undefined && outputs !== undefined) return { inputs, outputs }
  throw invalidWeights(`the layer ${show(name)} has only one of lora_A and lora_B`)
}

/** The layers of an adapter that training has made. Tensors that are no matrices of layers are left out. */
export function readLayers(header: string): AdapterLayers {
  const layers = new Map<string, { inputs?: number; outputs?: number }>()
  for (const { name, shape } of parse(header)) {
    const [, layer, side] = namePattern.exec(name) ?? []
    if (layer)
      layers.set(layer, { ...layers.get(layer), ...(side === 'A' ? { inputs: shape[1]! } : { outputs: shape[0]! }) })
  }
  const known = [...layers].filter(([, { inputs, outputs }]) => inputs !== undefined && outputs !== undefined)
  return Object.fromEntries(known) as AdapterLayers
}

/** @throws {HttpError} 422 if a layer is not one of the base model's, or has other sizes */
export function requireKnownLayers(layers: AdapterLayers, known: AdapterLayers): void {
  for (const [name, { inputs, outputs }] of Object.entries(layers)) {
    const other = Object.hasOwn(known, name) ? known[name] : undefined
    if (!other) throw invalidWeights(`the base model has no layer ${show(name)} that is trained`)
    if (other.inputs !== inputs || other.outputs !== outputs)
      throw invalidWeights(
        `the layer ${show(name)} has ${inputs} inputs and ${outputs} outputs. ` +
          `In the base model it has ${other.inputs} and ${other.outputs}`,
      )
  }
}

export function show(text: string): string {
  return JSON.stringify(text.slice(0, 200))
}

export function invalidWeights(reason: string) {
  return invalidAdapter(`${weightsFile}: ${reason}`)
}
