import { expect, test } from 'vitest'
import { reject, writeAnswer } from './answer.ts'

function rejections(count: number) {
  const noted = { count: 0, reasons: [] }
  for (let index = 0; index < count; index++) reject(noted, `r${index}`)
  return noted
}

test('the answer is empty if all spans were accepted', () => {
  expect(writeAnswer('protobuf', rejections(0))).toEqual(Buffer.alloc(0))
  expect(writeAnswer('json', rejections(0))).toEqual({})
})

test('the answer reports rejected spans, in both forms', () => {
  expect(writeAnswer('protobuf', rejections(2))).toEqual(Buffer.from('\x0a\x0a\x08\x02\x12\x06r0; r1', 'latin1'))
  expect(writeAnswer('json', rejections(2))).toEqual({
    partialSuccess: { rejectedSpans: '2', errorMessage: 'r0; r1' },
    partial_success: { rejected_spans: 2, error_message: 'r0; r1' },
  })
})

test('the answer has the first twenty reasons', () => {
  const reasons = Array.from({ length: 20 }, (_, index) => `r${index}`).join('; ')
  expect(writeAnswer('json', rejections(1_000))).toMatchObject({
    partial_success: { rejected_spans: 1_000, error_message: `${reasons}; ...` },
  })
})
