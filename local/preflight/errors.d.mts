/** Why a folder cannot be used: the path that failed, and the system's code. */
export interface FolderError {
  path: string
  code: string
}

/** The installed Go; `minor` is NaN for a development release. */
export interface Go {
  version: string
  minor: number
  toolchain: string
  cache: string
}

/** What was observed of a machine. What is absent was not looked at. */
export interface Facts {
  platform: string
  arch: string
  glibc: boolean
  folders?: { variable?: string; error?: FolderError }[]
  /** What will be written, and the disk that it goes to. */
  disks?: { what: string; gib: number; folder: string; device: number; freeGib: number; variable?: string }[]
  availableGib?: number
  maxOpenFiles?: number
  publicPort?: { port: number; code?: string; holder?: string }
  takenPodPorts?: { port: number; code: string; holder?: string }[]
  python?: { version?: string; errors: string[] }
  controlPlane?: { missing: string[]; go?: Go; unreachableOrigins: string[] }
  postgresUser?: { exists: boolean; unreachable?: string }
}

/** What a machine lacks, a sentence each. A fact that was not observed is not judged. */
export function listErrors(facts: Facts): string[]
