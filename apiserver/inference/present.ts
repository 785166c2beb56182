import { servedName } from '../../crds/names.ts'
import type { BaseModelRow } from '../../db/base-models/base-models.ts'
import type { ModelRow } from '../../db/models/models.ts'

/** GET /v1/models: every name that a chat may use as its model, without steps. */
export function presentModelList(baseModels: BaseModelRow[], models: ModelRow[]) {
  return { object: 'list' as const, data: [...baseModels.flatMap(presentBaseModel), ...models.map(presentModel)] }
}

function presentBaseModel({ name, names, updatedAt }: BaseModelRow) {
  return names.map((id) => presentBaseModelAs(id, { name, updatedAt }))
}

function presentModel(model: ModelRow) {
  return presentModelAs(servedName(model), model)
}

/** A base model under one of its names. */
export function presentBaseModelAs(id: string, { name, updatedAt }: Pick<BaseModelRow, 'name' | 'updatedAt'>) {
  return presentItem(id, updatedAt, { owned_by: 'trainyard', root: name })
}

/** A model of an entity under a name that chats may use. */
export function presentModelAs(id: string, model: ModelRow) {
  return presentItem(id, model.createdAt, { owned_by: model.entity, root: model.baseModel })
}

export type ModelItem = ReturnType<typeof presentItem>

function presentItem(id: string, created: Date, owner: { owned_by: string; root: string }) {
  return { id, object: 'model' as const, created: Math.floor(created.getTime() / 1000), ...owner }
}
