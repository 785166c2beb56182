import { expect, test } from 'vitest'
import { ClientWatch } from './client-watch.ts'

test.each(['leave', 'end'] as const)(
  'a callback is called once when a client is told to %s, and at once after that',
  (how) => {
    const watch = new ClientWatch()
    const calls: string[] = []
    watch.whenOver(() => calls.push('first'))
    expect([watch.hasLeft, watch.signal.aborted, calls]).toEqual([false, false, []])
    watch[how]()
    watch.leave()
    watch.whenOver(() => calls.push('late'))
    const hasLeft = how === 'leave'
    expect([watch.hasLeft, watch.signal.aborted, calls]).toEqual([hasLeft, hasLeft, ['first', 'late']])
  },
)
