import { createHash } from 'node:crypto'

// The requirements of a machine, declared once. The preflight checks them before the first download. When an installer
// or a start fails later, it uses the same sentences. Like all files of this folder, this one has no dependencies and
// runs on any Node.

export const minNodeMajor = 20
export const architectures = ['x64', 'arm64']

/**
 * The disk space of a first run, in GiB. Measured on x64 without a GPU: npm packages 0.7; the environment of trainer
 * and engine 5.7; the control plane's programs 0.4; modules and compiled packages of Go 4.7; a new state folder 0.2.
 */
export const diskGib = { packages: 1, python: 7, controlPlane: 0.5, go: 5, state: 0.5 }

/** A stack with one engine and one trainer uses four of them. */
export const memoryGib = 6

/** On an idle stack, kube-apiserver and etcd have a hundred files open each. Each watch adds more. */
export const minOpenFiles = 1024

/**
 * The ports of a stack's pods, each at its own address: apiserver, operator, status server, engine, the engine's
 * metrics, the metrics of the first three.
 */
export const podPorts = [8080, 8081, 8082, 8000, 8001, 8083]
export const defaultPort = 8080

/**
 * The minor versions of Python 3 that the pinned packages support. The newest version that most machines have is first.
 */
const pythonMinors = [13, 12, 11]
export const pythonCommands = [...pythonMinors.map((minor) => `python3.${minor}`), 'python3', 'python']
// Debian has venv's ensurepip in a package of its own. Without it, no environment can be created.
export const pythonProbe = 'import ensurepip, platform, venv; print(platform.python_version())'

/**
 * Reads the output of the probe: the version of a usable Python, or the reason why it cannot be used. Other minor versions
 * than these serve no pinned packages.
 */
export function judgePython(command, { code, stdout, stderr }, minors = pythonMinors) {
  if (code !== 0) return /ensurepip|venv/.test(stderr) ? { error: `${command} lacks venv` } : {}
  const version = stdout.trim()
  const [major, minor] = version.split('.').map(Number)
  return major === 3 && minors.includes(minor) ? { version } : { error: `${command} is ${version}` }
}

export function describeMissingPython(errors) {
  const minors = pythonMinors.toReversed().map((minor) => `3.${minor}`)
  const list = `${minors.slice(0, -1).join(', ')} or ${minors.at(-1)}`
  return (
    `Trainyard needs Python ${list} with its venv module${errors.length ? ` (${errors.join('; ')})` : ''}. ` +
    'Install it, for example with `apt install python3 python3-venv`, then run this again.'
  )
}

/** The programs of the control plane, in the order of messages. */
export const programs = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl', 'helm']

/** The hosts of their official builds. */
export const releaseOrigins = {
  kubernetes: 'https://dl.k8s.io',
  etcd: 'https://github.com',
  helm: 'https://get.helm.sh',
}

/** The minor version of Go that local/go/go.mod requires. */
export const minGoMinor = 26
/** Since this minor version, Go downloads the release that a module requires. */
export const minGoMinorWithToolchains = 21
export const controlPlaneAdvice =
  `Install Go 1.${minGoMinor} or newer (https://go.dev/dl), or connect to the internet for the official builds, ` +
  'or set KUBEBUILDER_ASSETS to a folder that holds them.'

/** The name of the folder of programs that are built from these modules. */
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
