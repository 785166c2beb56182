import type { AliasRow } from '../../../db/models/aliases.ts'

export function presentAlias({ alias, step, updatedAt }: AliasRow) {
  return { alias, step, updated_at: updatedAt.toISOString() }
}

/** Presents all aliases of a model as a list of one page. */
export function presentAliasList(aliases: AliasRow[]) {
  return {
    object: 'list' as const,
    data: aliases.map(presentAlias),
    has_more: false,
    first_id: aliases[0]?.alias ?? '',
    last_id: aliases.at(-1)?.alias ?? '',
  }
}
