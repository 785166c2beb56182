import type { BaseModelRow } from '../../../db/base-models/base-models.ts'

/**
 * Returns the base model for chats without a model. If there is only one base model, it is that one. Otherwise it is
 * the oldest one that is marked as default.
 */
export function pickDefaultBaseModel<Row extends Pick<BaseModelRow, 'name' | 'isDefault' | 'createdAt'>>(
  baseModels: readonly Row[],
): Row | undefined {
  const [first, another] = baseModels
  if (!another) return first
  return baseModels
    .filter(({ isDefault }) => isDefault)
    .toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a.name < b.name ? -1 : 1))[0]
}
