const runFolder = '/run/trainyard'

/** What a process tells about itself. It ends with the pod. */
export const runVolume = { name: 'run', emptyDir: {} }
export const runMount = { name: 'run', mountPath: runFolder }

/** A trainer has this file while it can claim jobs. */
export const readyFile = `${runFolder}/ready`

/** Processes of several GPUs talk to each other in shared memory. A container has 64 MiB of it by default. */
export const sharedMemory = { name: 'shared-memory', emptyDir: { medium: 'Memory' } }
export const sharedMemoryMount = { name: 'shared-memory', mountPath: '/dev/shm' }
