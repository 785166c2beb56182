import { isObject } from '../../../lib/json/is-object.ts'

type Fields = Record<string, unknown>

// The keys by which Kubernetes merges lists of a pod. Other lists are replaced.
const mergeKeys: Record<string, string> = {
  containers: 'name',
  initContainers: 'name',
  imagePullSecrets: 'name',
  hostAliases: 'ip',
  topologySpreadConstraints: 'topologyKey',
  ports: 'containerPort',
  volumeMounts: 'mountPath',
  volumes: 'name',
}
// The members of these items exclude each other, so an item of the same key is replaced.
const replacedItems = new Set(['volumes'])

/**
 * Merges `overlay` into a pod, as `kubectl patch --type strategic` does without directives: objects by member, lists
 * with a key by item, and everything else is replaced.
 */
export function mergeStrategic(base: Fields, overlay: Fields): Fields {
  const changed = Object.entries(overlay).map(([name, value]) => [name, mergeValue(name, base[name], value)])
  return { ...base, ...Object.fromEntries(changed) }
}

function mergeValue(name: string, base: unknown, overlay: unknown): unknown {
  if (isObject(base) && isObject(overlay)) return mergeStrategic(base, overlay)
  const key = mergeKeys[name]
  if (key === undefined || !Array.isArray(base) || !Array.isArray(overlay)) return overlay
  return mergeItems(base, overlay, { key, merge: replacedItems.has(name) ? takeOverlay : mergeItem })
}

interface ItemRules {
  key: string
  merge: (base: unknown, overlay: unknown) => unknown
}

const takeOverlay = (_base: unknown, overlay: unknown) => overlay
const mergeItem = (base: unknown, overlay: unknown) => mergeValue('', base, overlay)

/** Keeps the order of the items of `base`. New ones follow. */
function mergeItems(base: unknown[], overlay: unknown[], { key, merge }: ItemRules): unknown[] {
  const find = (items: unknown[], like: unknown) =>
    isObject(like) ? items.filter(isObject).find((item) => item[key] === like[key]) : undefined
  const changed = base.map((item) => {
    const change = find(overlay, item)
    return change === undefined ? item : merge(item, change)
  })
  return [...changed, ...overlay.filter((item) => find(base, item) === undefined)]
}
