import { expect, test } from 'vitest'
import { shareFolders } from './configs.ts'
import { changeFlags } from './programs.ts'

test('every container sees the shared folders, read-only, and has the limits of the machine', () => {
  const proc = { destination: '/proc' }
  const spec = { ociVersion: '1', process: { cwd: '/', rlimits: [{ type: 'RLIMIT_NOFILE' }] }, mounts: [proc] }
  expect(shareFolders(spec, { '/opt/python/lib': '/cache/lib' })).toEqual({
    ociVersion: '1',
    process: { cwd: '/' },
    mounts: [
      proc,
      {
        destination: '/opt/python/lib',
        type: 'bind',
        source: '/cache/lib',
        options: ['rbind', 'ro', 'nosuid', 'nodev'],
      },
    ],
  })
})

test('flags are replaced, removed and added', () => {
  const args = ['--bind-address=127.0.0.1', '--bind-address-hard=false', '--endpoint-reconciler-type=none']
  const changes = { 'bind-address': '0.0.0.0', 'endpoint-reconciler-type': undefined, v: '2' }
  expect(changeFlags(args, changes)).toEqual(['--bind-address-hard=false', '--bind-address=0.0.0.0', '--v=2'])
})
