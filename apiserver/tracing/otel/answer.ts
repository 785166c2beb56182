import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import type { OtlpFormat } from './body.ts'

/** The spans of a request that were not taken, with the reasons of the first. */
export interface Rejections {
  count: number
  reasons: string[]
}

const maxReasons = 20

/** Notes down a span that was not taken. */
export function reject(rejections: Rejections, reason: string): void {
  rejections.count++
  if (rejections.reasons.length <= maxReasons) rejections.reasons.push(reason)
}

/** An ExportTraceServiceResponse in the form of its request: it is empty when every span was taken. */
export function writeAnswer(format: OtlpFormat, rejections: Rejections): Buffer | Record<string, unknown> {
  if (format === 'protobuf') return rejections.count === 0 ? Buffer.alloc(0) : encodeAnswer(rejections)
  if (rejections.count === 0) return {}
  const errorMessage = describe(rejections)
  return {
    // Exporters read OTLP's names, scripts those of the interface.
    partialSuccess: { rejectedSpans: String(rejections.count), errorMessage },
    partial_success: { rejected_spans: rejections.count, error_message: errorMessage },
  }
}

function encodeAnswer(rejections: Rejections): Buffer {
  const writer = new BinaryWriter()
  writer.tag(1, WireType.LengthDelimited).fork()
  writer.tag(1, WireType.Varint).int64(rejections.count)
  writer.tag(2, WireType.LengthDelimited).string(describe(rejections))
  return Buffer.from(writer.join().finish())
}

function describe({ reasons }: Rejections): string {
  return reasons.slice(0, maxReasons).join('; ') + (reasons.length > maxReasons ? '; ...' : '')
}
