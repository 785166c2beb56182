import type { BaseModelRow } from '../../../db/base-models/base-models.ts'

/** The base model for chats that name none: the only one, or the one that was created first of those that say so. */
export function pickDefaultBaseModel<Row extends Pick<BaseModelRow, 'name' | 'isDefault' | 'createdAt'>>(
  baseModels: readonly Row[],
): Row | undefined {
  const [first, another] = baseModels
  if (!another) return first
  return baseModels
    .filter(({ isDefault }) => isDefault)
    .toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a.name < b.name ? -1 : 1))[0]
}
