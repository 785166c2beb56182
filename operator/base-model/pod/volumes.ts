const runFolder = '/run/trainyard'

/** What a process tells about itself. It ends with the pod. */
const run = { name: 'run', path: runFolder }
const home = { name: 'home', path: '/home/trainyard' }
// Processes of several GPUs talk to each other in shared memory. A container has 64 MiB of it by default.
const sharedMemory = { name: 'shared-memory', path: '/dev/shm', medium: 'Memory' }

/**
 * The folders that engines and trainers may write to, besides the artifact store (or its cache) and the cache of base
 * models. The rest of their file system is read-only. docs/base-models.md has the same list.
 */
export const writableFolders: readonly { name: string; path: string; medium?: string }[] = [
  { name: 'tmp', path: '/tmp' },
  home,
  sharedMemory,
  run,
]

export const writableVolumes = writableFolders.map(({ name, medium }) => ({
  name,
  emptyDir: medium === undefined ? {} : { medium },
}))
export const writableMounts = writableFolders.map(({ name, path }) => ({ name, mountPath: path }))

/** Libraries keep settings and compiled code at home. The image's user may have another home, or none. */
export const homeEnv = { name: 'HOME', value: home.path }

/** A trainer has this file while it can claim jobs. */
export const readyFile = `${runFolder}/ready`
