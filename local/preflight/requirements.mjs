import { createHash } from 'node:crypto'

// What a machine needs, declared once: the preflight looks at it before the first download, and what installs or starts
// something says the same sentence when it fails later. Without dependencies and for any Node, like all of this folder.

export const minNodeMajor = 20
export const architectures = ['x64', 'arm64']

/**
 * What a first run adds to the disk, in GiB. Measured on x64 without a GPU: npm packages 0.7; the environment of trainer
 * and engine 5.7; the control plane's programs 0.4; modules and compiled packages of Go 4.7; a new state folder 0.2.
 */
export const diskGib = { packages: 1, python: 7, controlPlane: 0.5, go: 5, state: 0.5 }

/** The stack with one engine and one trainer uses four of them. */
export const memoryGib = 6

/** kube-apiserver and etcd have a hundred files open each on an idle stack, and more with each watch. */
export const minOpenFiles = 1024

/** What the pods of a stack listen on, each at its own address: apiserver, operator, status server, engine, its metrics. */
export const podPorts = [8080, 8081, 8082, 8000, 8001]
export const defaultPort = 8080

/** The pinned packages support these minors of Python 3. The newest that most machines have comes first. */
const pythonMinors = [13, 12, 11]
export const pythonCommands = [...pythonMinors.map((minor) => `python3.${minor}`), 'python3', 'python']
// Debian splits venv's ensurepip into a package of its own: without it no environment can be made.
export const pythonProbe = 'import ensurepip, platform, venv; print(platform.python_version())'

/** Reads the output of the probe: the version of a supported Python, or why it is not supported. */
export function judgePython(command, { code, stdout, stderr }) {
  if (code !== 0) return /ensurepip|venv/.test(stderr) ? { error: `${command} lacks venv` } : {}
  const version = stdout.trim()
  const [major, minor] = version.split('.').map(Number)
  return major === 3 && pythonMinors.includes(minor) ? { version } : { error: `${command} is ${version}` }
}

export function describeMissingPython(errors) {
  const minors = pythonMinors.toReversed().map((minor) => `3.${minor}`)
  const list = `${minors.slice(0, -1).join(', ')} or ${minors.at(-1)}`
  return (
    `Trainyard needs Python ${list} with its venv module${errors.length ? ` (${errors.join('; ')})` : ''}. ` +
    'Install it, for example with `apt install python3 python3-venv`, then run this again.'
  )
}

/** The programs of the control plane, in the order in which people read them. */
export const programs = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl', 'helm']

/** Where their official builds are published. */
export const releaseOrigins = {
  kubernetes: 'https://dl.k8s.io',
  etcd: 'https://github.com',
  helm: 'https://get.helm.sh',
}

/** The minor of Go 1 that local/go/go.mod asks for. */
export const minGoMinor = 26
/** From this minor on Go gets itself the release that a module asks for. */
export const minGoMinorWithToolchains = 21
export const controlPlaneAdvice =
  `Install Go 1.${minGoMinor} or newer (https://go.dev/dl), or connect to the internet for the official builds, ` +
  'or set KUBEBUILDER_ASSETS to a folder that holds them.'

/** Names the folder of programs that were built from these modules. */
export function digestModules(goMod, goSum) {
  return createHash('sha256').update(goMod).update(goSum).digest('hex').slice(0, 12)
}

export function describeTakenPort(port, holder) {
  return (
    `Port ${port} is taken${holder ? ` by ${holder}` : ''}. End that program, or give another port: ` +
    `\`npm run up -- --port ${port + 1}\` or TRAINYARD_PORT=${port + 1}.`
  )
}

export function isServicePort(port) {
  return Number.isInteger(port) && port >= 1024 && port <= 65_535
}

export function describeBadPort(port) {
  return `${port} is no port for the service: give a number from 1024 to 65535.`
}

export function describeTakenPodPort(port, holder) {
  return (
    `${holder ?? 'A program'} listens on port ${port} of all addresses, so no pod can have it. ` +
    'End that program, or let it listen on one address (127.0.0.1) only.'
  )
}

export const noUnprivilegedUser = 'Postgres does not run as root, and there is no user `postgres` or `nobody` instead.'

export function describeUnreachable(file) {
  return (
    `Postgres does not run as root, and the user that it runs as instead cannot reach ${file}. ` +
    'Move the repository out of folders that only root may enter, or run this as an ordinary user.'
  )
}
