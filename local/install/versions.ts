import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { digestModules, type programs } from '../preflight/requirements.mjs'

export type Program = (typeof programs)[number]

/** The versions that this repository pins, and a key that changes when one of their modules changes. */
export interface Versions {
  kubernetes: string
  etcd: string
  helm: string
  key: string
}

const modules = { kubernetes: 'k8s.io/kubernetes', etcd: 'go.etcd.io/etcd/server/v3', helm: 'helm.sh/helm/v4' }

/** Reads the pinned versions from `go.mod`. No other file names them. */
export async function readVersions(goFolder: string): Promise<Versions> {
  const [goMod, goSum] = await Promise.all(
    ['go.mod', 'go.sum'].map((name) => readFile(path.join(goFolder, name), 'utf8')),
  )
  return parseVersions(goMod!, goSum!)
}

export function parseVersions(goMod: string, goSum: string): Versions {
  const versionOf = (module: string) => {
    const line = goMod.split('\n').find((text) => text.trim().startsWith(`${module} v`))
    if (!line) throw new Error(`go.mod requires no ${module}`)
    return line.trim().split(/\s+/)[1]!
  }
  const kubernetes = versionOf(modules.kubernetes)
  return {
    kubernetes,
    etcd: versionOf(modules.etcd),
    helm: versionOf(modules.helm),
    key: `kubernetes-${kubernetes}-${digestModules(goMod, goSum)}`,
  }
}

/** The minor version of `v1.36.3` or `Kubernetes v1.36.3` is 36. Undefined if the text has no such version. */
export function minorOf(text: string): number | undefined {
  const match = /\bv1\.(\d+)\.\d+/.exec(text)
  return match ? Number(match[1]) : undefined
}
