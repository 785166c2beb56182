import { releaseOrigins } from '../preflight/requirements.mjs'
import type { Program, Versions } from './versions.ts'

/** Where a program's official build is published, with the file that holds its sha256. */
export interface Release {
  url: string
  checksumUrl: string
  /** The program's path inside the archive; absent when the file is the program itself. */
  member?: string
}

const architectures: Partial<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** The official release of a program for a Node architecture name; undefined where none is published. */
export function officialRelease(program: Program, versions: Versions, nodeArchitecture: string): Release | undefined {
  const arch = architectures[nodeArchitecture]
  if (!arch) return undefined
  if (program === 'etcd') return etcdRelease(versions.etcd, arch)
  if (program === 'helm') return helmRelease(versions.helm, arch)
  const url = `${releaseOrigins.kubernetes}/release/${versions.kubernetes}/bin/linux/${arch}/${program}`
  return { url, checksumUrl: `${url}.sha256` }
}

function etcdRelease(version: string, arch: string): Release {
  const folder = `${releaseOrigins.etcd}/etcd-io/etcd/releases/download/${version}`
  const name = `etcd-${version}-linux-${arch}`
  return { url: `${folder}/${name}.tar.gz`, checksumUrl: `${folder}/SHA256SUMS`, member: `${name}/etcd` }
}

function helmRelease(version: string, arch: string): Release {
  const url = `${releaseOrigins.helm}/helm-${version}-linux-${arch}.tar.gz`
  return { url, checksumUrl: `${url}.sha256sum`, member: `linux-${arch}/helm` }
}

/**
 * The sha256 of `fileName` from a checksum file: either the bare digest, or lines of `digest  name`.
 *
 * @throws when the file holds none
 */
export function findChecksum(text: string, fileName: string): string {
  for (const line of text.trim().split('\n')) {
    const [digest, name] = line.trim().split(/\s+\*?/)
    if (/^[0-9a-f]{64}$/.test(digest ?? '') && (!name || name === fileName)) return digest!
  }
  throw new Error(`no published sha256 for ${fileName}`)
}
