import {
  architectures,
  controlPlaneAdvice,
  describeBadPort,
  describeMissingPython,
  describeTakenPodPort,
  describeTakenPort,
  describeUnreachable,
  isServicePort,
  memoryGib,
  minGoMinor,
  minGoMinorWithToolchains,
  minOpenFiles,
  noUnprivilegedUser,
} from './requirements.mjs'

/** Lists what the machine lacks, one sentence for each lack. A fact that was not observed is ignored. */
export function listErrors(facts) {
  return [
    ...judgeSystem(facts),
    ...(facts.folders ?? []).flatMap(judgeFolder),
    ...judgeDisks(facts.disks ?? []),
    ...judgeMemory(facts),
    ...judgeOpenFiles(facts),
    ...judgePublicPort(facts.publicPort),
    ...judgePodPorts(facts.takenPodPorts ?? []),
    ...(facts.python && !facts.python.version ? [describeMissingPython(facts.python.errors)] : []),
    ...judgeControlPlane(facts.controlPlane),
    ...judgePostgresUser(facts.postgresUser),
  ]
}

function judgeSystem({ platform, arch, glibc }) {
  if (platform !== 'linux') return [`Trainyard's local stack runs on Linux; this is ${platform}. Use a Linux machine.`]
  if (!architectures.includes(arch)) {
    const list = architectures.join(' and ')
    return [`Trainyard's local stack runs on processors of the kinds ${list}; this is ${arch}. Use such a machine.`]
  }
  if (glibc) return []
  return [
    'This Linux has another C library than glibc, and the packages of Node, Postgres, torch and vLLM are built for that. ' +
      'Use a distribution with glibc, such as Debian, Ubuntu or Fedora.',
  ]
}

const folderErrors = {
  ENOSPC: (file) => `${file} cannot be made (ENOSPC): free some disk space, then try again.`,
  NOEXEC: (file, advice) => `Programs cannot be run from ${file}: its disk is mounted with noexec. ${advice}`,
  NOLINKS: (file, advice) => `The disk of ${file} has no symbolic links, which a Python environment needs. ${advice}`,
}

function judgeFolder({ error, variable }) {
  if (!error) return []
  const { path, code } = error
  const advice = variable
    ? `Set ${variable} to a folder that serves.`
    : 'Clone the repository to a folder of your own, or run this as its owner.'
  const describe =
    folderErrors[code] ?? (() => `${path} cannot be written to (${code}). Make it writable, or: ${advice}`)
  return [describe(path, advice)]
}

/** Adds up the needs on each disk. */
function judgeDisks(disks) {
  const devices = new Set(disks.map(({ device }) => device))
  return [...devices].flatMap((device) => judgeDisk(disks.filter((disk) => disk.device === device)))
}

function judgeDisk(uses) {
  const [{ folder, freeGib }] = uses
  const needed = uses.reduce((sum, { gib }) => sum + gib, 0)
  if (freeGib >= needed) return []
  const list = uses.map(({ what, gib, variable }) => `${what} ${gib}${variable ? ` (${variable})` : ''}`).join(', ')
  return [
    `The disk of ${folder} has ${freeGib.toFixed(1)} GiB free, and ${needed} GiB are needed: ${list}. Free some, ` +
      'or set the variables to folders on a larger disk.',
  ]
}

function judgeMemory({ availableGib }) {
  if (availableGib === undefined || availableGib >= memoryGib) return []
  return [
    `${availableGib.toFixed(1)} GiB of memory are free, and the stack needs ${memoryGib} GiB (vLLM takes most of it): ` +
      'end some programs, then try again.',
  ]
}

function judgeOpenFiles({ maxOpenFiles }) {
  if (maxOpenFiles === undefined || maxOpenFiles >= minOpenFiles) return []
  return [
    `A process may have ${maxOpenFiles} files open here, and the stack needs ${minOpenFiles}: ` +
      `raise the hard limit (\`ulimit -Hn\`; nofile in /etc/security/limits.conf).`,
  ]
}

function judgePublicPort(publicPort) {
  if (!publicPort) return []
  const { port, code, holder } = publicPort
  if (!isServicePort(port)) return [describeBadPort(port)]
  return code ? [describeTakenPort(port, holder)] : []
}

function judgePodPorts(taken) {
  return taken.filter(({ code }) => code === 'EADDRINUSE').map(({ port, holder }) => describeTakenPodPort(port, holder))
}

function judgeControlPlane(controlPlane) {
  if (!controlPlane || controlPlane.missing.length === 0) return []
  const { missing, go, unreachableOrigins } = controlPlane
  if (go && canBuild(go)) return []
  if (unreachableOrigins.length === 0) return []
  const cause = go
    ? `but this is ${go.version}, which may not get a newer release (GOTOOLCHAIN)`
    : 'which is not installed'
  const hosts = unreachableOrigins.map((origin) => new URL(origin).host).join(', ')
  return [
    `${missing.join(', ')} cannot be downloaded (no answer from ${hosts}) and must be built with Go, ${cause}. ` +
      controlPlaneAdvice,
  ]
}

/** An older Go downloads the right version itself, unless GOTOOLCHAIN is local. A development release counts as new. */
export function canBuild({ minor, toolchain }) {
  if (Number.isNaN(minor) || minor >= minGoMinor) return true
  return minor >= minGoMinorWithToolchains && toolchain !== 'local'
}

function judgePostgresUser(postgresUser) {
  if (!postgresUser) return []
  const { exists, unreachable } = postgresUser
  if (!exists) return [noUnprivilegedUser]
  return unreachable ? [describeUnreachable(unreachable)] : []
}
