/**
 * SQL: the step that `stepN` names. That is step N, unless a client has given the alias `stepN` to a checkpoint of its
 * own, which got another number because the model already had step N. `model` and `step` are SQL too.
 */
export function namedStep(model: string, step: string): string {
  return `coalesce((SELECT named.step FROM training.aliases named
    WHERE named.model_id = ${model} AND named.alias = 'step' || ${step}), ${step})`
}

/** SQL: whether an alias is such a moved `stepN`. It does not protect its checkpoint from deletion. */
export function isStepAlias(alias: string): string {
  return `${alias} ~ '^step\\d+$'`
}
