import { expect, test } from 'vitest'
import { readCrashing } from './crashing-pods.ts'

test('only containers in a crash loop are reported', () => {
  const items = [
    { metadata: { name: 'new' } },
    {
      metadata: { name: 'works' },
      status: { containerStatuses: [{ name: 'apiserver', restartCount: 9, state: {} }] },
    },
    {
      metadata: { name: 'crashes' },
      status: {
        containerStatuses: [{ name: 'engine', restartCount: 3, state: { waiting: { reason: 'CrashLoopBackOff' } } }],
      },
    },
    {
      metadata: { name: 'unknown-image' },
      status: {
        containerStatuses: [{ name: 'shell', restartCount: 0, state: { waiting: { reason: 'ErrImagePull' } } }],
      },
    },
  ]
  expect(readCrashing({ items })).toEqual([{ pod: 'crashes', container: 'engine', restarts: 3 }])
})
