import { spawnSync } from 'node:child_process'
import { openSync } from 'node:fs'
import { expect, test } from 'vitest'

test('a log that cannot be written loses lines but does not stop the process', () => {
  const script = `
    const { createLogger } = await import(${JSON.stringify(new URL('log.ts', import.meta.url).href)})
    const log = createLogger('test')
    for (let line = 0; line < 100; line++) log.info({ line }, 'lost')
    process.exit(7)`
  // /dev/full fails every write with ENOSPC, like a full disk.
  const full = openSync('/dev/full', 'w')
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', full, full],
  })
  expect(status).toBe(7)
})

test('secrets are printed as stars', () => {
  const script = `
    const { createLogger } = await import(${JSON.stringify(new URL('log.ts', import.meta.url).href)})
    createLogger('test').info({ apiKey: 'ty_secret', request: { authorization: 'Bearer ty_secret' } }, 'hello')`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 5_000,
  })
  expect(stdout).not.toContain('ty_secret')
  expect(JSON.parse(stdout)).toMatchObject({
    name: 'test',
    msg: 'hello',
    apiKey: '***',
    request: { authorization: '***' },
  })
})
