import { beforeAll, describe, expect, test } from 'vitest'
import { makeBaseImages } from '../support/images/base-images.ts'
import { buildTarget } from '../support/images/build-target.ts'
import { installBuildah, readImage, runInImage } from '../support/images/buildah.ts'

let tag: string
const maxBytes = 350e6

beforeAll(async () => {
  await installBuildah()
  await makeBaseImages()
  tag = await buildTarget('control')
})

test('its processes are those of an unprivileged user, and it is small', async () => {
  const { User, WorkingDir, sizeBytes } = await readImage(tag)
  console.log(`${tag}: ${Math.round(sizeBytes / 1e6)} MB`)
  expect({ User, WorkingDir }).toEqual({ User: '1000:1000', WorkingDir: '/app' })
  expect(sizeBytes).toBeLessThan(maxBytes)
})

describe('a process starts in it with a read-only root file system, and names the settings that it lacks', () => {
  test.each(['apiserver/main.ts', 'operator/main.ts', 'operator/status-server/main.ts', 'operator/uninstall/main.ts'])(
    '%s',
    async (main) => {
      const { code, tail } = await runInImage(tag, ['node', main])
      expect(tail).toMatch(/ConfigError: bad configuration: .*\w is not set/)
      expect(code).not.toBe(0)
    },
  )
})

test('it has the built console', async () => {
  const { stdout } = await runInImage(tag, ['sh', '-c', 'ls console/dist console/dist/assets'])
  expect(stdout).toMatch(/^index\.html$/m)
  expect(stdout).toMatch(/^index-[\w-]+\.js\.br$/m)
})

test('the commands of administrators describe themselves', async () => {
  const { code, stdout } = await runInImage(tag, ['node', 'apiserver/accounts/admin/main.ts', 'key', '--help'])
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('--role') })
})

test('it has no compiler, no npm, no tests of ours, no development packages and no package lists', async () => {
  const programs = 'for each in cc gcc g++ make python3 npm npx yarn corepack; do command -v $each; done'
  const packages = 'for each in vitest typescript oxlint; do ls -d /app/node_modules/$each; done'
  const tests = "find /app -name node_modules -prune -o -name '*.test.ts' -print"
  const lists = 'find /var/lib/apt/lists /var/cache/apt -type f -size +0'
  const { stdout } = await runInImage(tag, ['sh', '-c', [programs, packages, tests, lists].join('; ')])
  expect(stdout).toBe('')
})

test('nothing in it can be written but /tmp', async () => {
  const { stdout, tail } = await runInImage(tag, ['sh', '-c', 'id -u; touch /tmp/a && touch /app/a'])
  expect(stdout).toBe('1000\n')
  expect(tail).toContain("cannot touch '/app/a'")
})
