import { describe, expect, test } from 'vitest'
import type { Container } from '../objects.ts'
import { locateMounts, rewritePaths } from './mounts.ts'

const mounts = [
  { mountPath: '/data', realPath: '/real/d' },
  { mountPath: '/data/deep', realPath: '/real/deep' },
  { mountPath: '/var/run/secrets/token', realPath: '/real/t' },
]

describe('rewritePaths', () => {
  test.each([
    ['the mount itself', '/data', '/real/d'],
    ['a file in it', '/data/a/b.txt', '/real/d/a/b.txt'],
    ['the deeper mount wins', '/data/deep/x', '/real/deep/x'],
    ['after an equals sign', '--out=/data/x', '--out=/real/d/x'],
    ['an item of a list', '/bin:/data/bin:/data/deep', '/bin:/real/d/bin:/real/deep'],
    ['after an equals sign, a list', 'PATHS=/data:/bin', 'PATHS=/real/d:/bin'],
    ['another folder with the same start', '/database/x', '/database/x'],
    ['text in the middle of a script', 'cat /data/x', 'cat /data/x'],
    ['a URL with the path as its path', 'http://host/data/x', 'http://host/data/x'],
    ['an artifact address', 'artifact:///data/x', 'artifact:///data/x'],
    ['JSON', '{"path":"/data"}', '{"path":"/data"}'],
    ['a relative path', 'data/x', 'data/x'],
    ['nothing', '', ''],
  ])('%s', (_name, value, wanted) => {
    expect(rewritePaths(value, mounts)).toBe(wanted)
  })
})

describe('locateMounts', () => {
  const locate = (mount: object) => {
    const container = { name: 'a', volumeMounts: [{ name: 'v', mountPath: '/m/', ...mount }] } as Container
    return locateMounts(
      container,
      (name) => `/volumes/${name}`,
      (text) => text.replace('$(POD)', 'p1'),
    )
  }

  test.each([
    ['a whole volume', {}, '/volumes/v'],
    ['a part of a volume', { subPath: 'a/b' }, '/volumes/v/a/b'],
    ['a part by expression', { subPathExpr: '$(POD)/x' }, '/volumes/v/p1/x'],
  ])('%s', (_name, mount, realPath) => {
    expect(locate(mount)).toEqual([{ mountPath: '/m', realPath }])
  })

  test.each(['../other', '/etc', 'a/../../b'])('rejects a path outside of the volume: %s', (subPath) => {
    expect(() => locate({ subPath })).toThrow('leaves its volume')
  })
})
