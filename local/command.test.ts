import { expect, test } from 'vitest'
import { describeError } from './command.ts'
import { UserError } from './user-error.ts'

test.each([
  ['a UserError is printed as its sentence', new UserError('Port 8080 is taken.'), /^Port 8080 is taken\.$/],
  [
    'a full disk names the file',
    Object.assign(new Error('write'), { code: 'ENOSPC', path: '/cache/etcd' }),
    /^\/cache\/etcd \(ENOSPC\)\. The disk is full/,
  ],
  ['any other error shows its stack', new Error('odd'), /command\.test/],
])('%s', (_, error, sentence) => {
  expect(describeError(error)).toMatch(sentence)
})
