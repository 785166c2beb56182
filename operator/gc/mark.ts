import { listKnownUnits } from '../../db/gc/garbage.ts'
import type { KeyHolds } from '../../db/store/held-keys.ts'
import {
  referToBlobs,
  referToCalls,
  referToCheckpoints,
  referToPayloads,
  referToProgress,
  referToStatistics,
  referToTraceFiles,
  referToUploads,
  type UnitReference,
} from '../../db/store/references.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import type { Pool } from '../../db/pool.ts'
import { gatherUnits, type Unit } from './units.ts'

/** What marking needs: the store, and the databases whose rows refer to it. */
export interface MarkDeps {
  pool: Pool
  /** the database of traces */
  tracing: Pool
  artifacts: ArtifactStore
}

const unitsPerPortion = 500

// The database whose rows refer to a kind, and the query that finds them.
const kinds = {
  checkpoint: { schema: 'training', refer: referToCheckpoints },
  statistics: { schema: 'training', refer: referToStatistics },
  progress: { schema: 'training', refer: referToProgress },
  payload: { schema: 'training', refer: referToPayloads },
  blob: { schema: 'training', refer: referToBlobs },
  upload: { schema: 'training', refer: referToUploads },
  call: { schema: 'tracing', refer: referToCalls },
  traceFile: { schema: 'tracing', refer: referToTraceFiles },
} as const

/** A unit of the store and what the databases know about it. */
export interface MarkedUnit extends Unit {
  referenced: boolean
  /** The databases have never had a row for it, and no admin has released it as garbage. */
  unseen: boolean
  /** An admin keeps it. */
  kept: boolean
}

/** Marks each unit of the store: whether a row refers to it. Yields the units in portions. */
export async function* markStore(deps: MarkDeps): AsyncIterable<MarkedUnit[]> {
  for await (const units of gatherUnits(deps.artifacts.list(''), unitsPerPortion)) {
    const references = new Map((await findReferences(deps, units)).map((reference) => [reference.prefix, reference]))
    const prefixes = units.map(({ prefix }) => prefix)
    const known = new Map((await listKnownUnits(deps.pool, prefixes)).map(({ prefix, kept }) => [prefix, kept]))
    yield units.map((unit) => {
      const { referenced = true, unseen = false } = references.get(unit.prefix) ?? {}
      const kept = known.get(unit.prefix) ?? false
      return { ...unit, referenced, unseen: unseen && !known.has(unit.prefix), kept }
    })
  }
}

/** The database in which writers hold the keys of a kind. */
export function keyHoldsOf({ pool, tracing }: Pick<MarkDeps, 'pool' | 'tracing'>, kind: Unit['kind']): KeyHolds {
  const { schema } = kinds[kind]
  return { schema, pool: schema === 'tracing' ? tracing : pool }
}

/** Looks up which units rows refer to. */
export async function findReferences(
  deps: Pick<MarkDeps, 'pool' | 'tracing'>,
  units: Pick<Unit, 'kind' | 'prefix'>[],
): Promise<UnitReference[]> {
  const found = []
  for (const [kind, group] of Map.groupBy(units, (unit) => unit.kind)) {
    const prefixes = group.map(({ prefix }) => prefix)
    found.push(await kinds[kind].refer(keyHoldsOf(deps, kind).pool, prefixes))
  }
  return found.flat()
}
