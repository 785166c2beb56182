import { expect, test } from 'vitest'
import { listErrors, type Facts } from './errors.mjs'

const machine: Facts = { platform: 'linux', arch: 'x64', glibc: true }
const go = { version: 'go1.26.8', minor: 26, toolchain: 'auto', cache: '/home/user/.cache/go-build' }
const cache = { folder: '/cache', device: 1, freeGib: 10, variable: 'TRAINYARD_CACHE' }
const offline = { missing: ['etcd', 'helm'], unreachableOrigins: ['https://github.com', 'https://get.helm.sh'] }

const whole: Facts = {
  ...machine,
  folders: [{ variable: 'TRAINYARD_CACHE' }, {}],
  disks: [{ ...cache, what: 'Python environment', gib: 7 }],
  availableGib: 6,
  maxOpenFiles: 1024,
  publicPort: { port: 8080 },
  takenPodPorts: [],
  python: { version: '3.12.1', errors: [] },
  controlPlane: { missing: ['etcd'], go, unreachableOrigins: [] },
  postgresUser: { exists: true },
}

test('a machine with everything has no errors', () => {
  expect(listErrors(whole)).toEqual([])
  expect(listErrors(machine)).toEqual([])
})

const lacks: [string, Partial<Facts>, RegExp][] = [
  ['another system', { platform: 'darwin' }, /^Trainyard's local stack runs on Linux; this is darwin\. Use a Linux/],
  ['another processor', { arch: 'riscv64' }, /kinds x64 and arm64; this is riscv64/],
  ['musl', { glibc: false }, /another C library than glibc.*Use a distribution with glibc/],
  [
    'a read-only folder',
    { folders: [{ variable: 'TRAINYARD_STATE', error: { path: '/mnt', code: 'EROFS' } }] },
    /^\/mnt cannot be written to \(EROFS\)\. Make it writable, or: Set TRAINYARD_STATE to a folder that serves\.$/,
  ],
  [
    'a full disk',
    { folders: [{ variable: 'TRAINYARD_CACHE', error: { path: '/mnt/a', code: 'ENOSPC' } }] },
    /^\/mnt\/a cannot be made \(ENOSPC\): free some disk space/,
  ],
  [
    'a disk that runs no programs',
    { folders: [{ variable: 'TRAINYARD_CACHE', error: { path: '/mnt', code: 'NOEXEC' } }] },
    /^Programs cannot be run from \/mnt: its disk is mounted with noexec\. Set TRAINYARD_CACHE/,
  ],
  [
    'a disk without links',
    { folders: [{ variable: 'TRAINYARD_CACHE', error: { path: '/mnt', code: 'NOLINKS' } }] },
    /^The disk of \/mnt has no symbolic links/,
  ],
  [
    'a clone of somebody else',
    { folders: [{ error: { path: '/srv/trainyard', code: 'EACCES' } }] },
    /^\/srv\/trainyard cannot be written to \(EACCES\).*Clone the repository to a folder of your own/,
  ],
  ['little memory', { availableGib: 3.94 }, /^3\.9 GiB of memory are free, and the stack needs 6 GiB/],
  ['few open files', { maxOpenFiles: 512 }, /^A process may have 512 files open here, and the stack needs 1024/],
  [
    'a taken port',
    { publicPort: { port: 8080, code: 'EADDRINUSE', holder: 'nginx (process 7)' } },
    /^Port 8080 is taken by nginx \(process 7\)\. End that program.*TRAINYARD_PORT=8081\.$/,
  ],
  ['a port that is none', { publicPort: { port: 80 } }, /^80 is no port for the service/],
  [
    'a port that is taken at all addresses',
    { takenPodPorts: [{ port: 8000, code: 'EADDRINUSE', holder: 'uvicorn (process 8)' }] },
    /^uvicorn \(process 8\) listens on port 8000 of all addresses, so no pod can have it\./,
  ],
  [
    'no Python',
    { python: { errors: ['python3 is 3.14.1', 'python3.12 lacks venv'] } },
    /Python 3\.11, 3\.12 or 3\.13 with its venv module \(python3 is 3\.14\.1; python3\.12 lacks venv\)\. Install it/,
  ],
  [
    'neither Go nor the hosts of official builds',
    { controlPlane: offline },
    /^etcd, helm cannot be downloaded \(no answer from github\.com, get\.helm\.sh\) and must be built with Go, which is not/,
  ],
  [
    'a Go that may not get a newer one',
    { controlPlane: { ...offline, go: { ...go, version: 'go1.24.1', minor: 24, toolchain: 'local' } } },
    /this is go1\.24\.1, which may not get a newer release \(GOTOOLCHAIN\)\. Install Go 1\.26 or newer/,
  ],
  ['nobody', { postgresUser: { exists: false } }, /no user `postgres` or `nobody`/],
  [
    'a closed folder',
    { postgresUser: { exists: true, unreachable: '/home/user/x' } },
    /cannot reach \/home\/user\/x\. Move the/,
  ],
]

test.each(lacks)('the error for %s says what to do', (_, lack, sentence) => {
  const errors = listErrors({ ...whole, ...lack })
  expect(errors).toEqual([expect.stringMatching(sentence)])
})

test('space needed on the same disk is added up, separately for each disk', () => {
  const python = { ...cache, what: 'Python environment', gib: 7 }
  const state = { ...cache, what: 'data of the stack', gib: 4, variable: 'TRAINYARD_STATE', folder: '/state' }
  expect(listErrors({ ...machine, disks: [python, state] })).toEqual([
    'The disk of /cache has 10.0 GiB free, and 11 GiB are needed: Python environment 7 (TRAINYARD_CACHE), ' +
      'data of the stack 4 (TRAINYARD_STATE). Free some, or set the variables to folders on a larger disk.',
  ])
  expect(listErrors({ ...machine, disks: [python, { ...state, device: 2 }] })).toEqual([])
})

test.each([
  ['the programs exist', { missing: [], unreachableOrigins: [] }],
  ['the hosts answer', { missing: ['etcd'], unreachableOrigins: [] }],
  ['Go gets the release that it needs', { ...offline, go: { ...go, minor: 21 } }],
  ['Go is a development release', { ...offline, go: { ...go, minor: Number.NaN } }],
])('no control plane is missing if %s', (_, controlPlane) => {
  expect(listErrors({ ...machine, controlPlane })).toEqual([])
})
