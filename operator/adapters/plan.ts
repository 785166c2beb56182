import type { PodAdapter } from '../../db/engines/loaded-adapters.ts'
import type { WantedAdapters } from '../../db/engines/wanted-adapters.ts'

/** What a pod has said about adapters, and what it should have. */
export interface PodFacts {
  adapters: PodAdapter[]
  wanted: WantedAdapters
  /** How many adapters an engine keeps in memory. */
  maxAdapters: number
}

export interface AdapterPlan {
  unload: string[]
  load: string[]
}

// Uses are recorded once a minute. Conversations move to the newest step in this time.
const idleSeconds = 120
// An admin who has changed something waits for this long.
const retrySeconds = 60
// Each of them may keep an engine busy.
const maxRetries = 4

/**
 * Plans what an engine unloads and loads. An old step goes when its successor is loaded and nobody asks for it any
 * more. Kept steps are always loaded; others only into free memory, so that adapters in use do not displace each other.
 */
export function planAdapters({ adapters, wanted, maxAdapters }: PodFacts): AdapterPlan {
  const loaded = adapters.filter(({ error }) => error === null)
  const unload = loaded.filter((adapter) => isReplaced(adapter, loaded)).map(({ id }) => id)
  const refused = adapters.filter(({ error }) => error !== null)
  const known = new Set(adapters.map(({ id }) => id))
  const isMissing = (id: string) => !known.has(id)
  const kept = wanted.kept.filter(isMissing)
  const free = Math.max(0, maxAdapters - (loaded.length - unload.length) - kept.length)
  const inUse = wanted.inUse.filter(isMissing).slice(0, free)
  return { unload, load: [...kept, ...inUse, ...pickRetries(refused)] }
}

function isReplaced({ modelId, isNewest, unusedSeconds }: PodAdapter, loaded: PodAdapter[]): boolean {
  if (isNewest || (unusedSeconds !== null && unusedSeconds < idleSeconds)) return false
  return loaded.some((other) => other.isNewest && other.modelId === modelId)
}

/** Tries newest steps again that the engine could not load, those first that have waited for longest. */
function pickRetries(refused: PodAdapter[]): string[] {
  const due = refused.filter(({ isNewest, ageSeconds }) => isNewest && ageSeconds >= retrySeconds)
  return due
    .toSorted((a, b) => b.ageSeconds - a.ageSeconds)
    .slice(0, maxRetries)
    .map(({ id }) => id)
}
