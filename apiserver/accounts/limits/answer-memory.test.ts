import { expect, test } from 'vitest'
import { AnswerMemory, maxAnswerBytes } from './answer-memory.ts'
import { RequestMemory, type RequestReservation } from './request-memory.ts'

const mib = 1024 * 1024

function open() {
  let reserved = 0
  const held = { add: (bytes: number) => (reserved += bytes) } as unknown as RequestReservation
  return { answer: new AnswerMemory(() => held), reserved: () => reserved }
}

test('a small answer reserves nothing, and a large one three times what is in it', () => {
  const { answer, reserved } = open()
  answer.read(mib / 4)
  expect(reserved()).toBe(0)
  answer.read(mib / 4)
  expect(reserved()).toBe((3 * mib) / 4)
  answer.read(9.5 * mib)
  expect(reserved()).toBe(3 * 9.75 * mib)
})

test('what is read once counts once when it is written, and again with each repetition', () => {
  const { answer, reserved } = open()
  answer.read(10 * mib)
  answer.write(10 * mib)
  const once = reserved()
  answer.write(10 * mib)
  expect([once, reserved()]).toEqual([3 * 9.75 * mib, 3 * 19.75 * mib])
})

test.each(['read', 'write'] as const)('more than one answer may have is rejected: %s', (what) => {
  const { answer, reserved } = open()
  answer[what](maxAnswerBytes)
  const before = reserved()
  expect(() => answer[what](1)).toThrow('more than 67108864 bytes')
  expect(reserved()).toBe(before)
})

test('of several answers that grow at once, one has room', () => {
  const memory = new RequestMemory(100 * mib)
  const answers = Array.from({ length: 4 }, () => {
    const held = memory.reserve('team')
    return new AnswerMemory(() => held)
  })
  const failed = new Set<AnswerMemory>()
  for (let read = 0; read < 25; read++) {
    for (const answer of answers.filter((each) => !failed.has(each))) {
      try {
        answer.read(mib)
      } catch {
        failed.add(answer)
      }
    }
  }
  expect(failed.size).toBe(3)
})

test('nothing counts after its handler', () => {
  const { answer, reserved } = open()
  answer.close()
  answer.read(2 * maxAnswerBytes)
  expect(reserved()).toBe(0)
})
