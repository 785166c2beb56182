/** An uploaded data set, as the API lists it. */
interface Uploaded {
  id: string
  name: string
  type: string
  created_at: string
  version_count: number
  versions: readonly { version: string; size: number; address: string; created_at: string }[]
}

/** The newest version of a data set of weave. */
interface Published {
  object_id: string
  digest: string
  version_index: number
  created_at: string
  size_bytes?: number | null | undefined
}

/** A data set of either kind. */
export interface DataSet {
  /** Its kind and its name: what an address says. */
  key: string
  name: string
  /** `weave`, or the type of what was uploaded. */
  kind: string
  versions: number
  newest: string
  bytes: number | undefined
  /** When its newest version was made. */
  changedAt: string
}

const weaveKind = 'weave'

export const keyOf = (kind: string, name: string) => `${kind === weaveKind ? weaveKind : 'upload'}/${name}`

/** Reads which data set an address names. */
export function readKey(key: string): { isOfWeave: boolean; name: string } {
  const [kind, ...name] = key.split('/')
  return { isOfWeave: kind === weaveKind, name: name.join('/') }
}

/** The data sets of a project in one list, those with the newest versions first. */
export function listDataSets(uploaded: readonly Uploaded[], published: readonly Published[]): DataSet[] {
  const uploads = uploaded.map(({ name, type, versions, version_count: count, created_at: createdAt }): DataSet => {
    const [newest] = versions
    return {
      key: keyOf(type, name),
      name,
      kind: type,
      versions: count,
      newest: newest?.version ?? '–',
      bytes: newest?.size,
      changedAt: newest?.created_at ?? createdAt,
    }
  })
  const objects = published.map(
    ({ object_id: name, version_index: index, created_at: changedAt, size_bytes }): DataSet => ({
      key: keyOf(weaveKind, name),
      name,
      kind: weaveKind,
      versions: index + 1,
      newest: `v${index}`,
      bytes: size_bytes ?? undefined,
      changedAt,
    }),
  )
  return [...uploads, ...objects].toSorted((a, b) => Date.parse(b.changedAt) - Date.parse(a.changedAt))
}
