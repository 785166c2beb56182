import { expect, test } from 'vitest'
import { unprivilegedUser } from './unprivileged-user.mjs'

const nobody = 'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n'

test('the user postgres is preferred to the user nobody', () => {
  const passwd = `root:x:0:0:root:/root:/bin/bash\n${nobody}postgres:x:105:110::/var/lib/postgresql:/bin/bash\n`
  expect(unprivilegedUser(passwd)).toEqual({ uid: 105, gid: 110 })
})

test('the user nobody is used if there is no postgres', () => {
  expect(unprivilegedUser(nobody)).toEqual({ uid: 65_534, gid: 65_534 })
  expect(unprivilegedUser('root:x:0:0::/root:/bin/sh\n')).toBeUndefined()
})
