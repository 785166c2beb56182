import type { ProjectRow } from '../../../db/projects/projects.ts'

/** A project with whether it has traces: null if that is not known. */
export interface Project extends ProjectRow {
  hasTraces: boolean | null
}

interface Traced {
  name: string
  /** In ISO 8601. */
  createdAt: string
}

/**
 * Merges two lists that are ordered by name, as Postgres orders bytes, and takes the first of their names. Without
 * `traced`, it is not known what has traces.
 */
export function mergeProjects(
  trained: readonly ProjectRow[],
  traced: readonly Traced[] | undefined,
  limit: number,
): Project[] {
  const hasTraces = traced === undefined ? null : false
  const byName = new Map<string, Project>(trained.map((row) => [row.name, { ...row, hasTraces }]))
  for (const { name, createdAt: time } of traced ?? []) {
    const createdAt = new Date(time)
    const known = byName.get(name) ?? { name, createdAt, models: 0, runs: 0, dataSets: 0 }
    const first = createdAt < known.createdAt ? createdAt : known.createdAt
    byName.set(name, { ...known, createdAt: first, hasTraces: true })
  }
  return [...byName.values()]
    .toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
    .slice(0, limit)
}
