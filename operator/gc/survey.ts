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
import type { Context } from '../context.ts'
import { gatherUnits, type Unit } from './units.ts'

type Deps = Pick<Context, 'pool' | 'tracing' | 'artifacts'>

const unitsAtOnce = 500

// Where the rows are that point at a kind, and how they do.
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

/** What lies in the store, with what the databases know of it. */
export interface SurveyedUnit extends Unit {
  referenced: boolean
  /** the databases have never heard of it, and nobody has said what it is */
  unseen: boolean
  /** somebody said that it is to stay */
  kept: boolean
}

/** Goes through the whole store, in portions. */
export async function* surveyStore(deps: Deps): AsyncIterable<SurveyedUnit[]> {
  for await (const units of gatherUnits(deps.artifacts.list(''), unitsAtOnce)) {
    const references = new Map((await refer(deps, units)).map((reference) => [reference.prefix, reference]))
    const prefixes = units.map(({ prefix }) => prefix)
    const judged = new Map((await listKnownUnits(deps.pool, prefixes)).map(({ prefix, kept }) => [prefix, kept]))
    yield units.map((unit) => {
      const { referenced = true, unseen = false } = references.get(unit.prefix) ?? {}
      const kept = judged.get(unit.prefix) ?? false
      return { ...unit, referenced, unseen: unseen && !judged.has(unit.prefix), kept }
    })
  }
}

/** Where writers hold the keys of a kind. */
export function holdsOf({ pool, tracing }: Pick<Deps, 'pool' | 'tracing'>, kind: Unit['kind']): KeyHolds {
  const { schema } = kinds[kind]
  return { schema, pool: schema === 'tracing' ? tracing : pool }
}

/** Looks up which units rows point at. */
export async function refer(
  deps: Pick<Deps, 'pool' | 'tracing'>,
  units: Pick<Unit, 'kind' | 'prefix'>[],
): Promise<UnitReference[]> {
  const found = []
  for (const [kind, group] of Map.groupBy(units, (unit) => unit.kind)) {
    const prefixes = group.map(({ prefix }) => prefix)
    found.push(await kinds[kind].refer(holdsOf(deps, kind).pool, prefixes))
  }
  return found.flat()
}
