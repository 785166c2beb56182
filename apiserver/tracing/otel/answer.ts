import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import type { OtlpFormat } from './body.ts'

/** The rejected spans of a request, with the first reasons. */
export interface Rejections {
  count: number
  reasons: string[]
}

const maxReasons = 20

/** Records a rejected span. */
export function reject(rejections: Rejections, reason: string): void {
  rejections.count++
  if (rejections.reasons.length <= maxReasons) rejections.reasons.push(reason)
}

/** Writes an ExportTraceServiceResponse in the format of the request. It is empty if no span was rejected. */
export function writeAnswer(format: OtlpFormat, rejections: Rejections): Buffer | Record<string, unknown> {
  if (format === 'protobuf') return rejections.count === 0 ? Buffer.alloc(0) : encodeAnswer(rejections)
  if (rejections.count === 0) return {}
  const errorMessage = describe(rejections)
  return {
    // Exporters read OTLP's names, scripts read the names of this interface.
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
